#include "reconciler/discovery/adopt.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/yaml/yaml_scalar.h"

namespace reconciler {
namespace {

constexpr std::size_t kWrittenDigits = 12;

// "KIND: NAME", and what stands behind the name, which has no sign of YAML.
std::string FormatEntry(const std::string& entry) {
  const std::size_t colon = entry.find(": ");
  if (colon == std::string::npos) return entry;
  const std::size_t name = colon + 2;
  const std::size_t end = std::min(entry.find(", ", name), entry.size());
  return entry.substr(0, name) + FormatScalar(entry.substr(name, end - name)) + entry.substr(end);
}

// By node: which plugins warn of it besides their changes; no name stands for what blocks
// everything there.
using Reasons = std::set<std::pair<NodeName, std::optional<std::string>>>;

Reasons ListReasons(const std::vector<Diagnostic>& diagnostics) {
  Reasons reasons;
  for (const Diagnostic& one : diagnostics) {
    if (!one.change.empty() || one.severity == Severity::kInforms) continue;
    const bool blocks = one.severity == Severity::kBlocks;
    for (const NodeName& node : one.nodes) {
      reasons.emplace(node, blocks ? std::nullopt : std::optional(one.plugin));
    }
  }
  return reasons;
}

// Whether the change is blocked by what is said of the same node: by its plugin, or of everything.
bool IsExplained(const Diagnostic& one, const Reasons& reasons) {
  if (one.change.empty()) return false;
  const NodeName& node = one.nodes.front();
  return reasons.contains({node, std::nullopt}) || reasons.contains({node, one.plugin});
}

// Without the nodes.
std::string FormatObstacle(const Diagnostic& one) {
  std::string text = one.message;
  if (!one.change.empty()) text = one.change.substr(one.change.find('/') + 1) + ": " + text;
  return one.next_step.empty() ? text : text + "; " + one.next_step;
}

// Texts with the nodes that have each, in the order in which they are found.
class TextsOfNodes {
 public:
  void Add(const std::string& text, const std::vector<NodeName>& nodes) {
    const auto [place, is_new] = by_text_.emplace(text, found_.size());
    if (is_new) found_.emplace_back(text, std::vector<NodeName>{});
    std::vector<NodeName>& all = found_[place->second].second;
    all.insert(all.end(), nodes.begin(), nodes.end());
  }

  void CopyTo(std::vector<std::string>& lines) const {
    for (const auto& [text, nodes] : found_) {
      const std::string where = nodes.empty() ? "" : Join(nodes, ", ") + ": ";
      lines.push_back(MakePrintable(where + text));
    }
  }

 private:
  std::vector<std::pair<std::string, std::vector<NodeName>>> found_;
  std::unordered_map<std::string, std::size_t> by_text_;
};

}  // namespace

void AddAdopt(const std::vector<AdoptableFile>& files, Discovery& discovery) {
  if (files.empty()) return;
  std::vector<std::vector<const AdoptableFile*>> entries;  // in the order in which they are found
  std::unordered_map<std::string, std::size_t> by_entry;
  for (const AdoptableFile& file : files) {
    const auto [place, is_new] = by_entry.emplace(file.entry, entries.size());
    if (is_new) entries.emplace_back();
    entries[place->second].push_back(&file);
  }
  std::string text =
      "adopt:                           # of others: apply takes them over, uninstall writes them "
      "back\n";
  for (const std::vector<const AdoptableFile*>& found : entries) {
    std::vector<std::string> nodes;
    std::vector<std::string> owners;
    for (const AdoptableFile* file : found) {
      const bool is_new = std::find(owners.begin(), owners.end(), file->owner) == owners.end();
      if (is_new && !file->owner.empty()) owners.push_back(file->owner);
      nodes.push_back(FormatScalar(file->node));
      if (file->digest.empty()) continue;
      nodes.back() += ": " + FormatScalar(file->digest.substr(0, kWrittenDigits));
    }
    const AdoptableFile& last = *found.back();
    const std::string list = Join(nodes, ", ");
    text += fmt::format("  - {{{}, nodes: {}}}{}\n", FormatEntry(last.entry),
                        last.digest.empty() ? "[" + list + "]" : "{" + list + "}",
                        owners.empty() ? "" : "  # probably written by " + Join(owners, "; "));
  }
  discovery.manifest += text;
}

void AddObstacles(const std::vector<Diagnostic>& diagnostics, Discovery& discovery) {
  const auto reasons = ListReasons(diagnostics);
  TextsOfNodes found;
  for (const Diagnostic& one : diagnostics) {
    // What no plugin warns of is about the cables, or follows from what is blocked.
    const bool is_found = one.severity == Severity::kBlocks ||
                          (one.severity == Severity::kWarns && !one.plugin.empty());
    if (!is_found || IsExplained(one, reasons)) continue;
    found.Add(FormatObstacle(one), one.nodes);
  }
  found.CopyTo(discovery.gaps);
}

void AddLostSettings(const Plan& plan, Discovery& discovery) {
  TextsOfNodes found;
  for (const Stage& stage : plan.stages) {
    for (const Change& change : stage.changes) {
      std::vector<std::string> lost = change.owner.settings_lost;
      std::erase_if(lost, [](const std::string& setting) {
        return setting == kIpv6LinkLocal || setting == kRouterAdvertisements;
      });
      if (change.change != ChangeKind::kAdopt || lost.empty()) continue;
      found.Add(fmt::format("adopting {} does not carry over: {}", change.name, Join(lost, ", ")),
                {change.node});
    }
  }
  found.CopyTo(discovery.notes);
}

std::string FormatWithSections(const Discovery& discovery, const std::vector<Plugin>& plugins) {
  std::string text = FormatDiscovery(discovery);
  for (const Plugin& plugin : plugins) {
    if (!plugin.noted_with.empty()) text += fmt::format("{}\n", plugin.noted_with);
  }
  return text;
}

void AddNotes(const std::vector<Diagnostic>& diagnostics, const std::vector<Plugin>& plugins,
              Discovery& discovery) {
  TextsOfNodes found;
  for (const Diagnostic& one : diagnostics) {
    const auto plugin = std::find_if(plugins.begin(), plugins.end(), [&](const Plugin& each) {
      return each.name == one.plugin && !each.noted_with.empty();
    });
    const bool is_found = one.severity == Severity::kWarns && one.change.empty();
    if (plugin == plugins.end() || !is_found) continue;
    found.Add(fmt::format("with `{}` in the manifest: {}", plugin->noted_with, one.message),
              one.nodes);
  }
  found.CopyTo(discovery.notes);
}

}  // namespace reconciler
