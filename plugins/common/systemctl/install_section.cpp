#include "plugins/common/systemctl/install_section.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "reconciler/base/text.h"

namespace reconciler::plugins {
namespace {

// The lines of a unit's [Install] sections, without comments and blank lines.
std::string ReadInstallSection(std::string_view text) {
  std::string settings;
  bool inside = false;
  for (const std::string& whole : SplitLines(text)) {
    const std::string_view line = Trim(whole);
    if (line.empty() || line.starts_with('#') || line.starts_with(';')) continue;
    if (line.starts_with('[')) {
      inside = line == "[Install]";
    } else if (inside) {
      settings += std::string(line) + "\n";
    }
  }
  return settings;
}

const std::string* FindUnitText(const ResourceState* state) {
  const auto* file = state == nullptr ? nullptr : std::get_if<FileState>(state);
  return file == nullptr ? nullptr : &file->content;
}

// It removes all links to the unit, and makes those of its [Install] section.
RunCommand MakeReenable(const std::string& unit) {
  return {.argv = {"systemctl", "--no-reload", "reenable", "--", unit}, .id = "relink " + unit};
}

// Those of other files may run before it, and would stand for its reload, which has to see the
// links.
void ReloadAfterRelink(Resource& file, const std::string& unit) {
  for (RunCommand& trigger : file.triggers) {
    if (trigger.argv != std::vector<std::string>{"systemctl", "daemon-reload"}) continue;
    trigger.id = fmt::format("reload systemd for the links of {}", unit);
  }
  file.triggers.insert(file.triggers.begin(), MakeReenable(unit));
}

}  // namespace

bool RelinkWhereInstallChanges(Resource& file, const std::string& unit,
                               const Observed<std::string>& unit_file) {
  const std::string* before = FindUnitText(Known(file.observed));
  const std::string* after = FindUnitText(std::get_if<ResourceState>(&file.desired));
  if (before == nullptr || after == nullptr || !file.blocked.empty()) return false;
  if (ReadInstallSection(*before) == ReadInstallSection(*after)) return false;
  if (const auto* unknown = std::get_if<Unknown>(&unit_file)) {
    file.blocked = {.code = "plan-state-unknown", .why = "unknown: " + unknown->why};
    return false;
  }
  const std::string* links = Known(unit_file);
  if (links == nullptr || *links != "enabled") return false;
  ReloadAfterRelink(file, unit);
  RunCommand revert = MakeReenable(unit);
  revert.id.clear();
  // A revert at boot runs its commands before it restores files, and those once more afterwards.
  revert.after_boot = true;
  file.revert.emplace_back(std::move(revert));
  return true;
}

}  // namespace reconciler::plugins
