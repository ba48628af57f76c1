#include "reconciler/verify/links/kernel_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "reconciler/base/ipv4.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::int64_t kRecent = 24 * 60 * 60;  // seconds
constexpr std::size_t kMostEvidence = 3;

std::string FormatAge(std::int64_t seconds) {
  if (seconds < 120) return fmt::format("{} s ago", seconds);
  if (seconds < 120 * 60) return fmt::format("{} min ago", seconds / 60);
  return fmt::format("{} h ago", seconds / 3600);
}

// "… SRC=192.168.1.22 …"
std::string_view FindWord(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, rest.find(' '));
}

// The other nodes' addresses: those of the fabric, and those at which they were reached.
std::map<Ipv4Address, NodeName> ListPeers(const Fabric& fabric, const ClusterFacts& all,
                                          const NodeName& node) {
  std::map<Ipv4Address, NodeName> peers;
  for (const auto& [name, facts] : all.nodes) {
    if (name == node) continue;
    if (const auto address = ParseIpv4(facts.session.address)) peers[*address] = name;
  }
  for (const auto& [name, ports] : fabric.ports) {
    if (name == node) continue;
    for (const RailPort& port : ports) peers[port.address.address] = name;
  }
  return peers;
}

void CheckFirewall(const Fabric& fabric, const ClusterFacts& all, const NodeFacts& facts,
                   const std::vector<KernelEvent>& log, std::vector<Check>& checks) {
  const std::int64_t* rules_age = Known(facts.health.firewall_rules_age_s);
  const bool* is_enabled = Known(facts.rdma.ufw);
  // `ufw disable` leaves the file of its rules as it is.
  if (rules_age == nullptr || (is_enabled != nullptr && !*is_enabled)) return;
  const std::map<Ipv4Address, NodeName> peers = ListPeers(fabric, all, facts.node);
  struct Dropped {
    const KernelEvent* last = nullptr;
    std::size_t count = 0;
  };
  std::map<Ipv4Address, Dropped> dropped;
  for (const KernelEvent& event : log) {
    // What older rules dropped says nothing about those of now.
    if (event.kind != KernelEventKind::kFirewall || event.age_s >= std::min(kRecent, *rules_age))
      continue;
    const auto source = ParseIpv4(FindWord(event.text, "SRC="));
    if (!source || !peers.contains(*source)) continue;
    dropped[*source].last = &event;
    ++dropped[*source].count;
  }
  for (const auto& [source, of_peer] : dropped) {
    const std::string& text = of_peer.last->text;
    checks.push_back({.level = VerifyLevel::kFacts,
                      .what = "firewall",
                      .from = facts.node,
                      .subject = ToString(source),
                      .outcome = Outcome::kWarn,
                      .symptom = Symptom::kUfwDrops,
                      .expected = fmt::format("connections from {} get in", peers.at(source)),
                      .measured = fmt::format(
                          "ufw dropped {} from {} ({}) on {}, the last {} to port {}",
                          FormatPlural(of_peer.count, "connection", "connections"),
                          peers.at(source), ToString(source), MakePrintable(FindWord(text, "IN=")),
                          FormatAge(of_peer.last->age_s), MakePrintable(FindWord(text, "DPT="))),
                      .evidence = {text}});
  }
}

// "NVRM: Xid (PCI:000f:01:00): 79, pid=…": 0 where there is no number.
int ReadXid(std::string_view text) {
  std::string_view rest = text;
  const std::size_t at = rest.find("): ");
  if (at == std::string_view::npos) return 0;
  rest.remove_prefix(at + 3);
  return ConsumeNumber<int>(rest).value_or(0);
}

// Faults of a program, after which the GPU works on: 13 and 31 are its own errors, 43 and 45 come
// when it is ended (https://docs.nvidia.com/deploy/xid-errors/).
bool IsProgramsOwnFault(const KernelEvent& event) {
  if (event.kind != KernelEventKind::kGpu) return false;
  static constexpr int kOfPrograms[] = {13, 31, 43, 45};
  const int xid = ReadXid(event.text);
  return std::find(std::begin(kOfPrograms), std::end(kOfPrograms), xid) != std::end(kOfPrograms);
}

