#include <fmt/format.h>

#include <map>
#include <set>

#include "reconciler/manifest/checks/cross_check.h"
#include "reconciler/manifest/read/cabling_view.h"
#include "reconciler/manifest/read/hardware_view.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/manifest/schema/schema_text.h"
#include "reconciler/yaml/message_text.h"

namespace reconciler {
namespace {

std::vector<std::string> ListProfileNames(const Value& document) {
  std::vector<std::string> names;
  for (const Hardware& profile : GetBuiltInHardware()) names.push_back(profile.name);
  for (const Hardware& profile : ViewHardware(document)) names.push_back(profile.name);
  return names;
}

void CheckNamed(const Value& document, const NodeView& node, ManifestErrors& errors) {
  const Value* named = node.entry->Find("hardware");
  if (named == nullptr || named->AsString() == nullptr || FindProfile(document, *node.entry))
    return;
  const std::vector<std::string> known = ListProfileNames(document);
  errors.Add("manifest-unknown-name", named->position,
             fmt::format("unknown hardware {} of node {}{}", Quoted(*named->AsString()),
                         Quoted(node.name), FormatGuess(*named->AsString(), known)),
             fmt::format("known: {}; or describe it below hardware", JoinWithOr(known)));
}

void CheckHasCage(const Value& document, const NodeView& node, const std::string& cage,
                  Position position, ManifestErrors& errors) {
  if (cage != "p0" && cage != "p1") return;  // refused by the schema
  const auto hardware = FindProfile(document, *node.entry);
  if (!hardware || hardware->cages.empty() || hardware->FindCage(cage) != nullptr) return;
  std::vector<std::string> has;
  for (const Cage& one : hardware->cages) has.push_back(one.name);
  errors.Add("manifest-wrong-cage", position,
             fmt::format("node {} has no cage {}: its hardware {} has {}", Quoted(node.name), cage,
                         hardware->name, JoinWithOr(has)));
}

void CheckCages(const Value& document, const std::vector<NodeView>& nodes, ManifestErrors& errors) {
  const auto topology = ViewTopology(document);
  for (const NodeView& node : nodes) {
    if (topology == Topology::kLinks || topology == Topology::kRing) break;
    const Value* own = node.entry->Find("cage");
    CheckHasCage(document, node, FindCageName(document, *node.entry),
                 own != nullptr ? own->position : node.name_position, errors);
  }
  for (const LinkView& link : ViewLinks(document)) {
    for (const LinkEnd* end : {&link.a, &link.b}) {
      if (const NodeView* node = FindNode(nodes, end->node)) {
        CheckHasCage(document, *node, end->cage, end->position, errors);
      }
    }
  }
  if (topology != Topology::kRing) return;
  for (const NodeView& node : nodes) {
    for (const std::string cage : {"p0", "p1"}) {
      CheckHasCage(document, node, cage, node.name_position, errors);
    }
  }
}

// Names of a profile must differ, and twins are distinguished by their PCI domain.
void CheckProfile(const Member& profile, ManifestErrors& errors) {
  const Value* cages = profile.value.Find("cages");
  if (cages == nullptr) return;
  std::map<std::string, Position> seen;
  for (const Member& cage : cages->Members()) {
    std::set<std::string> domains;
    for (const Value& twin : cage.value.List()) {
      for (const std::string_view key : {"netdev", "hca", "pci"}) {
        const Value* value = twin.Find(key);
        if (value == nullptr || value->AsString() == nullptr) continue;
        const auto [first, fresh] = seen.emplace(*value->AsString(), value->position);
        if (fresh) continue;
        errors.Add(
            "manifest-hardware-wrong", value->position,
            fmt::format("{} {} stands twice in hardware {}, first at {}", key,
                        Quoted(*value->AsString()), profile.key, errors.Mark(first->second)));
      }
      const Value* pci = twin.Find("pci");
      const std::string domain = pci != nullptr ? pci->ScalarText().substr(0, 4) : std::string();
      if (domain.empty() || domains.insert(domain).second) continue;
      errors.Add("manifest-hardware-wrong", pci->position,
                 fmt::format("both functions of cage {} are in PCI domain {}", cage.key, domain),
                 "twins share a cage from different PCI domains; functions of one device are "
                 "different cages");
    }
  }
}

}  // namespace

void CheckHardware(const Value& document, ManifestErrors& errors) {
  const std::vector<NodeView> nodes = ViewNodes(document);
  for (const NodeView& node : nodes) CheckNamed(document, node, errors);
  CheckCages(document, nodes, errors);
  const Value* section = document.Find("hardware");
  if (section == nullptr) return;
  for (const Member& profile : section->Members()) CheckProfile(profile, errors);
}

}  // namespace reconciler
