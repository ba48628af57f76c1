#include "reconciler/planning/plan_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "reconciler/base/digest.h"
#include "reconciler/base/last_result.h"
#include "reconciler/base/name_pattern.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/found/locate_ports.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/adopt/find_adoptable.h"
#include "reconciler/planning/change_cause.h"
#include "reconciler/planning/dependents.h"
#include "reconciler/planning/diagnostics.h"
#include "reconciler/planning/diff.h"
#include "reconciler/planning/foreign.h"
#include "reconciler/planning/half_cable.h"
#include "reconciler/planning/ledger.h"
#include "reconciler/planning/may_apply.h"
#include "reconciler/planning/nul_byte.h"
#include "reconciler/planning/order.h"
#include "reconciler/planning/prune.h"
#include "reconciler/planning/unfinished.h"

namespace reconciler {
namespace {

Error MakeScopeError(std::string message, const std::vector<std::string>& known) {
  return {.kind = ErrorKind::kUsage,
          .message = std::move(message),
          .hint = fmt::format("known: {}", Join(known, ", "))};
}

Error MakeUnknownError(std::string_view what, const std::string& name,
                       const std::vector<std::string>& known) {
  const auto close = FindClosestMatch(name, known);
  return MakeScopeError(fmt::format("unknown {} '{}'{}", what, name,
                                    close ? fmt::format(", did you mean '{}'?", *close) : ""),
                        known);
}

Result<void> RequirePlugins(const std::vector<std::string>& required,
                            const std::vector<std::string>& known) {
  for (const std::string& name : required) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return Fail(MakeUnknownError("plugin", name, known));
  }
  return {};
}

// Each entry matches a node, and some node is left.
Result<void> RequireNodes(const std::vector<std::string>& entries,
                          const std::vector<std::string>& known) {
  for (const std::string& entry : entries) {
    if (std::any_of(known.begin(), known.end(),
                    [&](const std::string& name) { return MatchesName(entry, name); })) {
      continue;
    }
    const std::string name = entry.starts_with('!') ? entry.substr(1) : entry;
    if (!IsNamePattern(name)) return Fail(MakeUnknownError("node", name, known));
    return Fail(MakeScopeError(fmt::format("no node matches '{}'", name), known));
  }
  if (std::none_of(known.begin(), known.end(),
                   [&](const std::string& name) { return IsNameSelected(entries, name); })) {
    return Fail(MakeScopeError("--node and --exclude leave no node", known));
  }
  return {};
}

// The plan's line names node and address already.
std::string RemovePlace(const std::string& why, const NodeSpec& node) {
  for (const std::string& place :
       {fmt::format("{} ({}): ", node.name, node.address),
        fmt::format("{} ({}:{}): ", node.name, node.address, node.access.port), node.name + ": "}) {
    if (why.starts_with(place)) return why.substr(place.size());
  }
  return why;
}

std::vector<PlanNode> ListPlanNodes(const ClusterSpec& cluster, const ClusterFacts& facts,
                                    const PlanScope& scope) {
  std::vector<PlanNode> nodes;
  for (const NodeSpec& node : cluster.nodes) {
    if (!IsNameSelected(scope.nodes, node.name)) continue;
    PlanNode entry{.name = node.name, .address = node.address};
    if (const auto found = facts.nodes.find(node.name); found != facts.nodes.end()) {
      entry.session_interface = found->second.session.interface;
      const Ledger* ledger = Known(found->second.ledger);
      if (ledger != nullptr) entry.generation = ledger->generation;
    } else if (const auto error = facts.unreachable.find(node.name);
               error != facts.unreachable.end()) {
      entry.unreachable = RemovePlace(error->second.message, node);
    } else {
      entry.unreachable = "no facts";
    }
    nodes.push_back(std::move(entry));
  }
  return nodes;
}

}  // namespace

