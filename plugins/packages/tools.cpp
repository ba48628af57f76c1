#include "plugins/packages/tools.h"

#include <fmt/format.h>

#include "plugins/packages/section.h"
#include "plugins/packages/version.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::packages {
namespace {

std::string Describe(const std::string& tool) {
  if (tool == "driver") return "NVIDIA driver";
  if (tool == "cuda") return "CUDA toolkit";
  if (tool == "docker") return "Docker";
  return "NVIDIA container toolkit";
}

// The node with the newest one; empty: none is newer than this node's.
std::string FindNewer(const PluginInput& input, const std::string& tool, std::string version) {
  std::string newer;
  for (const auto& [name, facts] : input.all.nodes) {
    const Observed<std::string> theirs = FindOrUnknown(facts.packages.tools, tool);
    const std::string* other = Known(theirs);
    if (other == nullptr || CompareVersions(*other, version) <= 0) continue;
    version = *other;
    newer = fmt::format("{} has {}", name, *other);
  }
  return newer;
}

Diagnostic MakeMissing(const ToolMinimum& minimum) {
  return {.severity = Severity::kWarns,
          .code = "packages-tool-missing",
          .message = fmt::format("{}: wanted {} or later, found none", Describe(minimum.tool),
                                 minimum.version),
          .next_step = "install it, or remove it from minimum_versions"};
}

Diagnostic MakeTooOld(const ToolMinimum& minimum, const std::string& version) {
  return {.severity = Severity::kWarns,
          .code = "packages-tool-too-old",
          .message = fmt::format("{}: wanted {} or later, found {}", Describe(minimum.tool),
                                 minimum.version, version),
          .next_step = "update it; `packages` with at_least does so for a package of apt"};
}

std::vector<Diagnostic> Judge(const PluginInput& input, const ToolMinimum& minimum) {
  const Observed<std::string> observed = FindOrUnknown(input.facts.packages.tools, minimum.tool);
  if (const auto* unknown = std::get_if<Unknown>(&observed)) {
    return {{.severity = Severity::kWarns,
             .code = "packages-tool-unknown",
             .message = fmt::format("{}: wanted {} or later, and its version is unknown: {}",
                                    Describe(minimum.tool), minimum.version, unknown->why)}};
  }
  const std::string* version = Known(observed);
  if (version == nullptr) return {MakeMissing(minimum)};
  if (CompareVersions(*version, minimum.version) < 0) return {MakeTooOld(minimum, *version)};
  const std::string newer = FindNewer(input, minimum.tool, *version);
  if (newer.empty()) return {};
  return {{.code = "packages-tools-differ",
           .message = fmt::format("{}: {}, and {}", Describe(minimum.tool), *version, newer),
           .next_step = "install one version on all nodes"}};
}

}  // namespace

std::vector<Diagnostic> DiagnoseTools(const PluginInput& input) {
  std::vector<Diagnostic> found;
  for (const ToolMinimum& minimum : ReadMinimums(input.cluster)) {
    for (Diagnostic& one : Judge(input, minimum)) {
      one.where = input.cluster.Mark(minimum.position);
      one.subject = "minimum_versions." + minimum.tool;
      found.push_back(std::move(one));
    }
  }
  return found;
}

}  // namespace reconciler::plugins::packages
