#include "plugins/gpudirect/loader.h"

#include <fmt/format.h>

#include <optional>

#include "plugins/common/gpu/gpu_facts.h"
#include "plugins/common/gpu/gpu_reach.h"
#include "plugins/gpudirect/loader.sh.h"
#include "plugins/gpudirect/modules.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::gpudirect {
namespace {

constexpr const char* kLoader = "gpudirect.loader";
constexpr std::string_view kUnit = "systemd-modules-load.service";

// "PATH:LINE MODULE"; nullopt: it is not that.
std::optional<ModuleEntry> ParseEntry(std::string_view text) {
  const std::size_t blank = text.rfind(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const std::size_t colon = text.substr(0, blank).rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto line = ParseNumber<int>(text.substr(colon + 1, blank - colon - 1));
  if (!line || *line < 1) return std::nullopt;
  return ModuleEntry{.path = MakePrintable(text.substr(0, colon)),
                     .line = *line,
                     .module = MakePrintable(Trim(text.substr(blank)))};
}

bool IsOurs(const ModuleEntry& entry, const GpuSection& section) {
  return entry.path == kModulesFile && section.Loads(FormatKernelModuleName(entry.module));
}

Diagnostic MakeDiagnostic(const ModuleEntry& entry, const NodeFacts& facts) {
  const std::string place = fmt::format("{}:{}", entry.path, entry.line);
  std::string why;
  if (FormatKernelModuleName(entry.module) == kPeermemModule) {
    const GpuReach reach = JudgePeermemReach(facts, true);
    if (reach.answer == GpuReach::Answer::kNo) why = fmt::format(" ({})", reach.why);
  }
  return {.code = "gpudirect-foreign-module",
          .message = fmt::format("{} failed: {} requires {}, which is not loaded{}", kUnit, place,
                                 entry.module, why),
          .next_step = "remove the line",
          .subject = place};
}

}  // namespace

RunProbe MakeLoaderProbe() { return {.id = kLoader, .argv = {"sh", "-c", std::string(kLoaderSh)}}; }

void StoreLoader(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kLoader);
  if (found == reply.commands.end()) return;  // not requested
  constexpr std::string_view kState = "state ";
  constexpr std::string_view kEntry = "entry ";
  GpuFacts& gpu = facts.gpudirect;
  gpu.loader = Unknown{"systemctl did not report the state of " + std::string(kUnit)};
  std::vector<ModuleEntry> entries;
  std::string broken;
  for (const std::string& line : SplitLines(found->second.out)) {
    if (line.starts_with(kState)) {
      gpu.loader = MakePrintable(line.substr(kState.size()));
    } else if (line.starts_with(kEntry)) {
      auto entry = ParseEntry(std::string_view(line).substr(kEntry.size()));
      if (!entry && broken.empty()) broken = MakePrintable(line);
      if (entry) entries.push_back(std::move(*entry));
    }
  }
  gpu.entries = std::move(entries);
  if (!broken.empty()) gpu.entries = Unknown{fmt::format("not understood: '{}'", broken)};
}

std::vector<Diagnostic> DiagnoseLoader(const GpuSection& section, const NodeFacts& facts) {
  const std::string* state = Known(facts.gpudirect.loader);
  if (state == nullptr || *state != "failed") return {};
  std::vector<Diagnostic> diagnostics;
  bool ours = false;
  const std::vector<ModuleEntry>* entries = Known(facts.gpudirect.entries);
  if (entries == nullptr) {
    const Unknown* unknown = FindUnknown(facts.gpudirect.entries);
    return {{.code = "gpudirect-loader-failed",
             .message =
                 fmt::format("{} failed, and which lines of modules-load.d are why is unknown: {}",
                             kUnit, unknown == nullptr ? "not read" : unknown->why),
             .next_step = fmt::format("journalctl -u {} shows it", kUnit)}};
  }
  for (const ModuleEntry& entry : *entries) {
    ours |= IsOurs(entry, section);
    if (!IsOurs(entry, section)) diagnostics.push_back(MakeDiagnostic(entry, facts));
  }
  if (diagnostics.empty() && !ours) {
    diagnostics.push_back(
        {.code = "gpudirect-loader-failed",
         .message = fmt::format("{} failed, and no line of modules-load.d shows why", kUnit),
         .next_step = fmt::format("journalctl -u {} shows it", kUnit)});
  }
  return diagnostics;
}

}  // namespace reconciler::plugins::gpudirect