Result<void> CheckScope(const ClusterSpec& cluster, const std::vector<Plugin>& plugins,
                        const PlanScope& scope) {
  std::vector<std::string> nodes;
  for (const NodeSpec& node : cluster.nodes) nodes.push_back(node.name);
  if (auto known = RequireNodes(scope.nodes, nodes); !known) return known;
  std::vector<std::string> names;
  for (const Plugin& plugin : plugins) names.emplace_back(plugin.name);
  return RequirePlugins(scope.only, names);
}

namespace {

// Change by change: neither the document of a large cluster nor a second plan is ever in memory as
// a whole.
class PlanDigest {
 public:
  explicit PlanDigest(bool hides_foreign) : hides_foreign_(hides_foreign) {}

  std::string Compute(const Plan& plan) {
    std::string digests;
    for (const Stage& stage : plan.stages) {
      digests += "stage " + Join(stage.plugins, " ") + '\n';
      for (const Change& change : stage.changes) digests += ComputeChange(change) + '\n';
      for (const Change& change : stage.held) digests += "held " + ComputeChange(change) + '\n';
    }
    Plan rest{.cluster = plan.cluster,
              .summary = plan.summary,
              .manifest = plan.manifest,
              .spec_digest = plan.spec_digest,
              .only = plan.only,
              .nodes = plan.nodes,
              .diagnostics = plan.diagnostics,
              .overwrite_edited = plan.overwrite_edited,
              .allow_half_cables = plan.allow_half_cables,
              .uninstall = plan.uninstall};
    return ComputeSha256Hex(Dump(ToJson(rest)) + digests);
  }

 private:
  // By value: its long texts are taken out and digested as they are, since as JSON each would be
  // escaped, checked and copied, which is most of the work in a large cluster.
  std::string ComputeChange(Change change) {
    const std::string about = change.kind + "/" + change.name;
    std::string texts =
        diffs_.Get(about, change.diff, "", [&] { return ComputeSha256Hex(change.diff); });
    change.diff.clear();
    for (Action& action : change.actions) {
      auto* file = std::get_if<WriteFile>(&action);
      if (file == nullptr) continue;
      const std::string& content = file->state.content;
      texts += contents_.Get(about, content, "", [&] {
        return ComputeSha256Hex(hides_foreign_ ? HideForeignLines(content) : content);
      });
      file->state.content.clear();
    }
    if (hides_foreign_) HideForeignContent(change);
    return ComputeSha256Hex(FormatJson(change) + texts);
  }

  bool hides_foreign_;
  LastResult<std::string> diffs_ = {};
  LastResult<std::string> contents_ = {};
};

}  // namespace

std::string ComputePlanDigest(const Plan& plan) {
  return PlanDigest(/*hides_foreign=*/false).Compute(plan);
}

namespace {

// All that one plan is made from, and the plan as far as it is made.
class Planner {
 public:
  // `elsewhere`: where ports have other names than those of the manifest's profiles.
  Planner(const LocatedCluster& cluster, std::vector<Diagnostic> elsewhere,
          const ClusterFacts& facts, const std::vector<Plugin>& plugins, const PlanScope& scope)
      : cluster_(cluster.spec()),
        fabric_(cluster.fabric()),
        facts_(facts),
        plugins_(plugins),
        scope_(scope),
        offers_(cluster_, FindAdoptable(cluster_, fabric_, facts, plugins)),
        elsewhere_(std::move(elsewhere)) {}

  Plan Make(const std::vector<std::vector<std::size_t>>& stages) {
    plan_.cluster = cluster_.name;
    plan_.summary =
        fmt::format("{} · {} · mtu {}", FormatPlural(cluster_.nodes.size(), "node", "nodes"),
                    fabric_.summary, cluster_.fabric.mtu);
    plan_.manifest = cluster_.file;
    plan_.spec_digest = cluster_.digest;
    plan_.only = scope_.only;
    plan_.overwrite_edited = scope_.overwrite_edited;
    plan_.allow_half_cables = scope_.allow_half_cables;
    plan_.uninstall = scope_.uninstall;
    plan_.nodes = ListPlanNodes(cluster_, facts_, scope_);
    CollectResources();
    AddStages(stages);
    BlockDependents(
        needs_,
        scope_.allow_half_cables ? std::vector<Segment>() : ListJointCables(fabric_, facts_), plan_,
        hold_otherwise_);
    LimitToSelected();
    LimitHeld();
    AddDiagnostics();
    // What reads a saved plan, which holds nothing foreign, must come to the same.
    plan_.id = PlanDigest(/*hides_foreign=*/true).Compute(plan_);
    return std::move(plan_);
  }

