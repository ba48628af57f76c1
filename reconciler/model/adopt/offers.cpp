#include "reconciler/model/adopt/offers.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::string_view kMatch = ", match: [";

// "lines: PATH, match: [KEY, KEY]" in parts. No part holds a sign of YAML.
struct EntryParts {
  std::string kind = {};
  std::string name = {};
  std::set<std::string> keys = {};
};

EntryParts SplitEntry(const std::string& entry) {
  EntryParts parts;
  const std::size_t colon = entry.find(": ");
  if (colon == std::string::npos) return parts;
  parts.kind = entry.substr(0, colon);
  parts.name = entry.substr(colon + 2);
  const std::size_t match = parts.name.find(kMatch);
  if (match == std::string::npos) return parts;
  std::string keys = parts.name.substr(match + kMatch.size());
  keys.pop_back();  // "]"
  parts.name.resize(match);
  for (const std::string& key : Split(keys, ',')) parts.keys.emplace(Trim(key));
  return parts;
}

const Value* FindEntry(const ClusterSpec& cluster, const EntryParts& parts) {
  const Value* section = cluster.settings.Find("adopt");
  if (section == nullptr) return nullptr;
  const std::vector<Value>& entries = section->List();
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Value& one) {
    return one.GetText(parts.kind) == parts.name;
  });
  return found == entries.end() ? nullptr : &*found;
}

// What the entry of the manifest has stays in it. A digest there may be about other text than is on
// the node now; only where lines of more keys are taken does the person mean that text.
void AddPresent(const Value& entry, EntryParts& parts, std::map<NodeName, std::string>& digests) {
  std::set<std::string> keys;
  if (const Value* match = entry.Find("match")) {
    for (const Value& key : match->List()) keys.insert(key.ScalarText());
  }
  const bool has_all =
      std::includes(keys.begin(), keys.end(), parts.keys.begin(), parts.keys.end());
  parts.keys.insert(keys.begin(), keys.end());
  const Value* nodes = entry.Find("nodes");
  if (nodes == nullptr) return;
  for (const Member& one : nodes->Members()) {
    if (has_all || !digests.contains(one.key)) digests[one.key] = one.value.ScalarText();
  }
  for (const Value& one : nodes->List()) digests[one.ScalarText()] = "";
}

std::string FormatEntry(const EntryParts& parts, const std::map<NodeName, std::string>& digests) {
  std::vector<std::string> nodes;
  bool has_digests = false;
  for (const auto& [node, digest] : digests) {
    has_digests |= !digest.empty();
    nodes.push_back(
        digest.empty() ? node : fmt::format("{}: \"{}\"", node, digest.substr(0, kShownDigits)));
  }
  const std::string match =
      parts.keys.empty() ? "" : fmt::format("{}{}]", kMatch, fmt::join(parts.keys, ", "));
  return fmt::format("{{{}: {}{}, nodes: {}{}{}}}", parts.kind, parts.name, match,
                     has_digests ? "{" : "[", Join(nodes, ", "), has_digests ? "}" : "]");
}

}  // namespace

AdoptOffers::AdoptOffers(const ClusterSpec& cluster, const std::vector<AdoptableFile>& files) {
  for (const AdoptableFile& file : files) {
    std::vector<Offer>& of_path = by_path_[file.path];
    auto offer = std::find_if(of_path.begin(), of_path.end(),
                              [&](const Offer& one) { return one.entry == file.entry; });
    if (offer == of_path.end()) offer = of_path.insert(of_path.end(), Offer{.entry = file.entry});
    offer->digests[file.node] = file.digest;
  }
  for (auto& [path, offers] : by_path_) {
    for (Offer& offer : offers) Format(cluster, offer);
  }
}

void AdoptOffers::Format(const ClusterSpec& cluster, Offer& offer) {
  EntryParts parts = SplitEntry(offer.entry);
  const Value* present = FindEntry(cluster, parts);
  if (present == nullptr) {
    offer.added = FormatEntry(parts, offer.digests);
    return;
  }
  std::map<NodeName, std::string> digests = offer.digests;
  AddPresent(*present, parts, digests);
  offer.extended = fmt::format("extend the entry on line {} of adopt to {}", present->position.line,
                               FormatEntry(parts, digests));
}

std::string AdoptOffers::Advise(const std::string& path, const NodeName& node) const {
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return {};
  std::vector<std::string> added;
  std::vector<std::string> advice;
  for (const Offer& offer : found->second) {
    if (!offer.digests.contains(node)) continue;
    if (offer.added.empty()) {
      advice.push_back(offer.extended);
    } else {
      added.push_back(offer.added);
    }
  }
  if (!added.empty()) {
    advice.insert(advice.begin(), fmt::format("add {} to adopt", Join(added, " and ")));
  }
  return Join(advice, ", and ");
}

}  // namespace reconciler
