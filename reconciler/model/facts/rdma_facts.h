#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

// Of /proc/meminfo, whose kB are 1024 bytes.
struct CmaMemory {
  std::int64_t total_kib = 0;
  std::int64_t free_kib = 0;
  bool operator==(const CmaMemory&) const = default;
};

constexpr auto Describe(const CmaMemory*) {
  return MakeDescription("cma", "The kernel's contiguous memory.",
                         Field{"total_kib", &CmaMemory::total_kib, "CmaTotal, in KiB."},
                         Field{"free_kib", &CmaMemory::free_kib, "CmaFree, in KiB."});
}

struct FirewallChain {
  std::string family = {};
  std::string table = {};
  std::string name = {};
  std::string policy = {};
  auto operator<=>(const FirewallChain&) const = default;
};

constexpr auto Describe(const FirewallChain*) {
  return MakeDescription("firewall_chain", "A chain of nftables that packets to the node meet.",
                         Field{"family", &FirewallChain::family, "inet, ip, ip6 …"},
                         Field{"table", &FirewallChain::table, "Its table."},
                         Field{"name", &FirewallChain::name, "Its name."},
                         Field{"policy", &FirewallChain::policy, "accept or drop."});
}

struct RdmaUser {
  std::string hca = {};
  std::string netdev = {};
  std::string program = {};
  std::int64_t pid = 0;
  auto operator<=>(const RdmaUser&) const = default;
};

constexpr auto Describe(const RdmaUser*) {
  return MakeDescription(
      "rdma_user", "A program that holds a queue pair.",
      Field{"hca", &RdmaUser::hca, "The RDMA device."},
      Field{"netdev", &RdmaUser::netdev, "Its interface; empty: not reported."},
      Field{"program", &RdmaUser::program, "The program's name; empty: not reported."},
      Field{"pid", &RdmaUser::pid, "The program's process; 0: not reported."});
}

struct RdmaFacts {
  Fact<int> hcas = {};
  Fact<int> verbs = {};
  Fact<CmaMemory> cma = {};
  Fact<std::vector<std::string>> modules = {};
  Fact<std::string> ofed = {};
  Fact<bool> ufw = {};
  Fact<std::vector<FirewallChain>> firewall = {};
  Fact<std::vector<RdmaUser>> users = {};
  bool operator==(const RdmaFacts&) const = default;
};

constexpr auto Describe(const RdmaFacts*) {
  return MakeDescription(
      "rdma", "What is read about RDMA besides `hcas`.",
      Field{"hcas", &RdmaFacts::hcas, "How many RDMA devices sysfs shows."},
      Field{"verbs", &RdmaFacts::verbs,
            "How many of them verbs know; only spark-verify reads them."},
      Field{"cma", &RdmaFacts::cma, "Contiguous memory; absent: this kernel has none."},
      Field{"modules", &RdmaFacts::modules, "Loaded modules that RDMA and NCCL need, sorted."},
      Field{"ofed", &RdmaFacts::ofed,
            "Version of an mlx5 driver that is not the kernel's own; absent: it is."},
      Field{"ufw", &RdmaFacts::ufw, "Whether ufw is enabled; absent: it is not installed."},
      Field{"firewall", &RdmaFacts::firewall,
            "Chains that incoming packets meet, sorted; absent: none."},
      Field{"users", &RdmaFacts::users,
            "Programs that use RDMA, sorted; absent: none, or no RDMA device."});
}

}  // namespace reconciler