 private:
  bool IsRead(const NodeSpec& node) const {
    return facts_.nodes.contains(node.name) && IsNameSelected(scope_.nodes, node.name);
  }

  // What every plugin requires of each node, and what of the ledgers nothing requires.
  void CollectResources() {
    for (PlanNode& plan_node : plan_.nodes) {
      const NodeSpec& node = *cluster_.FindNode(plan_node.name);
      if (!IsRead(node)) continue;
      const NodeFacts& facts = facts_.nodes.at(node.name);
      const PluginInput input{cluster_, fabric_, node, facts, facts_, scope_.uninstall, &offers_};
      std::vector<std::vector<Resource>>& wanted = wanted_[node.name];
      std::set<std::string> required;
      for (const Plugin& plugin : plugins_) {
        const bool is_required = plugin.resources != nullptr && !scope_.uninstall;
        wanted.push_back(is_required ? plugin.resources(input) : std::vector<Resource>());
        for (const Resource& one : wanted.back()) required.insert(one.kind + "/" + one.name);
        std::erase_if(wanted.back(), [](const Resource& one) { return one.left_as_is; });
      }
      Prunes prunes = PruneNode(cluster_, facts, required, scope_);
      std::erase_if(prunes.changes,
                    [&](const Change& change) { return scope_.pruned.contains(change.Id()); });
      CheckPrunes(input, prunes);
      if (const Ledger* ledger = Known(facts.ledger)) BlockBesideOurs(*ledger, prunes.changes);
      plan_node.dropped = std::move(prunes.dropped);
      NoteKept(node, prunes.kept);
      NoteMadeAgain(node, prunes.made_again);
      prunes_[node.name] = std::move(prunes.changes);
    }
  }

  void CheckPrunes(const PluginInput& input, Prunes& prunes) {
    std::vector<Change> checked;
    for (Change& change : prunes.changes) {
      const Ownership owner = CheckPrune(input, change);
      if (owner != Ownership::kOurs) prunes.dropped.push_back(change.kind + "/" + change.name);
      if (owner == Ownership::kNoOnes) {
        kept_.push_back({.code = "plan-not-restored",
                         .message = std::move(change.detail),
                         .nodes = {input.node.name}});
        continue;
      }
      BlockIfNul(change);
      if (!change.needs.empty()) needs_.emplace(change.Id(), std::exchange(change.needs, {}));
      checked.push_back(std::move(change));
    }
    prunes.changes = std::move(checked);
  }

  Ownership CheckPrune(const PluginInput& input, Change& change) const {
    const auto plugin = std::find_if(plugins_.begin(), plugins_.end(), [&](const Plugin& one) {
      return one.name == change.plugin && one.check_prune != nullptr;
    });
    if (plugin == plugins_.end() || change.change == ChangeKind::kBlocked) return Ownership::kOurs;
    return plugin->check_prune(input, change);
  }

  // What stays of what was made on the node. `ids`: what the ledger drops of it.
  void NoteKept(const NodeSpec& node, const std::vector<std::string>& ids) {
    std::set<std::string> names;
    for (const std::string& id : ids) {
      names.insert(id.substr(id.find('/') + 1));
      AddKept(node, id);
    }
    if (!scope_.uninstall) return;
    for (const std::string& name : FindKeptNames(cluster_, facts_.nodes.at(node.name))) {
      if (!names.contains(name)) AddKept(node, name);
    }
  }

  void NoteMadeAgain(const NodeSpec& node, const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      kept_.push_back({.code = "plan-made-again",
                       .message = fmt::format("{} was removed by an apply and made again since: it "
                                              "is left as it is",
                                              file),
                       .subject = file,
                       .nodes = {node.name}});
    }
  }

