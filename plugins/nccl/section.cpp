#include "plugins/nccl/section.h"

#include <algorithm>

namespace reconciler::plugins::nccl {
const ManifestVariable* Section::FindVariable(std::string_view name) const {
  for (const ManifestVariable& variable : env) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

std::optional<Section> ReadSection(const ClusterSpec& cluster) {
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

}  // namespace reconciler::plugins::nccl
