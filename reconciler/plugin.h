#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/diagnostic.h"
#include "reconciler/base/result.h"
#include "reconciler/model/adopt/offers.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/environment.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/probe.h"
#include "reconciler/model/resource.h"

namespace reconciler {

struct PluginInput {
  const ClusterSpec& cluster;
  const Fabric& fabric;
  const NodeSpec& node;
  const NodeFacts& facts;   // of `node`
  const ClusterFacts& all;  // of every node that answered
  bool uninstall = false;   // only for check_prune: nothing is required of any node
  // Of all nodes, collected once for the whole plan; null outside of a plan
  const AdoptOffers* offers = nullptr;

  // Empty too where nothing was collected.
  std::string AdviseToAdopt(const std::string& path) const {
    return offers == nullptr ? "" : offers->Advise(path, node.name);
  }
};

// Whose a thing is by now that the ledger has as ours. kNoOnes: nothing of it can be restored.
enum class Ownership { kOurs, kOthers, kNoOnes };

// How a node has what a setting of the manifest manages.
struct FoundSetting {
  std::string_view setting = {};     // its path in the manifest: "fabric.arp"
  bool ours = false;                 // something of ours sets it, also in part
  bool others = false;               // something of others does, and nothing of ours
  bool is_complete = false;          // an apply would change nothing
  std::string_view difference = {};  // for a person, where it is not complete
};

// In Plugin::after: every plugin that does not name this itself.
inline constexpr std::string_view kAllOthers = "*";

// A plugin is a value made of pure functions; function pointers cannot capture, so it has no state.
struct Plugin {
  std::string_view name = {};
  std::vector<std::string_view> after;  // plugins whose changes must be carried out earlier
  // Its changes set up interfaces of the fabric, so that the cabling is checked before them.
  bool sets_links = false;
  // What it made may use what other plugins set up, such as a volume that is reached over the
  // fabric: it is pruned before anything else changes.
  bool is_pruned_first = false;

  // What to read on a node. Files go into NodeFacts::files on their own.
  std::vector<Read> (*probe)(const ClusterSpec&, const Fabric&, const NodeSpec&) = nullptr;
  // Raw text to facts: values and commands of this plugin's own reads. May be null.
  void (*parse)(const ProbeReply&, NodeFacts&) = nullptr;
  // What must hold on the node. Never compares and never leaves a resource out because it holds
  // already. May be null (a plugin that only reads facts).
  std::vector<Resource> (*resources)(const PluginInput&) = nullptr;
  // Checks a change that prunes a thing of this plugin: may say what it would interrupt, take steps
  // out of it, and block it where it would touch what leads to the node. What another owner has by
  // now is blocked and returned as kOthers: it stays as it is, and the ledger drops it. Of what is
  // kNoOnes, `detail` says for a person why: it is no change but a note, and the ledger drops it.
  // May be null.
  Ownership (*check_prune)(const PluginInput&, Change&) = nullptr;
  // Problems that need no node, found after the schema and the cross checks. May be null.
  Errors (*check)(const ClusterSpec&, const Fabric&) = nullptr;
  // What the node's facts say about the manifest besides what must change. One that blocks refuses
  // the whole apply. May be null.
  std::vector<Diagnostic> (*diagnose)(const PluginInput&) = nullptr;
  // What of other owners `adopt` could name, of all nodes that were read, in the manifest's order.
  // May be null.
  std::vector<AdoptableFile> (*adoptable)(const ClusterSpec&, const Fabric&,
                                          const ClusterFacts&) = nullptr;
  // For a manifest of nodes as they are: `fabric` has the ports, by rail, and nothing else, and no
  // key of the manifest is set. May be null.
  FoundSetting (*find_setting)(const PluginInput&) = nullptr;
  // A section that `discover` does not write, such as "nccl: {}". What a plan with it warns of is
  // noted there, since others set what it manages. Empty: none.
  std::string_view noted_with = {};
  // Whether files leave open what only spark-verify on the node can read; it is sent there then.
  // May be null.
  bool (*needs_spark_verify)(const ClusterSpec&, const NodeFacts&) = nullptr;
  // What programs on the node should find in their environment; an error when that cannot be
  // determined. May be null.
  Result<Environment> (*environment)(const PluginInput&) = nullptr;
};

}  // namespace reconciler