  void AddKept(const NodeSpec& node, const std::string& subject) {
    kept_.push_back(
        {.code = "plan-kept",
         .message = fmt::format(
             "{} stays: it was made here, and taking it away could lose something", subject),
         .subject = subject,
         .nodes = {node.name}});
  }

  void AddStages(const std::vector<std::vector<std::size_t>>& stages) {
    AddFirstPrunes();
    for (const auto& members : stages) AddStage(members, &members == &stages.back());
  }

  void AddFirstPrunes() {
    std::vector<std::size_t> members;
    Stage stage;
    for (std::size_t index = 0; index < plugins_.size(); ++index) {
      if (!plugins_[index].is_pruned_first) continue;
      members.push_back(index);
      stage.plugins.emplace_back(plugins_[index].name);
    }
    for (const NodeSpec& node : cluster_.nodes) {
      if (IsRead(node)) AddPrunes(node, members, /*last=*/false, stage);
    }
    if (!stage.changes.empty()) plan_.stages.push_back(std::move(stage));
  }

  void AddStage(const std::vector<std::size_t>& members, bool last) {
    Stage stage;
    std::vector<std::size_t> others;  // whose prunes belong here
    for (const std::size_t index : members) {
      if (!plugins_[index].is_pruned_first) others.push_back(index);
      if (IsSelected(scope_.only, plugins_[index].name))
        stage.plugins.emplace_back(plugins_[index].name);
    }
    for (const NodeSpec& node : cluster_.nodes) {
      if (!IsRead(node)) continue;
      for (const std::size_t index : members) AddResources(node, index, stage);
      AddPrunes(node, others, last, stage);
    }
    if (!stage.changes.empty()) plan_.stages.push_back(std::move(stage));
  }

  // What --only leaves out was there until here, since what is blocked of it holds up others.
  void LimitToSelected() {
    const auto is_left_out = [&](const Change& change) {
      return !change.prune && !IsSelected(scope_.only, change.plugin);
    };
    for (Stage& stage : plan_.stages) {
      std::erase_if(stage.changes, is_left_out);
      std::erase_if(stage.held, is_left_out);
    }
    std::erase_if(plan_.stages, [](const Stage& stage) { return stage.changes.empty(); });
  }

  // To what the changes that are left set.
  void LimitHeld() {
    for (Stage& stage : plan_.stages) {
      std::erase_if(stage.held, [&](const Change& held) { return !IsSetBy(stage, held); });
    }
  }

  void AddResources(const NodeSpec& node, std::size_t plugin, Stage& stage) {
    // Taken out, so that no node's files are in memory twice.
    std::vector<Resource> resources = std::move(wanted_.at(node.name)[plugin]);
    std::set<std::string> edited;  // ids
    for (Resource& resource : resources) {
      const bool blocks = !scope_.overwrite_edited && resource.blocked.empty() &&
                          BlockIfEdited(resource, facts_.nodes.at(node.name));
      if (blocks) edited.insert(resource.Id());
    }
    BlockActivation(resources, edited);
    for (Resource& resource : resources) {
      auto change = Diff(resource, plugins_[plugin].name, diffs_);
      if (!change) {
        if (auto held = MakeHeld(resource, plugins_[plugin].name)) stage.held.push_back(*held);
        continue;
      }
      change->cause = FindChangeCause(resource, facts_.nodes.at(node.name), cluster_);
      BlockIfNul(*change);
      ShowEdit(resource, *change);
      if (change->deferred && HoldsOtherwise(resource)) hold_otherwise_.insert(change->Id());
      if (!resource.needs.empty()) needs_.emplace(change->Id(), std::move(resource.needs));
      if (!resource.settles.empty()) settles_.emplace(change->Id(), std::move(resource.settles));
      stage.changes.push_back(std::move(*change));
    }
  }

