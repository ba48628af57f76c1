#include <fmt/format.h>

#include <map>

#include "reconciler/manifest/checks/cross_check.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/yaml/message_text.h"

namespace reconciler {
namespace {

void CheckCluster(const Value& document, const Value& moved, ManifestErrors& errors) {
  const std::string former = moved.GetText("cluster");
  if (former.empty() || former != document.GetText("cluster")) return;
  errors.Add("manifest-no-effect", moved.Find("cluster")->position,
             fmt::format("moved.cluster: {} is the cluster's name now", Quoted(former)),
             "write its name before, or remove the line");
}

// `are_known`: no other node can have the new name.
void CheckNode(const Member& member, const std::vector<NodeView>& nodes, bool are_known,
               ManifestErrors& errors) {
  const std::string* now = member.value.AsString();
  if (now == nullptr) return;
  const std::vector<std::string> known = ListNodeNames(nodes);
  if (are_known && FindNode(nodes, *now) == nullptr) {
    errors.Add(
        "manifest-unknown-name", member.value.position,
        fmt::format("moved.nodes: {} is not in nodes{}", Quoted(*now), FormatGuess(*now, known)),
        FormatKnownHint(known));
  }
  if (FindNode(nodes, member.key) != nullptr) {
    errors.Add("manifest-no-effect", member.key_position,
               fmt::format("moved.nodes: {} is in nodes now, and not renamed", Quoted(member.key)),
               "write the old name before the ':' and the new one after it");
  }
}

// What is known of a node is that of one machine.
void CheckOnce(const Value& renamed, ManifestErrors& errors) {
  std::map<std::string, const Member*> seen;
  for (const Member& member : renamed.Members()) {
    const std::string* now = member.value.AsString();
    if (now == nullptr) continue;
    const auto [first, fresh] = seen.emplace(*now, &member);
    if (fresh) continue;
    errors.Add("manifest-name-taken", member.value.position,
               fmt::format("moved.nodes: {} and {} both have the new name {}, first at {}",
                           Quoted(first->second->key), Quoted(member.key), Quoted(*now),
                           errors.Mark(first->second->value.position)),
               "a node has one old name: remove the other line");
  }
}

}  // namespace

void CheckMoved(const Value& document, ManifestErrors& errors) {
  const Value* moved = document.Find("moved");
  if (moved == nullptr) return;
  CheckCluster(document, *moved, errors);
  const Value* renamed = moved->Find("nodes");
  if (renamed == nullptr) return;
  const std::vector<NodeView> nodes = ViewNodes(document);
  const bool are_known = !HasEmptyEntry(document);
  for (const Member& member : renamed->Members()) CheckNode(member, nodes, are_known, errors);
  CheckOnce(*renamed, errors);
}

}  // namespace reconciler
