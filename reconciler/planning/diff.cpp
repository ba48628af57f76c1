#include "reconciler/planning/diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"
#include "reconciler/base/unified_diff.h"
#include "reconciler/planning/foreign.h"

namespace reconciler {
namespace {

std::string FormatLineCount(const std::string& content) {
  const bool open_end = !content.empty() && content.back() != '\n';
  return FormatPlural(
      static_cast<std::size_t>(std::count(content.begin(), content.end(), '\n')) + open_end, "line",
      "lines");
}

// "(0600, 19 lines)", with the owner where it is not root.
std::string SummarizeFile(const FileState& state) {
  const std::string owner = state.owner == "root" && state.group == "root"
                                ? ""
                                : fmt::format("{}:{}, ", state.owner, state.group);
  return fmt::format("({:04o}, {}{})", state.mode, owner, FormatLineCount(state.content));
}

// "mode 0644 → 0600, 3 lines differ": what about a file differs, as text.
std::string DescribeFileDifference(const std::string& name, const FileState& before,
                                   const FileState& after, FileDiffs& diffs) {
  std::vector<std::string> parts;
  if (before.mode != after.mode) {
    parts.push_back(fmt::format("mode {:04o} → {:04o}", before.mode, after.mode));
  }
  if (before.owner != after.owner || before.group != after.group) {
    parts.push_back(
        fmt::format("owner {}:{} → {}:{}", before.owner, before.group, after.owner, after.group));
  }
  if (before.content != after.content) {
    parts.push_back(diffs.Count(name, before.content, after.content));
  }
  return "(" + Join(parts, ", ") + ")";
}

std::string CountLines(std::string_view before, std::string_view after) {
  const std::string diff = MakeUnifiedDiff(before, after);
  std::size_t added = 0;
  std::size_t removed = 0;
  for (std::size_t at = 0; at < diff.size();
       at = std::min(diff.find('\n', at), diff.size() - 1) + 1) {
    added += diff[at] == '+';
    removed += diff[at] == '-';
  }
  return fmt::format("+{} -{} lines", added, removed);
}

std::string NormalizeState(const ResourceState& state) {
  if (const auto* text = std::get_if<std::string>(&state)) return "text:" + *text;
  const auto& file = std::get<FileState>(state);
  return fmt::format("file:{:04o}:{}:{}:{}", file.mode, file.owner, file.group, file.content);
}

// See Change::desired.
std::optional<std::string> FindDesiredText(const Resource& resource) {
  if (const auto* state = std::get_if<ResourceState>(&resource.desired)) {
    const auto* text = std::get_if<std::string>(state);
    return text == nullptr ? std::nullopt : std::optional(*text);
  }
  const ResourceState* observed = Known(resource.observed);
  const bool is_removed = std::holds_alternative<Absent>(resource.desired) && observed != nullptr &&
                          std::holds_alternative<std::string>(*observed);
  return is_removed ? std::optional<std::string>("") : std::nullopt;
}

Change MakeChange(const Resource& resource, std::string_view plugin) {
  Change change;
  change.kind = resource.kind;
  change.name = resource.name;
  change.is_link = resource.is_link;
  change.node = resource.node;
  change.plugin = plugin;
  change.owner = resource.owner;
  change.where = resource.where;
  change.desired = FindDesiredText(resource);
  change.fingerprint = ComputeFingerprint(resource.observed);
  const ResourceState* observed = Known(resource.observed);
  if (observed != nullptr && std::holds_alternative<FileState>(*observed)) {
    change.before = std::get<FileState>(*observed);
  }
  return change;
}

Change MakeBlocked(const Resource& resource, std::string_view plugin, std::string code,
                   std::string why) {
  Change change = MakeChange(resource, plugin);
  Block(change, std::move(code), std::move(why));
  return change;
}

// What the change looks like, for a desired state whose text is known.
void Describe(const ResourceState& desired, const ResourceState* observed, FileDiffs& diffs,
              Change& change) {
  if (const auto* file = std::get_if<FileState>(&desired)) {
    const FileState* before = observed == nullptr ? nullptr : std::get_if<FileState>(observed);
    change.diff = diffs.Show(change.name, before == nullptr ? "" : before->content, file->content);
    change.detail = before == nullptr ? SummarizeFile(*file)
                                      : DescribeFileDifference(change.name, *before, *file, diffs);
    return;
  }
  const auto& after = std::get<std::string>(desired);
  change.detail =
      observed == nullptr ? after : fmt::format("{} → {}", std::get<std::string>(*observed), after);
}

PruneCommands MakeDefaultPruneCommands(const Resource& resource) {
  PruneCommands prune_commands{.after = resource.triggers};
  for (const Action& action : resource.revert) {
    if (const auto* command = std::get_if<RunCommand>(&action))
      prune_commands.after.push_back(*command);
  }
  return prune_commands;
}

void SetActions(const Resource& resource, Change& change) {
  if (const auto* state = std::get_if<ResourceState>(&resource.desired)) {
    if (const auto* file = std::get_if<FileState>(state)) {
      WriteFile write{resource.name, *file, resource.trial};
      write.state.mtime.clear();  // of the text that it replaces
      change.actions.push_back(std::move(write));
    }
  } else if (const auto* before = Known(resource.observed);
             before != nullptr && std::holds_alternative<FileState>(*before)) {
    change.actions.push_back(RemoveFile{resource.name, resource.trial});
  }
  change.actions.insert(change.actions.end(), resource.apply.begin(), resource.apply.end());
  change.revert = resource.revert;
  change.triggers = resource.triggers;
  change.prune_commands =
      resource.prune_commands ? *resource.prune_commands : MakeDefaultPruneCommands(resource);
}

// nullptr: it shall not be there.
bool IsAs(const Resource& resource, const ResourceState* desired) {
  const ResourceState* observed = Known(resource.observed);
  if (resource.contested && observed != nullptr) return false;
  if (desired == nullptr || observed == nullptr) return desired == observed;
  return *desired == *observed;
}

bool Holds(const Resource& resource) {
  return !std::holds_alternative<KnownAfterApply>(resource.desired) &&
         IsAs(resource, std::get_if<ResourceState>(&resource.desired));
}

}  // namespace

bool HoldsOtherwise(const Resource& resource) {
  const auto* later = std::get_if<KnownAfterApply>(&resource.desired);
  if (later == nullptr || !later->otherwise) return false;
  return std::holds_alternative<KnownAfterApply::LeftAsIs>(*later->otherwise) ||
         IsAs(resource, std::get_if<ResourceState>(&*later->otherwise));
}

std::string ComputeFingerprint(const Observed<ResourceState>& observed) {
  struct Visitor {
    std::string operator()(const ResourceState& state) const { return NormalizeState(state); }
    std::string operator()(const Absent&) const { return "absent"; }
    std::string operator()(const Unknown&) const { return "unknown"; }
    std::string operator()(const Unsupported&) const { return "unsupported"; }
  };
  return ComputeSha256Hex(std::visit(Visitor{}, observed)).substr(0, 16);
}

const std::string& FileDiffs::Show(const std::string& file, std::string_view before,
                                   std::string_view after) {
  return shown_.Get(file, before, after, [&] { return MakeShownDiff(before, after); });
}

const std::string& FileDiffs::Count(const std::string& file, std::string_view before,
                                    std::string_view after) {
  return counted_.Get(file, before, after, [&] { return CountLines(before, after); });
}

std::optional<Change> Diff(const Resource& resource, std::string_view plugin) {
  FileDiffs diffs;
  return Diff(resource, plugin, diffs);
}

std::optional<Change> Diff(const Resource& resource, std::string_view plugin, FileDiffs& diffs) {
  if (const auto* unknown = std::get_if<Unknown>(&resource.observed)) {
    return MakeBlocked(resource, plugin, "plan-state-unknown", "unknown: " + unknown->why);
  }
  if (const auto* unsupported = std::get_if<Unsupported>(&resource.observed)) {
    return MakeBlocked(resource, plugin, "plan-not-supported",
                       "not supported: " + unsupported->why);
  }
  const ResourceState* observed = Known(resource.observed);
  const auto* desired = std::get_if<ResourceState>(&resource.desired);
  const auto* later = std::get_if<KnownAfterApply>(&resource.desired);
  if (Holds(resource)) return std::nullopt;
  if (!resource.blocked.empty()) {
    return MakeBlocked(resource, plugin, resource.blocked.code, resource.blocked.why);
  }

  Change change = MakeChange(resource, plugin);
  change.impact = resource.impact;
  change.interrupts = resource.interrupts;
  change.change = observed == nullptr ? ChangeKind::kAdd : ChangeKind::kModify;
  if (later != nullptr) {
    change.deferred = true;
    change.detail = "known after apply: " + later->what;
  } else if (desired != nullptr) {
    Describe(*desired, observed, diffs, change);
  } else {
    change.change = ChangeKind::kRemove;
    const auto* file = std::get_if<FileState>(observed);
    change.detail = file != nullptr ? SummarizeFile(*file) : std::get<std::string>(*observed);
    if (file != nullptr && !resource.adopts) change.diff = MakeShownDiff(file->content, "");
  }
  if (resource.adopts) change.change = ChangeKind::kAdopt;
  if (!resource.label.empty()) change.detail = resource.label;
  if (!resource.owner.name.empty()) change.diff.clear();  // of lines that are not ours
  if (!change.deferred) SetActions(resource, change);
  return change;
}

std::optional<Change> MakeHeld(const Resource& resource, std::string_view plugin) {
  const ResourceState* observed = Known(resource.observed);
  const bool by_triggers = observed != nullptr && std::holds_alternative<std::string>(*observed) &&
                           resource.apply.empty() && !resource.triggers.empty();
  if (!by_triggers || !Holds(resource) || !resource.blocked.empty()) return std::nullopt;
  Change change = MakeChange(resource, plugin);
  change.impact = resource.impact;
  change.detail = std::get<std::string>(*observed);
  SetActions(resource, change);
  return change;
}

}  // namespace reconciler