  // What --overwrite-edited would write.
  static void ShowEdit(const Resource& resource, Change& change) {
    const ResourceState* observed = Known(resource.observed);
    const auto* file = observed == nullptr ? nullptr : std::get_if<FileState>(observed);
    if (change.code != "plan-file-edited" || file == nullptr || !IsFile(resource)) return;
    const auto& wanted = std::get<FileState>(std::get<ResourceState>(resource.desired));
    change.diff = MakeShownDiff(file->content, wanted.content);
  }

  static bool BlockIfEdited(Resource& resource, const NodeFacts& facts) {
    resource.blocked = {.code = "plan-file-edited", .why = ExplainEdited(resource, facts)};
    return !resource.blocked.empty();
  }

  // What brings an edited file to effect stays as it is too: it names the file, or has a trigger
  // that only edited files have.
  static void BlockActivation(std::vector<Resource>& resources, std::set<std::string>& edited) {
    std::map<std::string, const Resource*> files;      // name → the edited file
    std::map<std::string, const Resource*> activates;  // id of a trigger → the edited file
    std::set<std::string> others;                      // ids that files have that no one edited
    for (const Resource& resource : resources) {
      if (edited.contains(resource.Id())) files.emplace(resource.name, &resource);
      for (const RunCommand& trigger : resource.triggers) {
        if (edited.contains(resource.Id())) activates.emplace(trigger.id, &resource);
        if (!edited.contains(resource.Id()) && IsFile(resource)) others.insert(trigger.id);
      }
    }
    const auto find_edited = [&](const Resource& resource) -> const Resource* {
      if (const auto named = files.find(resource.activates); named != files.end()) {
        return named->second;
      }
      for (const RunCommand& trigger : resource.triggers) {
        const auto file = activates.find(trigger.id);
        if (trigger.id.empty() || file == activates.end() || others.contains(trigger.id)) continue;
        return file->second;
      }
      return nullptr;
    };
    std::set<std::string> held;
    for (Resource& resource : resources) {
      if (IsFile(resource) || !resource.blocked.empty()) continue;
      const Resource* file = find_edited(resource);
      if (file == nullptr) continue;
      resource.blocked = {.code = "plan-file-edited",
                          .why = fmt::format("this would activate {}, which was {}", file->name,
                                             file->blocked.why)};
      held.insert(resource.Id());
    }
    edited.merge(held);
  }

  static bool IsFile(const Resource& resource) {
    const auto* state = std::get_if<ResourceState>(&resource.desired);
    return state != nullptr && std::holds_alternative<FileState>(*state);
  }

  // Those of `members`; of a plugin that is no more, in the last stage.
  void AddPrunes(const NodeSpec& node, const std::vector<std::size_t>& members, bool last,
                 Stage& stage) {
    for (Change& change : prunes_.at(node.name)) {
      const auto is_its = [&](std::size_t index) { return plugins_[index].name == change.plugin; };
      const bool known = std::any_of(plugins_.begin(), plugins_.end(), [&](const Plugin& plugin) {
        return plugin.name == change.plugin;
      });
      if (std::any_of(members.begin(), members.end(), is_its) || (last && !known)) {
        stage.changes.push_back(change);
      }
    }
  }

  void AddDiagnostics() {
    Append(DiagnoseForbidden(cluster_, facts_));
    Append(DiagnoseBlocked(plan_));
    if (!scope_.allow_half_cables) Append(DiagnoseHalfCables(plan_, fabric_, facts_));
    if (!scope_.uninstall) Append(SelectAdvice(fabric_.diagnostics));
    if (!scope_.uninstall) Append(SelectNodes(elsewhere_));
    Append(kept_);
    Append(RemoveSettled(CollectDiagnostics(cluster_, fabric_, facts_, plugins_, scope_, offers_),
                         settles_, plan_));
    if (scope_.uninstall) {
      Append({{.code = "plan-uninstall",
               .message = "everything in the nodes' ledgers is pruned; max_prune does not apply"}});
    }
    AddRemovedNodes();
    for (const auto& [name, node] : facts_.nodes) {
      if (!IsNameSelected(scope_.nodes, name) || Known(node.apply.lease) == nullptr) continue;
      if (std::string text = FormatApplyState(node); !text.empty()) {
        Append({{.code = "plan-apply-running", .message = std::move(text), .nodes = {name}}});
      }
    }
    Append(DiagnoseUnfinished(facts_, scope_.nodes));
    MergeEqual(plan_.diagnostics);
    SortBySeverity(plan_.diagnostics);
  }

