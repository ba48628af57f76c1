#include "reconciler/manifest/load_remainder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/manifest/build_spec.h"
#include "reconciler/manifest/checks/cross_check.h"
#include "reconciler/manifest/read/cabling_view.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/manifest/read/rail_counts.h"
#include "reconciler/manifest/schema/schema_check.h"
#include "reconciler/yaml/manifest_errors.h"
#include "reconciler/yaml/yaml_document.h"

namespace reconciler {
namespace {

// Each round leaves out what the errors of the last one are about: a section after its last entry.
constexpr int kMostRounds = 8;

constexpr std::array<std::string_view, 3> kFreeOfFabric = {"mtu", "arp", "unused_cages"};
constexpr std::array<std::string_view, 5> kFreeOfSwitch = {"model", "address", "os", "fec",
                                                           "l2mtu"};
constexpr std::array<std::string_view, 4> kFixedOfNode = {"name", "address", "cage", "hardware"};

template <class List>
bool Contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// From the document to a part of it: keys, and places in lists.
struct Step {
  std::string key = {};
  std::size_t index = 0;
};
using Path = std::vector<Step>;

bool FindPath(const Value& value, const Error& error, Path& path);

// Whether the error is about `value` as a whole. A missing key is reported at its map, which begins
// where its first key does.
bool IsAbout(const Value& value, const Error& error) {
  return value.position == error.where->position &&
         (error.code != "manifest-missing-key" || value.IsMap());
}

bool FindPathInMember(const Member& member, const Error& error, Path& path) {
  path.push_back({.key = member.key});
  if (FindPath(member.value, error, path) || IsAbout(member.value, error)) return true;
  if (error.code != "manifest-missing-key" && member.key_position == error.where->position) {
    return true;
  }
  path.pop_back();
  return false;
}

bool FindPath(const Value& value, const Error& error, Path& path) {
  for (const Member& member : value.Members()) {
    if (FindPathInMember(member, error, path)) return true;
  }
  for (std::size_t i = 0; i < value.List().size(); ++i) {
    path.push_back({.index = i});
    const Value& entry = value.List()[i];
    if (FindPath(entry, error, path) || IsAbout(entry, error)) return true;
    path.pop_back();
  }
  return false;
}

Value* FindMember(Value& map, const std::string& key) {
  auto* members = std::get_if<std::vector<Member>>(&map.data);
  if (members == nullptr) return nullptr;
  const auto found = std::find_if(members->begin(), members->end(),
                                  [&](const Member& one) { return one.key == key; });
  return found == members->end() ? nullptr : &found->value;
}

void SetMember(Value& map, const std::string& key, Value value) {
  if (Value* found = FindMember(map, key)) {
    *found = std::move(value);
  } else if (auto* members = std::get_if<std::vector<Member>>(&map.data)) {
    members->push_back({key, map.position, std::move(value)});
  }
}

// What `path` leads to leaves the document.
void Remove(Value& document, const Path& path) {
  Value* value = &document;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool last = i + 1 == path.size();
    if (auto* entries = std::get_if<std::vector<Value>>(&value->data)) {
      if (last) entries->erase(entries->begin() + static_cast<std::ptrdiff_t>(path[i].index));
      if (!last) value = &(*entries)[path[i].index];
    } else if (auto* members = std::get_if<std::vector<Member>>(&value->data)) {
      if (last) std::erase_if(*members, [&](const Member& one) { return one.key == path[i].key; });
      if (!last) value = FindMember(*value, path[i].key);
    }
  }
}

class Remainder {
 public:
  explicit Remainder(Value document) : document_(std::move(document)) {}

  // False: the error is about something that the rest depends on.
  bool Drop(const Error& error) {
    if (!document_.IsMap()) return false;  // no part of a manifest is there
    Path path;
    if (!FindPath(document_, error, path)) {
      // What it is about may have left the document with another error.
      return error.where->position != document_.position || CompleteRoot();
    }
    const std::string& top = path.front().key;
    if (top == "api_version" || top == "cluster") {
      SetMember(document_, top, MakeRootValue(top));
      return true;
    }
    if (top == "nodes") return DropOfNode(std::move(path));
    if (top == "fabric") return DropOfFabric(path);
    if (top == "switches") {
      if (path.size() < 3 || !Contains(kFreeOfSwitch, path[2].key)) return false;
      Remove(document_, path);
      return true;
    }
    if (top == "hardware") return false;
    DropOfSection(std::move(path), 0);
    return true;
  }

