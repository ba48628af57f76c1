#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/base/diagnostic.h"
#include "reconciler/model/resource.h"

namespace reconciler {

// kAdopt: of a file of another owner that ours takes over, and of ours where nothing else changes.
enum class ChangeKind { kAdd, kModify, kRemove, kAdopt, kBlocked };  // + ~ - > !

// Why a change is needed: what the manifest changed apart from what differs on the node since.
enum class CauseKind {
  kUnknown,          // what was applied, or what is there now, is not known
  kFirstApply,       // nothing was applied to the node yet
  kNew,              // it was not applied before
  kManifestChanged,  // it is as it was applied, and the manifest was changed since
  // It is as it was applied, and the same manifest leads to another state now: by what other nodes
  // have, or in another version of the program.
  kDesiredChanged,
  kDrifted,            // it differs from what was applied, and the manifest was not changed
  kDriftedAndChanged,  // it differs from what was applied, and the manifest was changed too
  kNotRequired,        // it was applied, and nothing requires it any more
};

struct ChangeCause {
  CauseKind kind = CauseKind::kUnknown;
  int generation = 0;  // of the apply that changed it last; 0: none did
  std::optional<std::string> applied = std::nullopt;  // see LedgerEntry
  bool HasDrifted() const {
    return kind == CauseKind::kDrifted || kind == CauseKind::kDriftedAndChanged;
  }
  bool operator==(const ChangeCause&) const = default;
};

struct Change {
  ChangeKind change = ChangeKind::kModify;
  std::string kind;
  std::string name;
  bool is_link = false;  // see Resource
  NodeName node;
  std::string plugin;
  std::string detail;  // "mtu 1500 → 9000", "(0600, 19 lines)", or why it is blocked
  std::string code;    // of a blocked one: see Diagnostic
  OtherOwner owner;
  std::string diff;  // unified diff of a file's content
  std::vector<Action> actions;
  std::vector<Action> revert;
  std::vector<RunCommand> triggers;
  Impact impact = Impact::kNone;
  std::string interrupts;   // see Resource
  bool deferred = false;    // known after apply: carried out by the next pass
  std::string fingerprint;  // digest of the observed state that this change was planned from
  SourceMark where;
  std::optional<FileState> before = std::nullopt;  // of a file that is there
  PruneCommands prune_commands;                    // how it is pruned later (see Resource)
  bool prune = false;                              // prunes what the manifest no longer requires
  // Only of a prune, from Plugin::check_prune to the planner; empty in a plan. As Resource::needs.
  std::vector<std::string> needs;
  // What it is compared by, where that is a text that is known; "": it shall not be there.
  std::optional<std::string> desired = std::nullopt;
  ChangeCause cause;

  std::string Id() const { return node + "/" + kind + "/" + name; }
  bool operator==(const Change&) const = default;
};

// Changes without an order between them. Per node they run in the order listed, then the triggers.
struct Stage {
  std::vector<std::string> plugins;
  std::vector<Change> changes;  // blocked ones included; they have no actions
  // Resources that hold already, and that triggers of `changes` set all the same: nothing is
  // carried out for them, and the ledger learns how they return to what they were.
  std::vector<Change> held;
  bool operator==(const Stage&) const = default;
};

struct PlanNode {
  NodeName name;
  std::string address;
  std::string session_interface;
  int generation = 0;       // of the last apply that the node remembers; 0: none
  std::string unreachable;  // why it could not be read; empty: it was
  // Ids ("kind/name") that the ledger drops without a change: nothing requires them, and they are
  // as they were before us, or cannot be reverted.
  std::vector<std::string> dropped;
  bool operator==(const PlanNode&) const = default;
};

// Everything that will happen. The same manifest and facts give the same bytes.
struct Plan {
  std::string cluster;
  std::string summary;            // "2 nodes · one cable p1–p1 · mtu 9000"
  std::string manifest;           // the file it was made from, as the user named it
  std::string spec_digest;        // ClusterSpec::digest
  std::string id;                 // digest of all that follows
  std::vector<std::string> only;  // the plugins it is limited to; empty: all
  std::vector<PlanNode> nodes;
  std::vector<Stage> stages;
  // Worst first; of blocked changes too, whose `change` names them.
  std::vector<Diagnostic> diagnostics;
  bool overwrite_edited = false;   // files that someone edited since we wrote them, too
  bool allow_half_cables = false;  // links whose other end is blocked are changed all the same
  bool uninstall = false;          // nothing is required: all that the ledgers hold is pruned
  bool operator==(const Plan&) const = default;

  std::size_t ChangeCount() const;  // without the blocked ones
  std::size_t BlockedCount() const;
  std::size_t WarningCount() const;
  bool IsRefused() const;  // a diagnostic blocks everything
  // The nodes are not as the manifest says: changes, blocked ones, warnings, or a refusal.
  bool IsPending() const;
  bool Empty() const { return ChangeCount() == 0; }
};

// Whether what is carried out on the node in `stage` runs a trigger of `held`, which it shares.
bool IsSetBy(const Stage& stage, const Change& held);

// Takes its steps away and says why it is left alone. `code`: see Diagnostic.
void Block(Change& change, std::string code, std::string why);

}  // namespace reconciler
