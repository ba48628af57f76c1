#include "reconciler/planning/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "reconciler/base/digest.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/found/locate_ports.h"
#include "reconciler/planning/diff.h"
#include "reconciler/planning/foreign.h"

namespace reconciler {
namespace {

constexpr std::int64_t kMaxPrune = 10;  // where the manifest was made without the schema's default

std::int64_t FindMaxPrune(const ClusterSpec& cluster) {
  const Value* value = cluster.settings.Find("max_prune");
  const std::int64_t* most = value == nullptr ? nullptr : value->AsInteger();
  return most == nullptr ? kMaxPrune : *most;
}

Observed<ResourceState> ToState(const Observed<FileState>& file) {
  if (const FileState* state = Known(file)) return ResourceState(*state);
  if (const auto* unknown = std::get_if<Unknown>(&file)) return *unknown;
  if (const auto* unsupported = std::get_if<Unsupported>(&file)) return *unsupported;
  return Absent{};
}

// Whether an argument of a command names the interface: the whole of it, or a part between signs
// that no name contains, as in net.ipv4.conf.NAME.rp_filter.
bool NamesInterface(std::string_view argument, std::string_view interface) {
  const auto ends_name = [](char sign) {
    return std::isalnum(static_cast<unsigned char>(sign)) == 0 && sign != '-' && sign != '_';
  };
  for (std::size_t at = argument.find(interface); at != std::string_view::npos;
       at = argument.find(interface, at + 1)) {
    const std::size_t end = at + interface.size();
    if ((at == 0 || ends_name(argument[at - 1])) &&
        (end == argument.size() || ends_name(argument[end]))) {
      return true;
    }
  }
  return false;
}

// Whether a step of the change names the interface.
bool TouchesInterface(const Change& change, const std::string& interface) {
  if (interface.empty()) return false;
  const auto names = [&](const RunCommand& command) {
    return std::any_of(command.argv.begin(), command.argv.end(),
                       [&](const std::string& word) { return NamesInterface(word, interface); });
  };
  return std::any_of(change.triggers.begin(), change.triggers.end(), names) ||
         std::any_of(change.actions.begin(), change.actions.end(), [&](const Action& action) {
           const auto* command = std::get_if<RunCommand>(&action);
           return command != nullptr && names(*command);
         });
}

// Interfaces of which each may be a port of the node's profile.
std::vector<std::string> ListUnclear(const ClusterSpec& cluster, const NodeFacts& facts) {
  std::vector<std::string> netdevs;
  const NodeSpec* node = cluster.FindNode(facts.node);
  const Hardware* profile = node == nullptr ? nullptr : cluster.FindHardware(*node);
  if (profile == nullptr) return netdevs;
  for (const UnclearPorts& ports : LocatePorts(*profile, facts).unclear) {
    for (const Twin& port : ports.candidates) netdevs.push_back(port.netdev);
  }
  return netdevs;
}

// It was made by a command that nothing reverts.
bool IsKeptEntry(const LedgerEntry& entry) {
  return entry.original.empty() && entry.triggers.empty();
}

// A public key for the cluster: "TYPE KEY spark-reconcile CLUSTER NODE".
bool IsOwnPublicKey(const FileState& file, const ClusterSpec& cluster) {
  const std::vector<std::string> words = Split(std::string(Trim(file.content)), ' ');
  return words.size() == 5 && words[2] == "spark-reconcile" && cluster.Owns(words[3]);
}

// It was another owner's file.
bool WasRemoved(const LedgerEntry& entry) {
  const Action* file = FindFileAction(entry.original);
  return file != nullptr && std::holds_alternative<WriteFile>(*file) && entry.digest.empty();
}

// One node's entries, judged one by one.
class Pruner {
 public:
  Pruner(const ClusterSpec& cluster, const NodeFacts& facts, const Ledger& ledger,
         const PlanScope& scope)
      : cluster_(cluster),
        facts_(facts),
        ledger_(ledger),
        unclear_(scope.uninstall ? std::vector<std::string>() : ListUnclear(cluster, facts)),
        why_(scope.uninstall ? "uninstall: " : "no longer in the manifest: ") {}

  void Add(const LedgerEntry& entry, Prunes& prunes) const {
    if (IsKeptEntry(entry)) {
      prunes.dropped.push_back(entry.Id());
      prunes.kept.push_back(entry.Id());
      return;
    }
    const Action* file = FindFileAction(entry.original);
    auto change =
        file != nullptr ? MakeFilePrune(entry, *file) : std::optional(MakeCommandPrune(entry));
    if (!change) {
      prunes.dropped.push_back(entry.Id());
      if (IsMadeAgain(entry)) prunes.made_again.push_back(entry.name);
      return;
    }
    // The session's own interface is left alone whatever the ledger says.
    if (change->change != ChangeKind::kBlocked &&
        TouchesInterface(*change, facts_.session.interface)) {
      Block(*change, "plan-session-interface",
            facts_.session.interface + " carries this session and is never touched");
    }
    BlockIfUnclear(*change);
    prunes.changes.push_back(std::move(*change));
  }