struct KindText {
  KernelEventKind kind;
  Symptom symptom;
  std::string_view what;
  std::string_view expected;
};

constexpr KindText kKinds[] = {
    {KernelEventKind::kPcie, Symptom::kPcieError, "pcie-log", "no PCIe error that stays"},
    {KernelEventKind::kGpu, Symptom::kGpuError, "gpu-log", "no error of the GPU"},
    {KernelEventKind::kGpuMemory, Symptom::kGpuMemory, "gpu-memory-log",
     "memory for NVIDIA's driver"},
    {KernelEventKind::kOutOfMemory, Symptom::kOutOfMemory, "memory-log", "memory for all programs"},
    {KernelEventKind::kLockup, Symptom::kLockup, "lockup-log", "no processor that hangs"},
    {KernelEventKind::kHca, Symptom::kHcaUnwell, "hca-log", "HCAs that are well"},
};

std::optional<Check> CheckKind(const KindText& kind, const NodeFacts& facts,
                               const std::vector<KernelEvent>& log) {
  std::vector<const KernelEvent*> found;
  for (const KernelEvent& event : log) {
    if (event.kind == kind.kind && event.age_s < kRecent && !IsProgramsOwnFault(event)) {
      found.push_back(&event);
    }
  }
  if (found.empty()) return std::nullopt;
  Check check{.level = VerifyLevel::kFacts,
              .what = std::string(kind.what),
              .from = facts.node,
              .outcome = Outcome::kWarn,
              .symptom = kind.symptom,
              .expected = std::string(kind.expected),
              .measured = fmt::format("{} of the kernel, the last {}",
                                      FormatPlural(found.size(), "message", "messages"),
                                      FormatAge(found.back()->age_s))};
  const std::size_t first = found.size() - std::min(found.size(), kMostEvidence);
  for (std::size_t i = first; i < found.size(); ++i) check.evidence.push_back(found[i]->text);
  return check;
}

// A cable that is plugged, or a peer that starts, takes a link down once or twice.
void CheckFlaps(const Fabric& fabric, const NodeFacts& facts, const std::vector<KernelEvent>& log,
                std::vector<Check>& checks) {
  constexpr std::size_t kMost = 5;
  constexpr std::int64_t kHour = 60 * 60;
  const auto ports = fabric.ports.find(facts.node);
  if (ports == fabric.ports.end()) return;
  for (const RailPort& port : ports->second) {
    std::vector<const KernelEvent*> downs;
    for (const KernelEvent& event : log) {
      const bool is_ours = event.text.find(" " + port.netdev + ": ") != std::string::npos;
      if (event.kind == KernelEventKind::kLinkDown && event.age_s < kHour && is_ours) {
        downs.push_back(&event);
      }
    }
    if (downs.size() < kMost) continue;
    Check check{.level = VerifyLevel::kFacts,
                .what = "flaps",
                .from = facts.node,
                .rail = port.rail,
                .outcome = Outcome::kWarn,
                .symptom = Symptom::kLinkFlaps,
                .expected = fmt::format("{} keeps its link", port.netdev),
                .measured = fmt::format("{} lost its link {} times in the last hour, the last {}",
                                        port.netdev, downs.size(), FormatAge(downs.back()->age_s)),
                .evidence = {downs.back()->text}};
    const auto count = facts.network.carrier_downs.find(port.netdev);
    if (count != facts.network.carrier_downs.end()) {
      check.evidence.push_back(
          fmt::format("carrier_down_count of {} is {}", port.netdev, count->second));
    }
    checks.push_back(std::move(check));
  }
}

}  // namespace

std::vector<Check> CheckKernelLog(const Fabric& fabric, const ClusterFacts& all,
                                  const NodeFacts& facts) {
  std::vector<Check> checks;
  const std::vector<KernelEvent>* log = Known(facts.health.kernel_log);
  if (log == nullptr) return checks;
  CheckFirewall(fabric, all, facts, *log, checks);
  for (const KindText& kind : kKinds) {
    if (auto check = CheckKind(kind, facts, *log)) checks.push_back(std::move(*check));
  }
  CheckFlaps(fabric, facts, *log, checks);
  return checks;
}

}  // namespace reconciler
