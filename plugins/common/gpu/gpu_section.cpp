#include "plugins/common/gpu/gpu_section.h"

#include <algorithm>

namespace reconciler::plugins {
namespace {

constexpr GpuMode kModes[] = {GpuMode::kAuto, GpuMode::kOff, GpuMode::kPeermem, GpuMode::kDmabuf};

GpuMode ParseMode(std::string_view text) {
  const auto found = std::find_if(std::begin(kModes), std::end(kModes),
                                  [&](GpuMode mode) { return ToString(mode) == text; });
  return found == std::end(kModes) ? GpuMode::kAuto : *found;
}

}  // namespace

std::string FormatKernelModuleName(std::string_view module) {
  std::string name(module);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string_view ToString(GpuMode mode) {
  switch (mode) {
    case GpuMode::kAuto:
      return "auto";
    case GpuMode::kOff:
      return "off";
    case GpuMode::kPeermem:
      return "peermem";
    case GpuMode::kDmabuf:
      return "dmabuf";
  }
  return "";
}

std::vector<GpuModule> GpuSection::Modules() const {
  std::vector<GpuModule> modules;
  const auto add = [&](const GpuModule& module) {
    const bool twice = std::any_of(modules.begin(), modules.end(),
                                   [&](const auto& one) { return one.name == module.name; });
    if (!twice) modules.push_back(module);
  };
  for (const GpuModule& module : listed) add(module);
  if (mode == GpuMode::kPeermem)
    add({std::string(kPeermemModule), std::string(kPeermemModule), position});
  return modules;
}

bool GpuSection::Loads(std::string_view module) const {
  const std::vector<GpuModule> modules = Modules();
  return std::any_of(modules.begin(), modules.end(),
                     [&](const auto& one) { return one.name == module; });
}

bool GpuSection::Lists(std::string_view module) const {
  return std::any_of(listed.begin(), listed.end(),
                     [&](const auto& one) { return one.name == module; });
}

std::optional<GpuSection> ReadGpuSection(const ClusterSpec& cluster, std::string_view node) {
  return ReadGpuSection(cluster.FindSection(node, "gpudirect"));
}

std::optional<GpuSection> ReadGpuSection(const Member* gpudirect) {
  if (gpudirect == nullptr || gpudirect->value.IsNull()) return std::nullopt;
  const Value* value = &gpudirect->value;
  GpuSection section{.position = gpudirect->key_position};
  const Value* mode = value->IsMap() ? value->Find("mode") : value;
  if (mode != nullptr) section.mode = ParseMode(mode->ScalarText());
  section.required = section.mode == GpuMode::kPeermem || section.mode == GpuMode::kDmabuf;
  if (const Value* required = value->Find("required"); required && required->AsBool()) {
    section.required = *required->AsBool();
  }
  if (const Value* modules = value->Find("modules")) {
    for (const Value& one : modules->List()) {
      const std::string written = one.ScalarText();
      section.listed.push_back({FormatKernelModuleName(written), written, one.position});
    }
  }
  return section;
}

}  // namespace reconciler::plugins
