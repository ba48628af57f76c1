#include "reconciler/planning/change_cause.h"

#include <optional>
#include <string>

#include "reconciler/base/digest.h"

namespace reconciler {
namespace {

// By what two states of one thing differ, as far as a ledger keeps it: the digest of a file's
// content, or the text; empty: not there. nullopt: not known.
using Key = std::optional<std::string>;

Key MakeKey(const ResourceState& state) {
  const auto* file = std::get_if<FileState>(&state);
  return file != nullptr ? ComputeSha256Hex(file->content) : std::get<std::string>(state);
}

Key MakeObservedKey(const Resource& resource) {
  if (const ResourceState* state = Known(resource.observed)) return MakeKey(*state);
  return std::holds_alternative<Absent>(resource.observed) ? Key("") : std::nullopt;
}

Key MakeDesiredKey(const Resource& resource) {
  if (const auto* state = std::get_if<ResourceState>(&resource.desired)) return MakeKey(*state);
  return std::holds_alternative<Absent>(resource.desired) ? Key("") : std::nullopt;
}

Key FindAppliedKey(const LedgerEntry& entry) {
  if (entry.applied) return entry.applied;
  const bool is_file = !entry.digest.empty() || FindFileAction(entry.original) != nullptr;
  return is_file ? Key(entry.digest) : std::nullopt;
}

CauseKind Compare(const Resource& resource, const LedgerEntry& entry, bool same_manifest) {
  const Key applied = FindAppliedKey(entry);
  const Key observed = MakeObservedKey(resource);
  const Key desired = MakeDesiredKey(resource);
  if (!observed) return CauseKind::kUnknown;
  // In a file that others write too, their lines may be what differs.
  const bool is_ours = !entry.shared || observed == applied || desired == applied;
  const bool is_known = applied && is_ours;
  if (!is_known) return same_manifest ? CauseKind::kDrifted : CauseKind::kUnknown;
  if (!desired) return observed == applied ? CauseKind::kUnknown : CauseKind::kDrifted;
  if (desired == applied) return CauseKind::kDrifted;
  if (observed != applied) {
    return same_manifest ? CauseKind::kDrifted : CauseKind::kDriftedAndChanged;
  }
  return same_manifest ? CauseKind::kDesiredChanged : CauseKind::kManifestChanged;
}

}  // namespace

ChangeCause FindChangeCause(const Resource& resource, const NodeFacts& facts,
                            const ClusterSpec& cluster) {
  if (std::holds_alternative<Unknown>(facts.ledger)) return {};
  const Ledger* ledger = Known(facts.ledger);
  if (ledger == nullptr || !cluster.Owns(ledger->cluster)) return {CauseKind::kFirstApply};
  const LedgerEntry* entry = ledger->Find(resource.kind + "/" + resource.name);
  if (entry == nullptr) return {CauseKind::kNew};
  return {.kind = Compare(resource, *entry, ledger->manifest_digest == cluster.digest),
          .generation = entry->generation,
          .applied = entry->applied};
}

}  // namespace reconciler