  // Until a person accepts it, every apply is refused: that is more than a note.
  void AddRemovedNodes() {
    const bool is_accepted = scope_.allow_node_removal || scope_.uninstall;
    for (const LedgerNode& node : FindRemovedNodes(cluster_, facts_)) {
      Append({{.severity = is_accepted ? Severity::kInforms : Severity::kWarns,
               .code = "plan-node-removed",
               .message = fmt::format("{} ({}) was applied to and is no longer in the manifest: "
                                      "nothing is done about it",
                                      node.name, node.address),
               .next_step = "add it to the manifest again, or give apply --allow-node-removal",
               .subject = node.name}});
    }
  }

  // Notes on the manifest alone are advice for who writes it: who has applied it has read them.
  std::vector<Diagnostic> SelectAdvice(std::vector<Diagnostic> advice) const {
    if (!WasApplied(cluster_, facts_, scope_)) return advice;
    std::erase_if(advice, [](const Diagnostic& one) { return one.severity == Severity::kInforms; });
    return advice;
  }

  std::vector<Diagnostic> SelectNodes(std::vector<Diagnostic> of_nodes) const {
    std::erase_if(of_nodes, [&](const Diagnostic& one) {
      return !IsNameSelected(scope_.nodes, one.nodes.front());
    });
    return of_nodes;
  }

  void Append(const std::vector<Diagnostic>& diagnostics) {
    plan_.diagnostics.insert(plan_.diagnostics.end(), diagnostics.begin(), diagnostics.end());
  }

  const ClusterSpec& cluster_;
  const Fabric& fabric_;
  const ClusterFacts& facts_;
  const std::vector<Plugin>& plugins_;
  const PlanScope& scope_;
  const AdoptOffers offers_;
  const std::vector<Diagnostic> elsewhere_;
  std::map<NodeName, std::vector<std::vector<Resource>>> wanted_ = {};  // by node, then plugin
  std::map<NodeName, std::vector<Change>> prunes_ = {};
  Needs needs_ = {};                           // of resources with a change, and of prunes
  std::set<std::string> hold_otherwise_ = {};  // ids
  Settles settles_ = {};                       // of resources with a change
  FileDiffs diffs_ = {};
  std::vector<Diagnostic> kept_ = {};  // what the ledgers drop and no one can revert
  Plan plan_ = {};
};

}  // namespace

bool IsSelected(const std::vector<std::string>& names, std::string_view name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

std::string FormatApplyState(const NodeFacts& facts) {
  const std::string* who = Known(facts.apply.lease);
  const std::vector<std::string>& journals = facts.apply.undecided;
  if (who != nullptr) {
    return fmt::format("an apply of {} is running{}", *who,
                       journals.empty() ? "" : ": its revert is armed");
  }
  std::vector<std::string> unfinished;
  for (const std::string& id : journals) unfinished.push_back(FormatUnfinished(id));
  return Join(unfinished, ", ");
}

Result<Plan> MakePlan(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
                      const std::vector<Plugin>& plugins, const PlanScope& scope) {
  if (auto known = CheckScope(cluster, plugins, scope); !known) return Fail(known.error());
  const auto stages = OrderPlugins(plugins);
  if (!stages) return Fail(stages.error());
  const LocatedCluster located(cluster, fabric, facts);
  std::vector<Diagnostic> elsewhere;
  if (located.differs()) elsewhere = DiagnoseLocated(cluster, fabric, facts);
  return Planner(located, std::move(elsewhere), facts, plugins, scope).Make(*stages);
}

}  // namespace reconciler
