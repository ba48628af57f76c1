#include "plugins/etc_hosts/etc_hosts.h"

#include <algorithm>
#include <tuple>

#include "plugins/common/ownership/state.h"
#include "reconciler/base/mark.h"

namespace reconciler::plugins::hosts {
namespace {

constexpr std::string_view kFile = "/etc/hosts";
constexpr std::string_view kTopic = "hosts";

bool IsManaged(const ClusterSpec& cluster) {
  const Value* manage = cluster.settings.At({"hosts", "manage"});
  const bool* flag = manage != nullptr ? manage->AsBool() : nullptr;
  return flag == nullptr || *flag;
}

// The ports that `node` reaches without a router, its own included, by rail and then by host
// number. Pointers: on a switch every node reaches every port, so that all plans together look at
// each port once per node.
std::vector<const RailPort*> ListReachable(const Fabric& fabric, const NodeName& node) {
  std::vector<const RailPort*> ports;
  const auto own = fabric.ports.find(node);
  if (own == fabric.ports.end()) return ports;
  for (const RailPort& mine : own->second) {
    for (const Segment& segment : fabric.segments) {
      if (segment.rail != mine.rail) continue;
      for (const RailPort& port : segment.ports) ports.push_back(&port);
    }
  }
  const auto before = [](const RailPort* a, const RailPort* b) {
    return std::tie(a->rail, a->address, a->node) < std::tie(b->rail, b->address, b->node);
  };
  if (!std::is_sorted(ports.begin(), ports.end(), before)) {
    std::sort(ports.begin(), ports.end(), before);
  }
  return ports;
}

std::string FormatLines(const Fabric& fabric, const NodeName& node) {
  std::string lines;
  int rail = -1;
  std::string suffix;  // of every name on that rail
  for (const RailPort* port : ListReachable(fabric, node)) {
    if (port->rail != rail) suffix = FormatRailHostName("", rail = port->rail);
    lines += ToString(port->address.address);
    lines += ' ';
    lines += port->node;
    lines += suffix;
    lines += '\n';
  }
  return lines;
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec&) {
  if (!IsManaged(cluster)) return {};
  return {ReadFile{std::string(kFile)}};
}

std::vector<Resource> Resources(const PluginInput& input) {
  if (!IsManaged(input.cluster)) return {};
  const std::string lines = FormatLines(input.fabric, input.node.name);
  const Observed<FileState> observed = FindFile(input.facts, std::string(kFile));
  const auto* before = Known(observed);
  if (lines.empty() && before == nullptr) return {};
  FileState after = before != nullptr ? *before : FileState{};
  if (const std::string& former = input.cluster.former_name; !former.empty()) {
    after.content = SetBlock(after.content, former, kTopic, "");
  }
  after.content = SetBlock(after.content, input.cluster.name, kTopic, lines);
  return {{.kind = "file",
           .name = std::string(kFile),
           .node = input.node.name,
           .desired = ResourceState(std::move(after)),
           .observed = AsState(observed),
           .where = input.cluster.Mark(input.cluster.fabric.position)}};
}

}  // namespace

Plugin Get() {
  return {.name = "hosts", .after = {}, .probe = Probe, .parse = nullptr, .resources = Resources};
}

}  // namespace reconciler::plugins::hosts
