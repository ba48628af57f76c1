#include "plugins/netplan/adopt/references.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "plugins/netplan/adopt/foreign.h"
#include "plugins/netplan/adopt/paths.h"
#include "reconciler/base/text.h"
#include "reconciler/model/ledger.h"
#include "reconciler/yaml/yaml_document.h"

namespace reconciler::plugins::netplan {
namespace {

// Null where it is no netplan file.
Value ReadNetworkOf(const std::string& content, const std::string& path) {
  const Result<Value> document = ParseYaml(content, path);
  const Value* network = document ? document->Find("network") : nullptr;
  return network == nullptr ? Value() : *network;
}

void AddDefined(const Value& network, std::set<std::string>& defined) {
  const Value* ethernets = network.Find("ethernets");
  if (ethernets == nullptr) return;
  for (const Member& definition : ethernets->Members()) defined.insert(definition.key);
}

void AddDefinedByOriginals(const NodeFacts& facts, std::set<std::string>& defined) {
  const Ledger* ledger = Known(facts.ledger);
  for (const LedgerEntry& entry : ledger ? ledger->entries : std::vector<LedgerEntry>()) {
    const Action* file = FindFileAction(entry.original);
    const auto* write = file == nullptr ? nullptr : std::get_if<WriteFile>(file);
    if (write == nullptr || !write->path.starts_with(kNetplan)) continue;
    AddDefined(ReadNetworkOf(write->state.content, write->path), defined);
  }
}

// VLANs have `link`; bonds, bridges and VRFs have `interfaces`.
std::vector<std::string> ListReferences(const Value& definition) {
  std::vector<std::string> names;
  if (const Value* link = definition.Find("link")) names.push_back(link->ScalarText());
  if (const Value* members = definition.Find("interfaces")) {
    for (const Value& one : members->List()) names.push_back(one.ScalarText());
  }
  return names;
}

std::optional<DanglingReference> FindReference(const std::string& path, const Value& network,
                                               const std::set<std::string>& netdevs) {
  for (const Member& type : network.Members()) {
    for (const Member& definition : type.value.Members()) {
      for (const std::string& name : ListReferences(definition.value)) {
        if (netdevs.contains(name)) return DanglingReference{path, definition.key, name};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string DanglingReference::Explain() const {
  const std::string port = MakePrintable(netdev);
  return fmt::format(
      "{} puts {} on {}, which only our file defines: add `ethernets: {{{}: {{}}}}` to it",
      MakePrintable(path), MakePrintable(name), port, port);
}

std::optional<DanglingReference> FindDanglingReference(const NodeFacts& facts,
                                                       const std::string& own_text) {
  std::set<std::string> only_ours;
  AddDefined(ReadNetworkOf(own_text, std::string(kOwnFile)), only_ours);
  const ForeignTree tree = ReadForeignTree(facts, {});
  if (only_ours.empty() || !tree.unclear.empty()) return std::nullopt;
  std::set<std::string> others;
  AddDefinedByOriginals(facts, others);
  std::vector<std::pair<std::string, Value>> networks;
  for (const std::string& path : tree.files) {
    const Observed<FileState> file = FindFile(facts, path);
    const FileState* state = Known(file);
    if (state == nullptr) continue;
    networks.emplace_back(path, ReadNetworkOf(state->content, path));
    AddDefined(networks.back().second, others);
  }
  for (const std::string& name : others) only_ours.erase(name);
  for (const auto& [path, network] : networks) {
    if (auto found = FindReference(path, network, only_ours)) return found;
  }
  return std::nullopt;
}

}  // namespace reconciler::plugins::netplan
