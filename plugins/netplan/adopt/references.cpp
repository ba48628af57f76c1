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

using Names = std::set<std::string>;

// Null where it is no netplan file.
Value ReadNetworkOf(const std::string& content, const std::string& path) {
  const Result<Value> document = ParseYaml(content, path);
  const Value* network = document ? document->Find("network") : nullptr;
  return network == nullptr ? Value() : *network;
}

void AddDefined(const Value& network, Names& defined) {
  const Value* ethernets = network.Find("ethernets");
  if (ethernets == nullptr) return;
  for (const Member& definition : ethernets->Members()) defined.insert(definition.key);
}

// What is written again from the ledger.
Names ListDefinedByOriginals(const NodeFacts& facts) {
  Names defined;
  const Ledger* ledger = Known(facts.ledger);
  for (const LedgerEntry& entry : ledger ? ledger->entries : std::vector<LedgerEntry>()) {
    const Action* file = FindFileAction(entry.original);
    const auto* write = file == nullptr ? nullptr : std::get_if<WriteFile>(file);
    if (write == nullptr || !write->path.starts_with(kNetplan)) continue;
    AddDefined(ReadNetworkOf(write->state.content, write->path), defined);
  }
  return defined;
}

Names Without(Names names, const Names& others) {
  for (const std::string& name : others) names.erase(name);
  return names;
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
                                               const Names& netdevs) {
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

std::string DanglingReference::ExplainDown() const {
  const std::string port = MakePrintable(netdev);
  return fmt::format(
      "{0} puts {1} on {2}, which only our file defines and `unused_cages: down` keeps down: take "
      "{1} out of it, or set `unused_cages: ignore` and add `ethernets: {{{2}: {{}}}}` to it",
      MakePrintable(path), MakePrintable(name), port);
}

Names ListDefined(const std::string& text, const std::string& path) {
  Names defined;
  AddDefined(ReadNetworkOf(text, path), defined);
  return defined;
}

std::optional<DanglingReference> FindDanglingReference(const NodeFacts& facts, Names lost,
                                                       const std::set<std::string>& without) {
  if (lost.empty()) return std::nullopt;
  const ForeignTree tree = ReadForeignTree(facts, {}, {}, without);
  if (!tree.unclear.empty()) return std::nullopt;
  Names defined;
  std::vector<std::pair<std::string, Value>> networks;
  for (const std::string& path : tree.files) {
    const Observed<FileState> file = FindFile(facts, path);
    const FileState* state = Known(file);
    if (state == nullptr) continue;
    networks.emplace_back(path, ReadNetworkOf(state->content, path));
    AddDefined(networks.back().second, defined);
  }
  lost = Without(std::move(lost), defined);
  for (const auto& [path, network] : networks) {
    if (auto found = FindReference(path, network, lost)) return found;
  }
  return std::nullopt;
}

std::optional<DanglingReference> FindReferenceToOurs(const NodeFacts& facts,
                                                     const std::string& own_text) {
  const Names ours = ListDefined(own_text, std::string(kOwnFile));
  return FindDanglingReference(facts, Without(ours, ListDefinedByOriginals(facts)));
}

std::optional<DanglingReference> FindReferenceToLost(const NodeFacts& facts,
                                                     const Names& still_defined,
                                                     const std::set<std::string>& without) {
  const Observed<FileState> observed = FindFile(facts, std::string(kOwnFile));
  const FileState* file = Known(observed);
  if (file == nullptr) return std::nullopt;
  const Names ours = ListDefined(file->content, std::string(kOwnFile));
  return FindDanglingReference(facts, Without(ours, still_defined), without);
}

}  // namespace reconciler::plugins::netplan
