#include "plugins/nccl/section.h"

#include <algorithm>
#include <set>

namespace reconciler::plugins::nccl {
namespace {

// A node has one port per segment at most.
bool ReachesEveryNode(const Fabric& fabric, const Segment& segment) {
  return segment.ports.size() == fabric.ports.size();
}

// Rails of the segments that reach every node.
std::set<int> SharedRails(const Fabric& fabric) {
  std::set<int> rails;
  for (const Segment& segment : fabric.segments) {
    if (ReachesEveryNode(fabric, segment)) rails.insert(segment.rail);
  }
  return rails;
}

}  // namespace

const ManifestVariable* Section::FindVariable(std::string_view name) const {
  for (const ManifestVariable& variable : env) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

std::optional<Section> SectionOf(const ClusterSpec& cluster) {
  const Value* value = cluster.settings.Find("nccl");
  if (value == nullptr || value->IsNull()) return std::nullopt;
  Section section;
  for (const Member& member : cluster.settings.Members()) {
    if (member.key == "nccl") section.position = member.key_position;
  }
  if (const Value* mode = value->Find("mode")) {
    const std::string text = mode->ScalarText();
    section.mode = text == "safe" ? Mode::kSafe : text == "dmabuf" ? Mode::kDmabuf : Mode::kAuto;
  }
  if (const Value* env = value->Find("env")) {
    for (const Member& member : env->Members()) {
      section.env.push_back({.name = member.key,
                             .value = member.value.ScalarText(),
                             .position = member.key_position});
    }
  }
  std::sort(section.env.begin(), section.env.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  if (const Value* index = value->Find("gid_index"); index != nullptr && index->AsInteger()) {
    section.gid_index = *index->AsInteger();
  }
  if (const Value* library = value->Find("library")) section.library = library->ScalarText();
  return section;
}

std::vector<RailPort> PortsForNccl(const Fabric& fabric, const NodeName& node) {
  const auto found = fabric.ports.find(node);
  if (found == fabric.ports.end()) return {};
  std::vector<RailPort> ports = found->second;
  if (const std::set<int> shared = SharedRails(fabric); !shared.empty()) {
    std::erase_if(ports, [&](const RailPort& port) { return !shared.contains(port.rail); });
  }
  return ports;
}

bool HasSeveralCables(const Fabric& fabric) {
  if (!SharedRails(fabric).empty()) return false;
  return std::any_of(fabric.ports.begin(), fabric.ports.end(), [](const auto& entry) {
    const std::vector<RailPort>& ports = entry.second;
    return std::any_of(ports.begin(), ports.end(),
                       [&](const RailPort& port) { return port.cage != ports.front().cage; });
  });
}

}  // namespace reconciler::plugins::nccl
