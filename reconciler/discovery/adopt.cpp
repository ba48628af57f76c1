#include "reconciler/discovery/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::size_t kWrittenDigits = 12;

// YAML reads digits alone, and those with an exponent, as a number.
std::string FormatDigest(const std::string& digest) {
  const std::string prefix = digest.substr(0, kWrittenDigits);
  const bool is_number = prefix.find_first_not_of("0123456789e") == std::string::npos;
  return is_number ? fmt::format("\"{}\"", prefix) : prefix;
}

// Whether the change is blocked by what is said of the same node: by its plugin, or of everything.
bool IsExplained(const Diagnostic& one, const std::vector<Diagnostic>& diagnostics) {
  if (one.change.empty()) return false;
  return std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& other) {
    const bool explains = other.change.empty() &&
                          (other.severity == Severity::kBlocks ||
                           (other.severity == Severity::kWarns && other.plugin == one.plugin));
    return explains && std::find(other.nodes.begin(), other.nodes.end(), one.nodes.front()) !=
                           other.nodes.end();
  });
}

// Without the nodes.
std::string FormatObstacle(const Diagnostic& one) {
  std::string text = one.message;
  if (!one.change.empty()) text = one.change.substr(one.change.find('/') + 1) + ": " + text;
  return one.next_step.empty() ? text : text + "; " + one.next_step;
}

}  // namespace

std::vector<FoundFile> FindAdoptable(const ClusterSpec& cluster, const Fabric& fabric,
                                     const ClusterFacts& facts,
                                     const std::vector<Plugin>& plugins) {
  std::vector<FoundFile> found;
  for (const Plugin& plugin : plugins) {
    for (const NodeSpec& node : cluster.nodes) {
      const auto read = facts.nodes.find(node.name);
      if (plugin.adoptable == nullptr || read == facts.nodes.end()) continue;
      for (AdoptableFile& file : plugin.adoptable({cluster, fabric, node, read->second, facts})) {
        found.push_back({node.name, file.entry, file.digest, file.owner});
      }
    }
  }
  return found;
}

void AddAdopt(const std::vector<FoundFile>& files, Discovery& discovery) {
  if (files.empty()) return;
  std::vector<std::string> entries;
  for (const FoundFile& file : files) {
    const bool is_new = std::find(entries.begin(), entries.end(), file.entry) == entries.end();
    if (is_new) entries.push_back(file.entry);
  }
  std::string text =
      "adopt:                           # of others: apply takes them over, uninstall writes them "
      "back\n";
  for (const std::string& entry : entries) {
    std::vector<std::string> nodes;
    std::string owner;
    bool has_digests = false;
    for (const FoundFile& file : files) {
      if (file.entry != entry) continue;
      nodes.push_back(file.digest.empty()
                          ? file.node
                          : fmt::format("{}: {}", file.node, FormatDigest(file.digest)));
      has_digests = !file.digest.empty();
      owner = file.owner;
    }
    const std::string list = Join(nodes, ", ");
    text += fmt::format("  - {{{}, nodes: {}}}{}\n", entry,
                        has_digests ? "{" + list + "}" : "[" + list + "]",
                        owner.empty() ? "" : "  # probably written by " + owner);
  }
  discovery.manifest += text;
}

void AddObstacles(const std::vector<Diagnostic>& diagnostics, Discovery& discovery) {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;  // text → nodes
  for (const Diagnostic& one : diagnostics) {
    // What no plugin warns of is about the cables, or follows from what is blocked.
    const bool is_found = one.severity == Severity::kBlocks ||
                          (one.severity == Severity::kWarns && !one.plugin.empty());
    if (!is_found || IsExplained(one, diagnostics)) continue;
    const std::string text = FormatObstacle(one);
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const auto& other) { return other.first == text; });
    if (same == found.end()) {
      found.emplace_back(text, one.nodes);
    } else {
      same->second.insert(same->second.end(), one.nodes.begin(), one.nodes.end());
    }
  }
  for (const auto& [text, nodes] : found) {
    const std::string where = nodes.empty() ? "" : Join(nodes, ", ") + ": ";
    discovery.gaps.push_back(MakePrintable(where + text));
  }
}

}  // namespace reconciler
