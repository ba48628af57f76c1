#include "plugins/nccl/section.h"

#include <algorithm>
#include <set>

namespace reconciler::plugins::nccl {
namespace {

bool ReachesEveryNode(const Fabric& fabric, const Segment& segment) {
  std::set<NodeName> reached;
  for (const RailPort& port : segment.ports) reached.insert(port.node);
  return reached.size() == fabric.ports.size();
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
  std::vector<RailPort> shared;
  for (const Segment& segment : fabric.segments) {
    if (!ReachesEveryNode(fabric, segment)) continue;
    for (const RailPort& port : segment.ports) {
      if (port.node == node) shared.push_back(port);
    }
  }
  if (!shared.empty()) return shared;
  const auto found = fabric.ports.find(node);
  return found == fabric.ports.end() ? shared : found->second;
}

bool HasSeveralCables(const Fabric& fabric) {
  return std::any_of(fabric.ports.begin(), fabric.ports.end(), [&](const auto& entry) {
    std::set<std::string> cages;
    for (const RailPort& port : PortsForNccl(fabric, entry.first)) cages.insert(port.cage);
    return cages.size() > 1;
  });
}

}  // namespace reconciler::plugins::nccl
