#include "plugins/netplan/adopt/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::string_view kOwnName = "60-spark-reconcile.yaml";
constexpr std::size_t kLongestName = 255;

const std::vector<Value>& ListEntries(const ClusterSpec& cluster) {
  static const std::vector<Value> kNone;
  const Value* section = cluster.settings.Find("adopt");
  return section == nullptr ? kNone : section->List();
}

const std::vector<Member>& ListNodes(const Value& entry) {
  static const std::vector<Member> kNone;
  const Value* nodes = entry.Find("nodes");
  return nodes == nullptr ? kNone : nodes->Members();
}

const Value* FindNamed(const Value& entry) {
  const Value* file = entry.Find("file");
  return file != nullptr ? file : entry.Find("nm_profile");
}

std::string NameEntry(const Value& entry) {
  const Value* named = FindNamed(entry);
  return named == nullptr ? "" : MakePrintable(named->ScalarText());
}

Position FindNamedPosition(const Value& entry) {
  const Value* named = FindNamed(entry);
  return named == nullptr ? entry.position : named->position;
}

void CheckKind(const ClusterSpec& cluster, const Value& entry, Errors& errors) {
  const bool file = entry.Find("file") != nullptr;
  if (file != (entry.Find("nm_profile") != nullptr)) return;
  errors.push_back(MakeManifestError(
      cluster.Mark(entry.position),
      fmt::format("adopt: wanted file or nm_profile, found {}", file ? "both" : "neither"),
      "each entry names one file or one profile"));
}

void CheckNodes(const ClusterSpec& cluster, const Value& entry, Errors& errors) {
  std::vector<std::string> names;
  for (const NodeSpec& node : cluster.nodes) names.push_back(node.name);
  if (ListNodes(entry).empty()) {
    errors.push_back(MakeManifestError(
        cluster.Mark(FindNamedPosition(entry)),
        fmt::format("adopt: {}: wanted at least one node, found none", NameEntry(entry)),
        "write nodes: {NAME: DIGEST}, with the first 12 digits of the file's SHA-256"));
  }
  for (const Member& node : ListNodes(entry)) {
    if (cluster.FindNode(node.key) != nullptr) continue;
    const auto close = FindClosestMatch(node.key, names);
    errors.push_back(MakeManifestError(
        cluster.Mark(node.key_position),
        fmt::format("adopt: {}: unknown node '{}'{}", NameEntry(entry), MakePrintable(node.key),
                    close ? fmt::format(", did you mean '{}'?", *close) : ""),
        fmt::format("nodes: {}", Join(names, ", "))));
  }
}

}  // namespace

std::vector<AdoptEntry> ReadAdopt(const ClusterSpec& cluster, const NodeName& node) {
  std::vector<AdoptEntry> entries;
  for (const Value& entry : ListEntries(cluster)) {
    for (const Member& one : ListNodes(entry)) {
      if (one.key != node) continue;
      entries.push_back({entry.GetText("file"), one.value.ScalarText(), FindNamedPosition(entry),
                         entry.GetText("nm_profile")});
    }
  }
  return entries;
}

bool CanBeNamed(std::string_view path) {
  constexpr std::string_view kFolder = "/etc/netplan/";
  return path.starts_with(kFolder) && path.size() <= kLongestName &&
         CanNameProfile(path.substr(kFolder.size()));
}

bool CanNameProfile(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         name.front() != '-' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
         });
}

Errors CheckAdopt(const ClusterSpec& cluster, const Fabric&) {
  Errors errors;
  std::map<std::string, int> lines;  // of the first entry of each name
  for (const Value& entry : ListEntries(cluster)) {
    CheckKind(cluster, entry, errors);
    const std::string file = entry.GetText("file");
    const SourceMark where = cluster.Mark(FindNamedPosition(entry));
    if (file.ends_with("/" + std::string(kOwnName))) {
      errors.push_back(MakeManifestError(
          where, fmt::format("adopt: wanted a file of another owner, found our own, {}", file),
          "remove the entry"));
    }
    const auto [first, added] = lines.emplace(NameEntry(entry), where.position.line);
    if (!added) {
      errors.push_back(
          MakeManifestError(where,
                            fmt::format("adopt: wanted one entry for {}, found another on line {}",
                                        NameEntry(entry), first->second),
                            "name all its nodes in one entry"));
    }
    CheckNodes(cluster, entry, errors);
  }
  return errors;
}

}  // namespace reconciler::plugins::netplan