  const Value& document() const { return document_; }
  Value TakeDocument() { return std::move(document_); }

 private:
  Value MakeRootValue(const std::string& key) const {
    return {key == "cluster" ? std::string("cluster") : std::string("spark-reconcile/v1"),
            document_.position};
  }

  // Keys that must be there, and that no part depends on.
  bool CompleteRoot() {
    bool added = false;
    for (const std::string& key : {std::string("api_version"), std::string("cluster")}) {
      if (!document_.IsMap() || document_.Find(key) != nullptr) continue;
      SetMember(document_, key, MakeRootValue(key));
      added = true;
    }
    return added;
  }

  // The key of a section is at `path[section]`.
  void DropOfSection(Path path, std::size_t section) {
    const std::string key = path[section].key;
    const nlohmann::json& sections = GetClusterSchema().at("properties");
    const bool known = sections.contains(key);
    // Of a list its entry, of a map the key.
    const std::string type = known ? sections.at(key).value("type", "") : "";
    const std::size_t kept = type == "object"  ? path.size()
                             : type == "array" ? section + 2
                                               : section + 1;
    path.resize(std::min(path.size(), kept));
    Remove(document_, path);
    if (key == "access" || !known) CompleteUser();
  }

  // A login name that is refused is one all the same.
  void CompleteUser() {
    if (document_.Find("access") == nullptr) {
      SetMember(document_, "access", {std::vector<Member>(), document_.position});
    }
    Value& access = *FindMember(document_, "access");
    if (access.IsMap() && access.Find("user") == nullptr) {
      SetMember(access, "user", {std::string("user"), document_.position});
    }
  }

  bool DropOfNode(Path path) {
    if (path.size() < 3) return false;
    if (path[2].key == "address") {
      auto& nodes = std::get<std::vector<Value>>(FindMember(document_, "nodes")->data);
      SetMember(nodes[path[1].index], "address",
                {fmt::format("{}.invalid", path[1].index), document_.position});
      return true;
    }
    if (Contains(kFixedOfNode, path[2].key)) return false;
    DropOfSection(std::move(path), 2);
    return true;
  }

  bool DropOfFabric(const Path& path) {
    if (path.size() < 2) return false;
    const std::string& key = path[1].key;
    if (key == "subnets") return ReplaceSubnets();
    const auto& known = GetClusterSchema().at("properties").at("fabric").at("properties");
    const bool is_other = !known.contains(key) &&
                          !FindClosestMatch(key, {"topology", "ring", "cage", "twins", "links"});
    if (!is_other && !Contains(kFreeOfFabric, key)) return false;
    Remove(document_, {path[0], path[1]});
    return true;
  }

  // What plugins check depends on how many there are, and not on which.
  bool ReplaceSubnets() {
    const auto topology = ViewTopology(document_);
    if (!topology || std::exchange(replaced_subnets_, true)) return false;
    const RailCounts rails = CountRails(document_, ViewNodes(document_), *topology);
    const std::size_t count =
        std::accumulate(rails.on_cables.begin(), rails.on_cables.end(), rails.on_switches);
    if (!rails.known || count == 0 || count > 256) return false;
    std::vector<Value> subnets;
    for (std::size_t i = 0; i < count; ++i) {
      subnets.push_back({fmt::format("198.18.{}.0/24", i), document_.position});
    }
    SetMember(*FindMember(document_, "fabric"), "subnets",
              {std::move(subnets), document_.position});
    return true;
  }

  Value document_;
  bool replaced_subnets_ = false;
};

}  // namespace

std::optional<ClusterSpec> LoadRemainder(std::string_view yaml, const std::string& file) {
  Result<Value> document = ParseYaml(yaml, file);
  if (!document) return std::nullopt;
  Remainder rest(*std::move(document));
  for (int round = 0; round < kMostRounds; ++round) {
    ManifestErrors found(file);
    CheckSchema(rest.document(), GetClusterSchema(), found);
    CrossCheck(rest.document(), found);
    if (found.Empty()) {
      Value whole = rest.TakeDocument();
      FillDefaults(whole, GetClusterSchema());
      return BuildClusterSpec(std::move(whole), file);
    }
    for (const Error& error : found.TakeErrors()) {
      if (!rest.Drop(error)) return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace reconciler
