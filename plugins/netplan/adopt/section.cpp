#include "plugins/netplan/adopt/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "plugins/netplan/adopt/paths.h"
#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::string_view kOwnFiles[] = {"/etc/netplan/60-spark-reconcile.yaml",
                                          "/etc/sysctl.d/60-spark-reconcile.conf",
                                          "/etc/profile.d/60-spark-reconcile-nccl.sh"};
constexpr std::string_view kUnitFolder = "/etc/systemd/network/";
constexpr std::size_t kLongestName = 255;
constexpr std::size_t kLongestInterface = 15;
// An entry has one of these.
constexpr const char* kKinds[] = {"file", "nm_profile", "networkd_unit", "master", "unit", "lines"};

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

// Of a bond or bridge: without a digest.
const std::vector<Value>& ListNamedNodes(const Value& entry) {
  static const std::vector<Value> kNone;
  const Value* nodes = entry.Find("nodes");
  return nodes == nullptr ? kNone : nodes->List();
}

// The names of nodes in either form, with their places.
std::vector<std::pair<std::string, Position>> ListPlaces(const Value& entry) {
  std::vector<std::pair<std::string, Position>> places;
  for (const Member& one : ListNodes(entry)) places.emplace_back(one.key, one.key_position);
  for (const Value& one : ListNamedNodes(entry)) {
    places.emplace_back(one.ScalarText(), one.position);
  }
  return places;
}

const Value* FindNamed(const Value& entry) {
  for (const char* kind : kKinds) {
    if (const Value* named = entry.Find(kind)) return named;
  }
  return nullptr;
}

std::string FindKind(const Value& entry) {
  for (const char* kind : kKinds) {
    if (entry.Find(kind) != nullptr) return kind;
  }
  return {};
}

std::string NameEntry(const Value& entry) {
  const Value* named = FindNamed(entry);
  return named == nullptr ? "" : MakePrintable(named->ScalarText());
}

Position FindNamedPosition(const Value& entry) {
  const Value* named = FindNamed(entry);
  return named == nullptr ? entry.position : named->position;
}

bool IsPlainPath(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && path.size() <= kLongestName &&
         CanNameProfile(path.substr(folder.size()));
}

void CheckKind(const ClusterSpec& cluster, const Value& entry, Errors& errors) {
  std::vector<std::string> found;
  for (const char* kind : kKinds) {
    if (entry.Find(kind) != nullptr) found.emplace_back(kind);
  }
  if (found.size() == 1) return;
  errors.push_back(
      MakeManifestError("netplan-adopt-malformed", cluster.Mark(entry.position),
                        fmt::format("adopt: wanted one of {}, found {}", fmt::join(kKinds, ", "),
                                    found.empty() ? "none" : Join(found, " and ")),
                        "each entry names one thing"));
}

void CheckNodes(const ClusterSpec& cluster, const Value& entry, Errors& errors) {
  std::vector<std::string> names;
  for (const NodeSpec& node : cluster.nodes) names.push_back(node.name);
  const bool is_master = entry.Find("master") != nullptr;
  if ((is_master ? ListNamedNodes(entry).empty() : ListNodes(entry).empty())) {
    const Value* nodes = entry.Find("nodes");
    const bool is_other_form =
        nodes != nullptr && (is_master ? !nodes->Members().empty() : !nodes->List().empty());
    const std::string fault = !is_other_form ? "wanted at least one node, found none"
                              : is_master    ? "wanted a list of nodes, found a map"
                                          : "wanted a map of each node to a digest, found a list";
    errors.push_back(MakeManifestError(
        "netplan-adopt-malformed", cluster.Mark(FindNamedPosition(entry)),
        fmt::format("adopt: {}: {}", NameEntry(entry), fault),
        is_master ? "write nodes: [NAME]"
                  : "write nodes: {NAME: DIGEST}, with the first 12 digits of the file's SHA-256"));
  }
  for (const auto& [name, position] : ListPlaces(entry)) {
    if (cluster.FindNode(name) != nullptr) continue;
    const auto close = FindClosestMatch(name, names);
    errors.push_back(MakeManifestError(
        "netplan-adopt-unknown-node", cluster.Mark(position),
        fmt::format("adopt: {}: unknown node '{}'{}", NameEntry(entry), MakePrintable(name),
                    close ? fmt::format(", did you mean '{}'?", *close) : ""),
        fmt::format("nodes: {}", Join(names, ", "))));
  }
}

void CheckMatch(const ClusterSpec& cluster, const Value& entry, Errors& errors) {
  const bool has_lines = entry.Find("lines") != nullptr;
  if (has_lines == (entry.Find("match") != nullptr)) return;
  errors.push_back(
      MakeManifestError("netplan-adopt-malformed", cluster.Mark(FindNamedPosition(entry)),
                        fmt::format("adopt: {}: wanted {}", NameEntry(entry),
                                    has_lines ? "match, found none" : "match with lines only"),
                        has_lines ? "write match: [KEY], with the keys whose lines are taken over"
                                  : "remove match: what else is named is taken over as a whole"));
}

