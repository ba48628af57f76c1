#include "plugins/gpudirect/loader.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/common/gpu/gpu_facts.h"
#include "plugins/common/gpu/gpu_reach.h"
#include "plugins/gpudirect/loader.sh.h"
#include "plugins/gpudirect/modules.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::gpudirect {
namespace {

constexpr const char* kLoaderKey = "gpudirect.loader";    // the unit's ActiveState
constexpr const char* kEntriesKey = "gpudirect.entries";  // PATH:LINE MODULE, one per line
constexpr std::string_view kUnit = "systemd-modules-load.service";

struct Entry {
  std::string place = {};  // PATH:LINE
  std::string module = {};
};

Entry ParseEntry(const std::string& line) {
  const std::size_t blank = std::min(line.size(), line.rfind(' '));
  return {line.substr(0, blank), std::string(Trim(std::string_view(line).substr(blank)))};
}

bool IsOurs(const Entry& entry, const GpuSection& section) {
  return entry.place.starts_with(std::string(kModulesFile) + ":") &&
         section.Loads(KernelName(entry.module));
}

std::string FormatNote(const Entry& entry, const NodeFacts& facts) {
  std::string why;
  if (KernelName(entry.module) == kPeermemModule) {
    const GpuReach reach = JudgePeermemReach(facts, true);
    if (reach.answer == GpuReach::Answer::kNo) why = fmt::format(" ({})", reach.why);
  }
  return fmt::format("{} failed: {} asks for {}, which is not loaded{}: take the line out", kUnit,
                     entry.place, entry.module, why);
}

}  // namespace

RunProbe MakeLoaderProbe() {
  return {.id = kLoaderKey, .argv = {"sh", "-c", std::string(kLoaderSh)}};
}

void StoreLoader(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kLoaderKey);
  if (found == reply.commands.end()) return;  // not asked for
  constexpr std::string_view kState = "state ";
  constexpr std::string_view kEntry = "entry ";
  facts.values[kLoaderKey] = Unknown{"systemctl did not tell the state of " + std::string(kUnit)};
  std::vector<std::string> entries;
  for (const std::string& line : SplitLines(found->second.out)) {
    if (line.starts_with(kState)) {
      facts.values[kLoaderKey] = MakePrintable(line.substr(kState.size()));
    } else if (line.starts_with(kEntry)) {
      entries.push_back(MakePrintable(line.substr(kEntry.size())));
    }
  }
  facts.values[kEntriesKey] = Join(entries, "\n");
}

std::vector<std::string> ListLoaderNotes(const GpuSection& section, const NodeFacts& facts) {
  if (FindKnownText(facts, kLoaderKey) != "failed") return {};
  std::vector<std::string> notes;
  bool ours = false;
  for (const std::string& line : SplitLines(FindKnownText(facts, kEntriesKey))) {
    const Entry entry = ParseEntry(line);
    ours |= IsOurs(entry, section);
    if (!IsOurs(entry, section)) notes.push_back(FormatNote(entry, facts));
  }
  if (notes.empty() && !ours) {
    notes.push_back(fmt::format(
        "{} failed, and no line of modules-load.d shows why: journalctl -u {} does", kUnit, kUnit));
  }
  return notes;
}

}  // namespace reconciler::plugins::gpudirect
