#pragma once

#include <array>
#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/base/ipv4.h"
#include "reconciler/base/observed.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts/apply_facts.h"
#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"
#include "reconciler/model/facts/gpu_facts.h"
#include "reconciler/model/facts/health_facts.h"
#include "reconciler/model/facts/memlock_facts.h"
#include "reconciler/model/facts/nccl_facts.h"
#include "reconciler/model/facts/network_facts.h"
#include "reconciler/model/facts/package_facts.h"
#include "reconciler/model/facts/qos_facts.h"
#include "reconciler/model/facts/rdma_facts.h"
#include "reconciler/model/facts/session_facts.h"
#include "reconciler/model/facts/ssh_facts.h"
#include "reconciler/model/facts/storage_facts.h"
#include "reconciler/model/facts/sysctl_facts.h"
#include "reconciler/model/facts/unit_facts.h"
#include "reconciler/model/file_state.h"
#include "reconciler/model/hca.h"
#include "reconciler/model/ledger.h"

namespace reconciler {

struct HostFact {
  std::string hostname;
  std::string machine_id;
  std::string boot_id;
  std::string kernel;   // uname -r
  std::string arch;     // uname -m: aarch64 on a Spark
  std::string os;       // PRETTY_NAME of os-release
  std::string product;  // DMI product name; empty where there is none
  std::string vendor;   // DMI system vendor; likewise
  std::string bios;     // DMI BIOS version; likewise
  bool operator==(const HostFact&) const = default;
};

template <std::same_as<HostFact> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "host", "What machine this is.",
      Field{"hostname", &T::hostname, "The node's own name for itself."},
      Field{"machine_id", &T::machine_id, "/etc/machine-id."},
      Field{"boot_id", &T::boot_id, "Changes at every boot."},
      Field{"kernel", &T::kernel, "Kernel release, as uname -r prints it."},
      Field{"arch", &T::arch, "Machine, as uname -m prints it: aarch64 on a Spark."},
      Field{"os", &T::os, "PRETTY_NAME of os-release."},
      Field{"product", &T::product, "DMI product name; empty where there is none."},
      Field{"vendor", &T::vendor, "DMI system vendor.", FieldRule::kLeftOut},
      Field{"bios", &T::bios, "DMI BIOS version.", FieldRule::kLeftOut});
}

// Who configures an interface right now.
enum class LinkManager { kNone, kNetworkd, kNetworkManager };
constexpr std::array<std::string_view, 3> ListEnumNames(const LinkManager*) {
  return {"none", "networkd", "NetworkManager"};
}

struct LinkFact {
  std::string mac;            // of a bond's member: the bond's
  std::string permanent_mac;  // the device's own; empty: `mac` is it
  int mtu = 0;                // bytes; 0: not reported
  bool admin_up = false;      // IFF_UP
  bool carrier = false;       // IFF_LOWER_UP
  std::string operstate;
  std::vector<Ipv4Prefix> ipv4;  // as the kernel has them: of a subnet the first is the primary one
  std::vector<std::string> ipv6;  // sorted, with prefix length
  LinkManager manager = LinkManager::kNone;
  std::string phys_port_name;  // "p0"; empty where the driver has none
  std::string driver;          // "mlx5_core"; empty where no device is behind it
  int speed_mbps = -1;         // -1: unknown, as when there is no carrier
  std::string master;          // the bond, bridge or VRF that it is a member of
  std::string below;           // of a VLAN: the interface that it is on top of
  bool operator==(const LinkFact&) const = default;
};

template <std::same_as<LinkFact> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "link", "One network interface.", Field{"mac", &T::mac, "Hardware address."},
      Field{"permanent_mac", &T::permanent_mac,
            "The hardware address of the device itself, where it has another one now, as a bond's "
            "member does.",
            FieldRule::kLeftOut},
      Field{"mtu", &T::mtu, "Bytes; 0: not reported."},
      Field{"admin_up", &T::admin_up, "Switched on by the administrator (IFF_UP)."},
      Field{"carrier", &T::carrier, "A peer is at the other end (IFF_LOWER_UP)."},
      Field{"operstate", &T::operstate, "The kernel's operational state."},
      Field{"ipv4", &T::ipv4, "IPv4 addresses with their prefix lengths, in the kernel's order."},
      Field{"ipv6", &T::ipv6, "IPv6 addresses with their prefix lengths, sorted."},
      Field{"manager", &T::manager, "Who configures the interface."},
      Field{"phys_port_name", &T::phys_port_name,
            "The driver's name for the cage (p0, p1); empty where it has none."},
      Field{"driver", &T::driver, "The driver of its device; empty where it has none.",
            FieldRule::kLeftOut},
      Field{"speed_mbps", &T::speed_mbps, "Megabits per second; -1: unknown, as without carrier.",
            FieldRule::kMayBeNegative},
      Field{"master", &T::master, "The bond, bridge or VRF that it is a member of.",
            FieldRule::kLeftOut},
      Field{"below", &T::below, "The interface that it is on top of, as a VLAN is.",
            FieldRule::kLeftOut});
}

