#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"
#include "reconciler/model/facts/memlock_facts.h"
#include "reconciler/model/facts/ssh_facts.h"

namespace reconciler {

enum class KernelEventKind {
  kFirewall,     // ufw dropped a TCP packet
  kPcie,         // an error of PCIe that was not corrected
  kGpu,          // an Xid of NVIDIA's driver
  kGpuMemory,    // NVIDIA's driver got no memory
  kOutOfMemory,  // the kernel ended a program
  kLockup,       // a processor that did not come back
  kHca,          // mlx5 says that its device is not well
  kLinkDown,     // mlx5 lost a link
};
constexpr std::array<std::string_view, 8> ListEnumNames(const KernelEventKind*) {
  return {"firewall", "pcie", "gpu", "gpu memory", "out of memory", "lockup", "hca", "link down"};
}

struct KernelEvent {
  KernelEventKind kind = KernelEventKind::kFirewall;
  std::int64_t age_s = 0;
  std::string text;
  bool operator==(const KernelEvent&) const = default;
};

template <std::same_as<KernelEvent> T>
constexpr auto Describe(const T*) {
  return MakeDescription("kernel_event", "A line of the kernel's log.",
                         Field{"kind", &T::kind, "What it is about."},
                         Field{"age_s", &T::age_s, "How long ago it was written, in seconds."},
                         Field{"text", &T::text, "The line, without its time."});
}

// A file of /dev/infiniband.
struct DeviceFile {
  std::string path;
  FileMode mode;
  std::string owner;
  std::string group;
  bool operator==(const DeviceFile&) const = default;
};

template <std::same_as<DeviceFile> T>
constexpr auto Describe(const T*) {
  return MakeDescription("device_file", "A file by which programs use RDMA.",
                         Field{"path", &T::path, "Where it is."},
                         Field{"mode", &T::mode, "Permission bits in octal."},
                         Field{"owner", &T::owner, "Owning user's name on the node."},
                         Field{"group", &T::group, "Owning group's name on the node."});
}

struct Sensor {
  std::string name;
  std::int64_t millidegrees = 0;
  std::int64_t limit = 0;
  bool operator==(const Sensor&) const = default;
};

template <std::same_as<Sensor> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "sensor", "A temperature, in thousandths of a degree Celsius.",
      Field{"name", &T::name, "The sensor, as its driver calls it."},
      Field{"millidegrees", &T::millidegrees, "What it shows now.", FieldRule::kMayBeNegative},
      Field{"limit", &T::limit, "Where its driver begins to throttle, or calls it critical."});
}

struct RuntimeProfile {
  std::string path;
  std::string netdev;
  bool operator==(const RuntimeProfile&) const = default;
};

template <std::same_as<RuntimeProfile> T>
constexpr auto Describe(const T*) {
  return MakeDescription("runtime_profile", "A profile of NetworkManager that a restart removes.",
                         Field{"path", &T::path, "Its keyfile below /run."},
                         Field{"netdev", &T::netdev, "The interface that it names."});
}

// A container with a process that has variables that configure NCCL for several nodes.
struct ContainerFact {
  std::string id;
  bool rdma = false;
  MemoryLimit memlock;
  bool operator==(const ContainerFact&) const = default;
};

template <std::same_as<ContainerFact> T>
constexpr auto Describe(const T*) {
  return MakeDescription("container", "A running container that is configured for NCCL.",
                         Field{"id", &T::id, "The first twelve characters of its id."},
                         Field{"rdma", &T::rdma, "Whether it has files of /dev/infiniband."},
                         Field{"memlock", &T::memlock, "Its soft limit of locked memory."});
}

// A libnccl that a process with such variables has loaded.
struct LoadedNccl {
  std::string container;
  std::string path;
  std::string version;
  bool pairs_by_subnet = false;
  bool operator==(const LoadedNccl&) const = default;
};

template <std::same_as<LoadedNccl> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "loaded_nccl", "A libnccl that a process in a container has loaded.",
      Field{"container", &T::container, "The first twelve characters of its id."},
      Field{"path", &T::path, "The file, as the container names it."},
      Field{"version", &T::version, "Such as 2.28.9."},
      Field{"pairs_by_subnet", &T::pairs_by_subnet,
            "Whether it pairs HCAs by subnet; read only where the cables need that."});
}

struct HealthFacts {
  Fact<std::vector<KernelEvent>> kernel_log;
  Fact<std::int64_t> firewall_rules_age_s;
  Fact<std::int64_t> clock;
  Fact<std::vector<std::string>> wireless;
  Fact<std::vector<DeviceFile>> device_files;
  Fact<std::set<std::string>> groups;
  Fact<std::vector<RuntimeProfile>> runtime_profiles;
  Fact<bool> ifupdown;
  Fact<std::vector<Sensor>> sensors;
  Fact<std::vector<std::string>> throttled;
  Fact<std::vector<std::string>> gpu_slowdowns;
  Fact<std::int64_t> available_kib;
  Fact<std::int64_t> swap_used_kib;
  Fact<std::vector<ContainerFact>> containers;
  Fact<std::vector<LoadedNccl>> loaded_nccl;
  bool operator==(const HealthFacts&) const = default;
};

template <std::same_as<HealthFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "health", "What may spoil a run although the fabric is set up as it should be.",
      Field{"kernel_log", &T::kernel_log, "Lines of the kernel's log that say so, oldest first."},
      Field{"firewall_rules_age_s", &T::firewall_rules_age_s,
            "Since when ufw has its rules, in seconds; absent: it has none."},
      Field{"clock", &T::clock, "The node's time when it was read, in seconds since 1970."},
      Field{"wireless", &T::wireless, "Interfaces that are wireless, sorted."},
      Field{"device_files", &T::device_files, "Files of /dev/infiniband, by path."},
      Field{"groups", &T::groups,
            "Groups of the user that logs in; absent: there is no such user."},
      Field{"runtime_profiles", &T::runtime_profiles,
            "Profiles of NetworkManager that a restart removes, by path."},
      Field{"ifupdown", &T::ifupdown, "Whether /etc/network configures an interface."},
      Field{"sensors", &T::sensors, "Temperatures that have a limit, by name."},
      Field{"throttled", &T::throttled, "Processors that are slowed down to cool, sorted."},
      Field{"gpu_slowdowns", &T::gpu_slowdowns,
            "Why the hardware slows the GPU down: slowdown, heat, power, driver's heat."},
      Field{"available_kib", &T::available_kib, "MemAvailable, in KiB."},
      Field{"swap_used_kib", &T::swap_used_kib, "Swap in use, in KiB."},
      Field{"containers", &T::containers, "Containers that are configured for NCCL, by id."},
      Field{"loaded_nccl", &T::loaded_nccl, "What processes in them have loaded, by container."});
}

}  // namespace reconciler
