#include "plugins/packages/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "plugins/packages/version.h"
#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::packages {
namespace {

PackageSpec ParsePackage(const Value& entry) {
  PackageSpec package{.position = entry.position};
  if (!entry.IsMap()) {
    package.name = entry.ScalarText();
    return package;
  }
  package.name = entry.GetText("name");
  package.at_least = entry.GetText("at_least");
  if (const Value* nodes = entry.Find("nodes"); nodes != nullptr && nodes->IsList()) {
    package.nodes.emplace();
    for (const Value& node : nodes->List()) package.nodes->push_back(node.ScalarText());
  }
  return package;
}

// By Debian's policy, section 5.6.1, but for a sign at the end, by which apt would do something
// else.
bool IsName(const std::string& name) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && is_plain(name.front()) && (is_plain(name.back()) || name.back() == '+') &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_plain(c) || c == '+' || c == '-' || c == '.'; });
}

std::vector<PackageSpec> ReadSection(const ClusterSpec& cluster) {
  std::vector<PackageSpec> packages;
  if (const Value* section = cluster.settings.Find("packages")) {
    for (const Value& entry : section->List()) packages.push_back(ParsePackage(entry));
  }
  return packages;
}

// `nccl.library: package VERSION`, by the place where it stands: the cluster's, or a node's own.
void AddNcclPackage(const ClusterSpec& cluster, const NodeSpec& node,
                    std::vector<PackageSpec>& packages) {
  constexpr std::string_view kPackage = "package ";
  const Member* nccl = cluster.FindSection(node, "nccl");
  const Value* library = nccl != nullptr ? nccl->value.Find("library") : nullptr;
  if (library == nullptr || !library->ScalarText().starts_with(kPackage)) return;
  if (packages.empty() || packages.back().position != library->position) {
    packages.push_back({.name = "libnccl2",
                        .at_least = library->ScalarText().substr(kPackage.size()),
                        .nodes = std::vector<NodeName>(),
                        .position = library->position});
  }
  packages.back().nodes->push_back(node.name);
}

class Checker {
 public:
  explicit Checker(const ClusterSpec& cluster)
      : cluster_(cluster), packages_(ReadPackages(cluster)) {}

  Errors Run() {
    for (const PackageSpec& package : packages_) {
      CheckName(package);
      CheckNodes(package);
    }
    for (const NodeSpec& node : cluster_.nodes) CheckOnce(node.name);
    return std::move(errors_);
  }

 private:
  void Add(std::string code, Position position, std::string message, std::string hint) {
    errors_.push_back(MakeManifestError(std::move(code), cluster_.Mark(position),
                                        std::move(message), std::move(hint)));
  }

  // It becomes an argument of apt.
  void CheckName(const PackageSpec& package) {
    if (IsName(package.name)) return;
    Add("packages-name-malformed", package.position,
        fmt::format("packages: wanted a package's name such as nvme-cli, found '{}'",
                    MakePrintable(package.name)),
        "small letters, digits and +-. as `dpkg-query -W` prints it");
  }

  void CheckNodes(const PackageSpec& package) {
    std::vector<std::string> names;
    for (const NodeSpec& node : cluster_.nodes) names.push_back(node.name);
    for (const NodeName& node : package.nodes.value_or(std::vector<NodeName>())) {
      if (cluster_.FindNode(node) != nullptr) continue;
      const auto close = FindClosestMatch(node, names);
      Add("packages-unknown-node", package.position,
          fmt::format("packages: {}: unknown node '{}'{}", package.name, MakePrintable(node),
                      close ? fmt::format(", did you mean '{}'?", *close) : ""),
          fmt::format("nodes: {}", Join(names, ", ")));
    }
  }

  // Two entries are reported once, with the first node that has both.
  void CheckOnce(const NodeName& node) {
    std::map<std::string, const PackageSpec*> seen;
    for (const PackageSpec& package : packages_) {
      if (!package.On(node)) continue;
      const auto [first, added] = seen.emplace(package.name, &package);
      if (added || !reported_.emplace(first->second, &package).second) continue;
      Add("packages-entry-twice", package.position,
          fmt::format("packages: wanted one entry for {} on {}, found another on line {}",
                      package.name, node, first->second->position.line),
          "merge them, or give them different nodes");
    }
  }

  const ClusterSpec& cluster_;
  std::vector<PackageSpec> packages_;
  std::set<std::pair<const PackageSpec*, const PackageSpec*>> reported_ = {};
  Errors errors_ = {};
};

}  // namespace

bool PackageSpec::On(const NodeName& node) const {
  return !nodes || std::find(nodes->begin(), nodes->end(), node) != nodes->end();
}

bool PackageSpec::IsMetBy(std::string_view version) const {
  return at_least.empty() || CompareVersions(version, at_least) >= 0;
}

std::vector<PackageSpec> ReadPackages(const ClusterSpec& cluster) {
  std::vector<PackageSpec> packages = ReadSection(cluster);
  std::vector<PackageSpec> libraries;
  for (const NodeSpec& node : cluster.nodes) AddNcclPackage(cluster, node, libraries);
  packages.insert(packages.end(), libraries.begin(), libraries.end());
  return packages;
}

std::vector<PackageSpec> ReadPackages(const ClusterSpec& cluster, const NodeName& node) {
  std::vector<PackageSpec> packages = ReadSection(cluster);
  std::erase_if(packages, [&](const PackageSpec& package) { return !package.On(node); });
  // Of the others nothing is looked at: this is called for each node.
  std::vector<PackageSpec> libraries;
  if (const NodeSpec* spec = cluster.FindNode(node)) AddNcclPackage(cluster, *spec, libraries);
  packages.insert(packages.end(), libraries.begin(), libraries.end());
  return packages;
}

std::vector<ToolMinimum> ReadMinimums(const ClusterSpec& cluster) {
  std::vector<ToolMinimum> minimums;
  const Value* section = cluster.settings.Find("minimum_versions");
  if (section == nullptr) return minimums;
  for (const Member& member : section->Members()) {
    minimums.push_back({.tool = member.key,
                        .version = member.value.ScalarText(),
                        .position = member.key_position});
  }
  return minimums;
}

Errors CheckPackages(const ClusterSpec& cluster, const Fabric&) { return Checker(cluster).Run(); }

}  // namespace reconciler::plugins::packages
