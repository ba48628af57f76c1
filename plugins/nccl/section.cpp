#include "plugins/nccl/section.h"

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {

std::string_view ToString(Mode mode) {
  switch (mode) {
    case Mode::kAuto:
      return "auto";
    case Mode::kSafe:
      return "safe";
    case Mode::kDmabuf:
      return "dmabuf";
  }
  return "";
}

const ManifestVariable* Section::FindVariable(std::string_view name) const {
  for (const ManifestVariable& variable : env) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

namespace {

void ReadLibrary(const std::string& text, Section& section) {
  const std::vector<std::string> words = Split(text, ' ');
  if (words[0] == "package" && words.size() == 2) {
    section.package_version = words[1];
  } else if (words[0] == "build" && words.size() >= 2) {
    section.build = NcclSource{.tag = words[1]};
    if (words.size() > 2) section.build->url = words[2];
  } else {
    section.library = text;
  }
}

}  // namespace

std::optional<Section> ReadSection(const ClusterSpec& cluster, std::string_view node) {
  return ReadSection(cluster.FindSection(node, "nccl"));
}

std::optional<Section> ReadSection(const Member* nccl) {
  if (nccl == nullptr || nccl->value.IsNull()) return std::nullopt;
  const Value* value = &nccl->value;
  Section section{.position = nccl->key_position};
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
  ReadLibrary(value->GetText("library"), section);
  return section;
}

}  // namespace reconciler::plugins::nccl
