#include "reconciler/verify/links/node_health.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/fabric/bootstrap.h"
#include "reconciler/verify/links/kernel_log.h"

namespace reconciler {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;
constexpr std::int64_t kGibInKib = std::int64_t{1} << 20;

// Enough for what NCCL registers. Kernels and systemd begin with 8 MiB
// (https://github.com/graham33/nixos-dgx-spark), DGX OS with nearly all memory.
constexpr std::int64_t kLeastMemlock = kGib;

Check MakeWarning(const NodeFacts& facts, std::string what, Symptom symptom, std::string expected,
                  std::string measured) {
  return {.level = VerifyLevel::kFacts,
          .what = std::move(what),
          .from = facts.node,
          .outcome = Outcome::kWarn,
          .symptom = symptom,
          .expected = std::move(expected),
          .measured = std::move(measured)};
}

// Soft devices have no place on a bus; tests and labs use them without the files of a real one.
bool HasHardwareHca(const NodeFacts& facts) {
  return std::any_of(facts.hcas.begin(), facts.hcas.end(),
                     [](const auto& hca) { return !hca.second.device.slot.empty(); });
}

// Where the manifest has `memlock`, its own checks say more.
void CheckMemlock(const ClusterSpec& cluster, const NodeSpec& node, const NodeFacts& facts,
                  std::vector<Check>& checks) {
  // The limit does not bind root, who has CAP_IPC_LOCK:
  // https://man7.org/linux/man-pages/man7/capabilities.7.html.
  if (node.access.user == "root") return;
  const Member* managed = cluster.FindSection(node.name, "memlock");
  const MemoryLimit* limit = Known(facts.memlock.session);
  if ((managed != nullptr && !managed->value.IsNull()) || limit == nullptr ||
      !HasHardwareHca(facts)) {
    return;
  }
  if (limit->bytes >= kLeastMemlock) return;
  checks.push_back(MakeWarning(facts, "memlock", Symptom::kMemlockDefault, "at least 1 GiB",
                               FormatLimit(*limit)));
}

bool MayUse(const DeviceFile& file, const std::string& user, const std::set<std::string>& groups) {
  constexpr unsigned kReadAndWrite = 6;
  const auto has = [&](int shift) {
    return ((file.mode.bits >> shift) & kReadAndWrite) == kReadAndWrite;
  };
  // The kernel looks at the first of the three that fits.
  if (file.owner == user) return has(6);
  if (groups.contains(file.group)) return has(3);
  return has(0);
}

void CheckDeviceFiles(const NodeSpec& node, const NodeFacts& facts, std::vector<Check>& checks) {
  const std::vector<DeviceFile>* files = Known(facts.health.device_files);
  if (files == nullptr || !HasHardwareHca(facts)) return;
  const auto is_verbs = [](const DeviceFile& file) {
    return file.path.find("/uverbs") != std::string::npos;
  };
  if (std::none_of(files->begin(), files->end(), is_verbs)) {
    checks.push_back(MakeWarning(facts, "device-files", Symptom::kUverbsMissing,
                                 "/dev/infiniband/uverbs0 and so on", "no such file"));
    return;
  }
  const std::set<std::string>* groups = Known(facts.health.groups);
  const std::string& user = node.access.user;
  if (groups == nullptr || user.empty() || user == "root") return;
  for (const DeviceFile& file : *files) {
    if (MayUse(file, user, *groups)) continue;
    checks.push_back(MakeWarning(facts, "device-files", Symptom::kUverbsDenied,
                                 fmt::format("{} may read and write {}", user, file.path),
                                 fmt::format("{} is {}:{} with mode {:04o}", file.path, file.owner,
                                             file.group, file.mode.bits)));
    return;
  }
}

// Where the manifest does not configure NCCL, its ranks meet on the network of the controller's
// session by all likelihood.
void CheckBootstrap(const ClusterSpec& cluster, const Fabric& fabric, const NodeFacts& facts,
                    const ClusterFacts& all, std::vector<Check>& checks) {
  const std::vector<std::string>* wireless = Known(facts.health.wireless);
  const Member* nccl = cluster.FindSection(facts.node, "nccl");
  const Value* variables = nccl != nullptr ? nccl->value.Find("env") : nullptr;
  const bool is_named = variables != nullptr && variables->Find("NCCL_SOCKET_IFNAME") != nullptr;
  const std::string netdev =
      nccl == nullptr ? facts.session.interface : ChooseBootstrap(cluster, fabric, facts, all).netdev;
  if (wireless == nullptr || is_named ||
      std::find(wireless->begin(), wireless->end(), netdev) == wireless->end()) {
    return;
  }
  checks.push_back(MakeWarning(facts, "bootstrap", Symptom::kBootstrapWifi, "a wired network",
                               fmt::format("{} is wireless", MakePrintable(netdev))));
}

void CheckHeat(const NodeFacts& facts, std::vector<Check>& checks) {
  // Sensors name their limits on their own:
  // https://docs.kernel.org/driver-api/thermal/sysfs-api.html and
  // https://docs.kernel.org/hwmon/sysfs-interface.html.
  constexpr std::int64_t kNear = 5000;  // thousandths of a degree
  std::vector<std::string> hot;
  if (const auto* sensors = Known(facts.health.sensors)) {
    for (const Sensor& sensor : *sensors) {
      if (sensor.millidegrees < sensor.limit - kNear) continue;
      hot.push_back(fmt::format("{} has {} °C of {} °C", sensor.name, sensor.millidegrees / 1000,
                                sensor.limit / 1000));
    }
  }
  if (!hot.empty()) {
    checks.push_back(MakeWarning(facts, "heat", Symptom::kTooHot,
                                 "5 °C and more below each sensor's limit", Join(hot, ", ")));
  }
  const auto* throttled = Known(facts.health.throttled);
  if (throttled != nullptr && !throttled->empty()) {
    checks.push_back(MakeWarning(facts, "throttling", Symptom::kThrottled,
                                 "processors at their own speed", Join(*throttled, ", ")));
  }
  const auto* slowdowns = Known(facts.health.gpu_slowdowns);
  if (slowdowns != nullptr && !slowdowns->empty()) {
    checks.push_back(MakeWarning(facts, "gpu-throttling", Symptom::kGpuThrottled,
                                 "a GPU at its own speed", Join(*slowdowns, ", ")));
  }
}

// A Spark that runs out of the memory that its GPU shares freezes:
// https://github.com/NVIDIA/dgx-spark-playbooks/issues/102.
void CheckMemory(const NodeFacts& facts, std::vector<Check>& checks) {
  constexpr std::int64_t kReserve = 8 * kGibInKib;
  const std::int64_t* available = Known(facts.health.available_kib);
  const std::int64_t* swapped = Known(facts.health.swap_used_kib);
  if (available == nullptr || swapped == nullptr) return;
  if (*available >= kReserve || *swapped < kGibInKib) return;
  checks.push_back(MakeWarning(
      facts, "memory", Symptom::kMemoryPressure, "8 GiB of memory, or none in swap",
      fmt::format("{} MiB of memory left, {} MiB in swap", *available / 1024, *swapped / 1024)));
}

void CheckContainers(const NodeFacts& facts, std::vector<Check>& checks) {
  const auto* containers = Known(facts.health.containers);
  if (containers == nullptr || facts.hcas.empty()) return;
  for (const ContainerFact& container : *containers) {
    const auto warn = [&](Symptom symptom, std::string expected, std::string measured) {
      Check check = MakeWarning(facts, "container", symptom, std::move(expected),
                                fmt::format("container {}: {}", container.id, measured));
      check.subject = container.id;
      checks.push_back(std::move(check));
    };
    if (!container.rdma) {
      warn(Symptom::kContainerNoRdma, "the files of /dev/infiniband in the container", "has none");
    } else if (container.memlock.bytes < kLeastMemlock) {
      warn(Symptom::kContainerMemlock, "at least 1 GiB of memory that it may lock",
           FormatLimit(container.memlock));
    }
  }
}

// Nodes are read at the same time, but for the time that a connection takes.
void CheckClocks(const ClusterSpec& cluster, const ClusterFacts& facts,
                 std::vector<Check>& checks) {
  constexpr std::int64_t kMost = 120;  // seconds
  const NodeFacts* behind = nullptr;
  const NodeFacts* ahead = nullptr;
  const auto clock = [](const NodeFacts* node) { return *Known(node->health.clock); };
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = facts.nodes.find(node.name);
    if (found == facts.nodes.end() || Known(found->second.health.clock) == nullptr) continue;
    const NodeFacts* one = &found->second;
    if (behind == nullptr || clock(one) < clock(behind)) behind = one;
    if (ahead == nullptr || clock(one) > clock(ahead)) ahead = one;
  }
  if (behind == nullptr || clock(ahead) - clock(behind) <= kMost) return;
  checks.push_back(MakeWarning(*behind, "clock", Symptom::kClocksDiffer, "one time on all nodes",
                               fmt::format("{} is {} s behind {}", behind->node,
                                           clock(ahead) - clock(behind), ahead->node)));
}