 private:
  // It may be required still, under the name that the ledger has.
  void BlockIfUnclear(Change& change) const {
    for (const std::string& netdev : unclear_) {
      if (change.change == ChangeKind::kBlocked || !TouchesInterface(change, netdev)) continue;
      Block(change, "plan-port-unclear",
            fmt::format("left as it is until it is clear whether {} is a port of the fabric",
                        netdev));
    }
  }

  Change MakeDropped(const LedgerEntry& entry) const {
    Change change{.kind = entry.kind,
                  .name = entry.name,
                  .is_link = entry.is_link,
                  .node = facts_.node,
                  .plugin = entry.plugin,
                  .actions = entry.original,
                  .triggers = entry.triggers,
                  .impact = entry.impact,
                  .prune = true,
                  .cause = {.kind = CauseKind::kNotRequired,
                            .generation = entry.generation,
                            .applied = entry.applied}};
    for (const RunCommand& command : entry.again) change.revert.push_back(command);
    return change;
  }

  // Nothing reads what nothing requires: that the command succeeds is all that is known of it.
  Change MakeCommandPrune(const LedgerEntry& entry) const {
    Change change = MakeDropped(entry);
    const std::size_t steps = entry.original.size() + entry.triggers.size();
    const auto* one = !entry.original.empty() ? std::get_if<RunCommand>(&entry.original.front())
                                              : &entry.triggers.front();
    change.detail =
        why_ + (steps == 1 && one != nullptr ? fmt::format("set back by {}", Join(one->argv, " "))
                                             : std::string("set back"));
    change.fingerprint = ComputeSha256Hex(entry.Id()).substr(0, 16);
    return change;
  }

  // nullopt: there is nothing of ours any more.
  std::optional<Change> MakeFilePrune(const LedgerEntry& entry, const Action& original) const {
    const Observed<FileState> observed = FindFile(facts_, entry.name);
    Change change = MakeDropped(entry);
    change.fingerprint = ComputeFingerprint(ToState(observed));
    if (const auto* unknown = std::get_if<Unknown>(&observed)) {
      Block(change, "plan-state-unknown", "unknown: " + unknown->why);
      return change;
    }
    const FileState* now = Known(observed);
    const auto* write = std::get_if<WriteFile>(&original);
    if (now == nullptr && (write == nullptr || !entry.digest.empty())) return std::nullopt;
    if (now != nullptr && write != nullptr && *now == write->state) return std::nullopt;
    if (now != nullptr) change.before = *now;
    const std::string digest = now == nullptr ? "" : ComputeSha256Hex(now->content);
    if (IsMadeAgain(entry)) return std::nullopt;
    if (digest != entry.digest) return BlockIfEdited(entry, *now, std::move(change));
    return MakeWholeFilePrune(now, write, std::move(change));
  }

  // By its owner, after we had removed it.
  bool IsMadeAgain(const LedgerEntry& entry) const {
    return WasRemoved(entry) && Known(FindFile(facts_, entry.name)) != nullptr;
  }

  Change MakeWholeFilePrune(const FileState* now, const WriteFile* write, Change change) const {
    change.change = write == nullptr ? ChangeKind::kRemove : ChangeKind::kModify;
    change.detail = why_ + (write == nullptr ? "removed" : "as it was before");
    change.diff = MakeShownDiff(now == nullptr ? "" : now->content,
                                write == nullptr ? "" : write->state.content);
    return change;
  }

  std::optional<Change> BlockIfEdited(const LedgerEntry& entry, const FileState& now,
                                      Change change) const {
    FileState rest = now;
    rest.mtime.clear();
    for (const std::string& name : {ledger_.cluster, cluster_.name, cluster_.former_name}) {
      if (!name.empty()) rest.content = RemoveBlocks(rest.content, name);
    }
    if (rest.content == now.content) {
      if (entry.shared) return std::nullopt;
      const bool had_text = std::holds_alternative<WriteFile>(*FindFileAction(entry.original));
      Block(change, "plan-file-edited",
            fmt::format("{}edited on the node since generation {}: {}", why_, entry.generation,
                        had_text ? "restore the text that was written, and its former text is "
                                   "written back; or leave it as it is"
                                 : "remove it by hand, or restore the text that was written"));
      return change;
    }
    const bool ours_alone =
        rest.content.empty() && std::holds_alternative<RemoveFile>(*FindFileAction(entry.original));
    change.change = ours_alone ? ChangeKind::kRemove : ChangeKind::kModify;
    change.detail = why_ + (ours_alone ? "removed" : "our block removed");
    change.diff = MakeShownDiff(now.content, rest.content);
    for (Action& action : change.actions) {
      if (std::holds_alternative<RunCommand>(action)) continue;
      const Trial trial = GetTrial(action);
      action = ours_alone ? Action(RemoveFile{entry.name, trial})
                          : Action(WriteFile{entry.name, rest, trial});
    }
    return change;
  }