// The manifest would want it enabled or active, and disabled.
void CheckUnit(const ClusterSpec& cluster, const Value& entry, Errors& errors) {
  const std::string unit = entry.GetText("unit");
  const Value* units = cluster.settings.Find("units");
  if (unit.empty() || units == nullptr) return;
  for (const Value& one : units->List()) {
    if (one.GetText("name") != unit) continue;
    errors.push_back(MakeManifestError("netplan-adopt-not-foreign",
                                       cluster.Mark(FindNamedPosition(entry)),
                                       fmt::format("adopt: {} is in units too, on line {}",
                                                   MakePrintable(unit), one.position.line),
                                       "remove one of the two entries"));
  }
}

std::vector<AdoptEntry> ReadEntries(const ClusterSpec& cluster, const NodeName& node) {
  std::vector<AdoptEntry> entries;
  for (const Value& entry : ListEntries(cluster)) {
    for (const Member& one : ListNodes(entry)) {
      if (one.key != node || entry.Find("lines") != nullptr) continue;  // another plugin's
      const std::string file = entry.GetText("file");
      entries.push_back({file.empty() ? entry.GetText("networkd_unit") : file,
                         one.value.ScalarText(), FindNamedPosition(entry),
                         entry.GetText("nm_profile"), entry.GetText("unit")});
    }
  }
  return entries;
}

}  // namespace

std::vector<AdoptEntry> ReadAdopt(const ClusterSpec& cluster, const NodeName& node) {
  std::vector<AdoptEntry> entries = ReadEntries(cluster, node);
  std::erase_if(entries, [](const AdoptEntry& one) { return !one.unit.empty(); });
  return entries;
}

std::vector<AdoptEntry> ReadAdoptedUnits(const ClusterSpec& cluster, const NodeName& node) {
  std::vector<AdoptEntry> entries = ReadEntries(cluster, node);
  std::erase_if(entries, [](const AdoptEntry& one) { return one.unit.empty(); });
  return entries;
}

Masters ReadAdoptedMasters(const ClusterSpec& cluster, const NodeName& node) {
  Masters masters;
  for (const Value& entry : ListEntries(cluster)) {
    const std::string name = entry.GetText("master");
    for (const Value& one : ListNamedNodes(entry)) {
      if (!name.empty() && one.ScalarText() == node) masters.insert(name);
    }
  }
  return masters;
}

Position FindMasterPosition(const ClusterSpec& cluster, const std::string& master) {
  for (const Value& entry : ListEntries(cluster)) {
    if (entry.GetText("master") == master) return FindNamedPosition(entry);
  }
  return {};
}

AdoptKind GetKind(const AdoptEntry& entry) {
  if (!entry.profile.empty()) {
    return entry.path.starts_with(kNetplan) ? AdoptKind::kKeptProfile : AdoptKind::kProfile;
  }
  return entry.path.starts_with(kUnitFolder) ? AdoptKind::kUnit : AdoptKind::kFile;
}

bool CanBeNamed(std::string_view path) { return IsPlainPath(path, kNetplan); }

bool CanNameUnit(std::string_view path) { return IsPlainPath(path, kUnitFolder); }

bool CanNameProfile(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         name.front() != '-' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
         });
}

bool CanNameMaster(std::string_view name) {
  return CanNameProfile(name) && name.size() <= kLongestInterface;
}

Errors CheckAdopt(const ClusterSpec& cluster, const Fabric&) {
  Errors errors;
  std::map<std::string, int> lines;  // of the first entry of each name
  for (const Value& entry : ListEntries(cluster)) {
    CheckKind(cluster, entry, errors);
    const std::string file = NameEntry(entry);
    const SourceMark where = cluster.Mark(FindNamedPosition(entry));
    if (std::find(std::begin(kOwnFiles), std::end(kOwnFiles), file) != std::end(kOwnFiles)) {
      errors.push_back(MakeManifestError(
          "netplan-adopt-not-foreign", where,
          fmt::format("adopt: wanted a file of another owner, found our own, {}", file),
          "remove the entry"));
    }
    const auto [first, added] =
        lines.emplace(FindKind(entry) + NameEntry(entry), where.position.line);
    if (!added) {
      errors.push_back(
          MakeManifestError("netplan-adopt-twice", where,
                            fmt::format("adopt: wanted one entry for {}, found another on line {}",
                                        NameEntry(entry), first->second),
                            "name all its nodes in one entry"));
    }
    CheckMatch(cluster, entry, errors);
    CheckUnit(cluster, entry, errors);
    CheckNodes(cluster, entry, errors);
  }
  return errors;
}

}  // namespace reconciler::plugins::netplan