// What was read from one node in one go. Keys of `files` are the paths that plugins requested
// ("~nvidia/.ssh/config" stays in that form). Each subject has its struct in model/facts.
struct NodeFacts {
  NodeName node;
  Observed<HostFact> host = Absent{};
  SessionFacts session;
  std::map<std::string, LinkFact> links;
  std::map<std::string, HcaFact> hcas;  // by RDMA name
  std::map<std::string, Observed<FileState>> files;
  NetworkFacts network;
  RdmaFacts rdma;
  GpuFacts gpudirect;
  MemlockFacts memlock;
  NcclFacts nccl;
  SshFacts ssh;
  SysctlFacts sysctl;
  UnitFacts units;
  HealthFacts health;
  PackageFacts packages;
  QosFacts qos;
  StorageFacts storage;
  ApplyFacts apply;
  Observed<Ledger> ledger = Absent{};  // what we changed on it before
  // The largest number of a generation that it keeps; 0: none. The ledger has that of the node's
  // own last change, which may be a smaller one.
  int newest_generation = 0;
  std::string newest_digest = {};  // of that generation's manifest; empty: not known
  bool operator==(const NodeFacts&) const = default;
};

template <std::same_as<NodeFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "node", "Everything that was read from one node.",
      Field{"name", &T::node, "The manifest's name of the node."},
      Field{"host", &T::host, "The machine."}, Field{"links", &T::links, "By interface name."},
      Field{"hcas", &T::hcas, "RDMA devices by name."},
      Field{"files", &T::files, "By path, as it was requested."},
      Field{"network", &T::network, "Interfaces.", FieldRule::kLeftOut},
      Field{"rdma", &T::rdma, "RDMA.", FieldRule::kLeftOut},
      Field{"gpudirect", &T::gpudirect, "GPUDirect.", FieldRule::kLeftOut},
      Field{"memlock", &T::memlock, "Limits of locked memory.", FieldRule::kLeftOut},
      Field{"nccl", &T::nccl, "NCCL.", FieldRule::kLeftOut},
      Field{"ssh", &T::ssh, "Logins between the nodes.", FieldRule::kLeftOut},
      Field{"sysctl", &T::sysctl, "Kernel settings.", FieldRule::kLeftOut},
      Field{"units", &T::units, "Units of systemd.", FieldRule::kLeftOut},
      Field{"health", &T::health, "What may spoil a run.", FieldRule::kLeftOut},
      Field{"packages", &T::packages, "Packages and programs.", FieldRule::kLeftOut},
      Field{"qos", &T::qos, "Traffic classes.", FieldRule::kLeftOut},
      Field{"storage", &T::storage, "Volumes over the network.", FieldRule::kLeftOut},
      Field{"apply", &T::apply, "An apply without an end.", FieldRule::kLeftOut},
      Field{"ledger", &T::ledger, "What we changed on the node before."},
      Field{"newest_generation", &T::newest_generation,
            "The largest number of a generation that the node keeps.", FieldRule::kLeftOut},
      Field{"newest_digest", &T::newest_digest,
            "The digest of that generation's manifest; left out where it is not known.",
            FieldRule::kLeftOut},
      Field{"session", &T::session, "How the node was reached."});
}

struct ClusterFacts {
  std::map<NodeName, NodeFacts> nodes;
  std::map<NodeName, Error> unreachable;
  bool operator==(const ClusterFacts&) const = default;
};

// Unknown{"not read"} when no plugin requested it.
Observed<FileState> FindFile(const NodeFacts& facts, const std::string& path);

}  // namespace reconciler