  const ClusterSpec& cluster_;
  const NodeFacts& facts_;
  const Ledger& ledger_;
  std::vector<std::string> unclear_;
  std::string why_;
};

// Files of others that we removed come again when all of ours is gone: their commands bring them to
// effect, and nothing of ours may set anything after that.
void PutRemovedLast(const Ledger& ledger, std::vector<Change>& prunes) {
  const auto is_ours = [&](const Change& change) {
    const LedgerEntry* entry = ledger.Find(change.kind + "/" + change.name);
    return entry == nullptr || !WasRemoved(*entry);
  };
  std::stable_partition(prunes.begin(), prunes.end(), is_ours);
}

}  // namespace

Prunes PruneNode(const ClusterSpec& cluster, const NodeFacts& facts,
                 const std::set<std::string>& required, const PlanScope& scope) {
  Prunes prunes;
  const Ledger* ledger = Known(facts.ledger);
  if (ledger == nullptr || !cluster.Owns(ledger->cluster)) return prunes;
  const Pruner pruner(cluster, facts, *ledger, scope);
  for (auto entry = ledger->entries.rbegin(); entry != ledger->entries.rend(); ++entry) {
    const bool selected = scope.only.empty() || std::find(scope.only.begin(), scope.only.end(),
                                                          entry->plugin) != scope.only.end();
    if (selected && !required.contains(entry->Id())) pruner.Add(*entry, prunes);
  }
  PutRemovedLast(*ledger, prunes.changes);
  const auto most = FindMaxPrune(cluster);
  const auto count =
      std::count_if(prunes.changes.begin(), prunes.changes.end(),
                    [](const Change& change) { return change.change != ChangeKind::kBlocked; });
  if (scope.uninstall || count <= most) return prunes;
  for (Change& change : prunes.changes) {
    if (change.change == ChangeKind::kBlocked) continue;
    Block(change, "plan-max-prune",
          fmt::format("no longer in the manifest, as {} things on this node, and max_prune "
                      "is {}: raise it in the manifest if they shall all go",
                      count, most));
  }
  return prunes;
}

void BlockBesideOurs(const Ledger& ledger, std::vector<Change>& prunes) {
  for (Change& change : prunes) {
    const LedgerEntry* entry = ledger.Find(change.kind + "/" + change.name);
    if (entry == nullptr || !WasRemoved(*entry) || change.change == ChangeKind::kBlocked) continue;
    const auto stays = std::find_if(prunes.begin(), prunes.end(), [&](const Change& other) {
      const LedgerEntry* ours = ledger.Find(other.kind + "/" + other.name);
      return other.change == ChangeKind::kBlocked && other.plugin == change.plugin &&
             ours != nullptr && !ours->digest.empty();
    });
    if (stays == prunes.end()) continue;
    Block(change, "plan-beside-ours",
          fmt::format("comes back only when {} is pruned, which is blocked", stays->name));
  }
}

std::vector<std::string> FindKeptNames(const ClusterSpec& cluster, const NodeFacts& facts) {
  constexpr std::string_view kPublicSuffix = ".pub";
  std::vector<std::string> names;
  const Ledger* ledger = Known(facts.ledger);
  if (ledger != nullptr && cluster.Owns(ledger->cluster)) {
    for (const LedgerEntry& entry : ledger->entries) {
      if (IsKeptEntry(entry)) names.push_back(entry.name);
    }
  }
  for (const auto& [path, observed] : facts.files) {
    const FileState* file = Known(observed);
    const bool found =
        file != nullptr && path.ends_with(kPublicSuffix) && IsOwnPublicKey(*file, cluster);
    if (!found) continue;
    std::string pair = path.substr(0, path.size() - kPublicSuffix.size());
    if (std::find(names.begin(), names.end(), pair) == names.end()) names.push_back(pair);
  }
  return names;
}

std::string ExplainEdited(const Resource& resource, const NodeFacts& facts) {
  const Ledger* ledger = Known(facts.ledger);
  const ResourceState* observed = Known(resource.observed);
  const auto* file = observed == nullptr ? nullptr : std::get_if<FileState>(observed);
  if (ledger == nullptr || file == nullptr) return {};
  const LedgerEntry* entry = ledger->Find(resource.kind + "/" + resource.name);
  if (entry == nullptr || entry->shared || entry->digest.empty()) return {};
  const auto* desired = std::get_if<ResourceState>(&resource.desired);
  const auto* wanted = desired == nullptr ? nullptr : std::get_if<FileState>(desired);
  if (wanted != nullptr && wanted->content == file->content) return {};
  if (ComputeSha256Hex(file->content) == entry->digest) return {};
  return fmt::format("edited on the node since generation {}: --overwrite-edited writes it again",
                     entry->generation);
}

}  // namespace reconciler
