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

Position FindFilePosition(const Value& entry) {
  const Value* file = entry.Find("file");
  return file == nullptr ? entry.position : file->position;
}

void CheckNodes(const ClusterSpec& cluster, const Value& entry, Errors& errors) {
  std::vector<std::string> names;
  for (const NodeSpec& node : cluster.nodes) names.push_back(node.name);
  if (ListNodes(entry).empty()) {
    errors.push_back(MakeManifestError(
        cluster.Mark(FindFilePosition(entry)),
        fmt::format("adopt: {}: wanted at least one node, found none",
                    MakePrintable(entry.GetText("file"))),
        "write nodes: {NAME: DIGEST}, with the first 12 digits of the file's SHA-256"));
  }
  for (const Member& node : ListNodes(entry)) {
    if (cluster.FindNode(node.key) != nullptr) continue;
    const auto close = FindClosestMatch(node.key, names);
    errors.push_back(
        MakeManifestError(cluster.Mark(node.key_position),
                          fmt::format("adopt: {}: unknown node '{}'{}",
                                      MakePrintable(entry.GetText("file")), MakePrintable(node.key),
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
      entries.push_back({entry.GetText("file"), one.value.ScalarText(), FindFilePosition(entry)});
    }
  }
  return entries;
}

bool CanBeNamed(std::string_view path) {
  constexpr std::string_view kFolder = "/etc/netplan/";
  if (!path.starts_with(kFolder) || path.size() > 255) return false;
  const std::string_view name = path.substr(kFolder.size());
  return !name.empty() && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
         });
}

Errors CheckAdopt(const ClusterSpec& cluster, const Fabric&) {
  Errors errors;
  std::map<std::string, int> lines;  // of the first entry of each file
  for (const Value& entry : ListEntries(cluster)) {
    const std::string file = entry.GetText("file");
    const SourceMark where = cluster.Mark(FindFilePosition(entry));
    if (file.ends_with("/" + std::string(kOwnName))) {
      errors.push_back(MakeManifestError(
          where, fmt::format("adopt: wanted a file of another owner, found our own, {}", file),
          "remove the entry"));
    }
    const auto [first, added] = lines.emplace(file, where.position.line);
    if (!added) {
      errors.push_back(
          MakeManifestError(where,
                            fmt::format("adopt: wanted one entry for {}, found another on line {}",
                                        MakePrintable(file), first->second),
                            "name all its nodes in one entry"));
    }
    CheckNodes(cluster, entry, errors);
  }
  return errors;
}

}  // namespace reconciler::plugins::netplan