// What could not be read is not well: it says so among the checks that were left out.
void AddUnread(const NodeFacts& facts, std::vector<Check>& checks) {
  const auto* log =
      facts.health.kernel_log ? std::get_if<Unknown>(&*facts.health.kernel_log) : nullptr;
  if (log == nullptr) return;
  checks.push_back({.level = VerifyLevel::kFacts,
                    .what = "health",
                    .from = facts.node,
                    .outcome = Outcome::kSkipped,
                    .expected = "the kernel's log and the node's health can be read",
                    .why = MakePrintable(log->why)});
}

}  // namespace

std::vector<Check> CheckNodeHealth(const ClusterSpec& cluster, const Fabric& fabric,
                                   const ClusterFacts& facts, VerifyLevel up_to) {
  std::vector<Check> checks;
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = facts.nodes.find(node.name);
    if (found == facts.nodes.end()) continue;
    const NodeFacts& own = found->second;
    for (Check& check : CheckKernelLog(fabric, facts, own)) checks.push_back(std::move(check));
    AddUnread(own, checks);
    CheckMemlock(cluster, node, own, checks);
    CheckDeviceFiles(node, own, checks);
    if (up_to >= VerifyLevel::kRdma) CheckBootstrap(cluster, fabric, own, facts, checks);
    CheckHeat(own, checks);
    CheckMemory(own, checks);
    CheckContainers(own, checks);
  }
  CheckClocks(cluster, facts, checks);
  return checks;
}

}  // namespace reconciler
