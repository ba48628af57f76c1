#pragma once

#include <concepts>
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

template <std::same_as<CmaMemory> T>
constexpr auto Describe(const T*) {
  return MakeDescription("cma", "The kernel's contiguous memory.",
                         Field{"total_kib", &T::total_kib, "CmaTotal, in KiB."},
                         Field{"free_kib", &T::free_kib, "CmaFree, in KiB."});
}

struct FirewallChain {
  std::string family;
  std::string table;
  std::string name;
  std::string policy;
  auto operator<=>(const FirewallChain&) const = default;
};

// Whether it drops what comes in by IPv4, but for what its rules allow.
inline bool DropsIpv4(const FirewallChain& chain) {
  return chain.policy == "drop" && (chain.family == "ip" || chain.family == "inet");
}

template <std::same_as<FirewallChain> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "firewall_chain", "A chain of nftables that packets to the node meet.",
      Field{"family", &T::family, "inet, ip, ip6 …"}, Field{"table", &T::table, "Its table."},
      Field{"name", &T::name, "Its name."}, Field{"policy", &T::policy, "accept or drop."});
}

struct RdmaUser {
  std::string hca;
  std::string netdev;
  std::string program;
  std::int64_t pid = 0;
  auto operator<=>(const RdmaUser&) const = default;
};

template <std::same_as<RdmaUser> T>
constexpr auto Describe(const T*) {
  return MakeDescription("rdma_user", "A program that holds a queue pair.",
                         Field{"hca", &T::hca, "The RDMA device."},
                         Field{"netdev", &T::netdev, "Its interface; empty: not reported."},
                         Field{"program", &T::program, "The program's name; empty: not reported."},
                         Field{"pid", &T::pid, "The program's process; 0: not reported."});
}

struct RdmaFacts {
  Fact<int> hcas;
  Fact<int> verbs;
  Fact<CmaMemory> cma;
  Fact<std::vector<std::string>> modules;
  Fact<std::string> ofed;
  Fact<bool> ufw;
  Fact<std::vector<FirewallChain>> firewall;
  Fact<std::vector<RdmaUser>> users;
  bool operator==(const RdmaFacts&) const = default;
};

template <std::same_as<RdmaFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "rdma", "What is read about RDMA besides `hcas`.",
      Field{"hcas", &T::hcas, "How many RDMA devices sysfs shows."},
      Field{"verbs", &T::verbs, "How many of them verbs know; only spark-verify reads them."},
      Field{"cma", &T::cma, "Contiguous memory; absent: this kernel has none."},
      Field{"modules", &T::modules, "Loaded modules that RDMA and NCCL need, sorted."},
      Field{"ofed", &T::ofed,
            "Version of an mlx5 driver that is not the kernel's own; absent: it is."},
      Field{"ufw", &T::ufw, "Whether ufw is enabled; absent: it is not installed."},
      Field{"firewall", &T::firewall, "Chains that incoming packets meet, sorted; absent: none."},
      Field{"users", &T::users,
            "Programs that use RDMA, sorted; absent: none, or no RDMA device."});
}

}  // namespace reconciler
