#include "reconciler/manifest/edit_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/manifest/read/node_view.h"

namespace reconciler {
namespace {

using Edited = tl::expected<EditedManifest, Error>;

Edited Refuse(const ClusterSpec& spec, Position where, std::string message, std::string hint = {}) {
  return tl::unexpected(Error{.kind = ErrorKind::kManifest,
                              .message = std::move(message),
                              .where = SourceMark{spec.file, where},
                              .hint = std::move(hint)});
}

// The lines of one entry of a block list, from 0; `end` is behind the last one.
struct Lines {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t dash = 0;  // columns before the "-"
};

bool IsEmptyOrComment(std::string_view line) {
  const std::string_view text = Trim(line);
  return text.empty() || text.front() == '#';
}

std::size_t CountIndent(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// Nothing where the entry does not stand behind a "- " of its own.
std::optional<Lines> FindLines(const std::vector<std::string>& lines, Position position) {
  if (position.line < 1 || static_cast<std::size_t>(position.line) > lines.size()) {
    return std::nullopt;
  }
  const auto begin = static_cast<std::size_t>(position.line - 1);
  const std::string_view first = lines[begin];
  const std::size_t dash = CountIndent(first);
  const std::size_t text = first.find_first_not_of(' ', dash + 1);
  if (first.substr(dash, 2) != "- " || text + 1 != static_cast<std::size_t>(position.column)) {
    return std::nullopt;
  }
  std::size_t end = begin + 1;
  std::size_t own = end;  // what follows the last line with text belongs to what comes next
  for (; end < lines.size(); ++end) {
    if (IsEmptyOrComment(lines[end])) continue;
    if (CountIndent(lines[end]) <= dash) break;
    own = end + 1;
  }
  return Lines{begin, own, dash};
}

// With a newline at the end where `before` has one.
std::string JoinLines(const std::vector<std::string>& lines, std::string_view before) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  if (!before.ends_with('\n') && !text.empty()) text.pop_back();
  return text;
}

// "\r" in a file whose lines end as on Windows.
std::string_view GetEnding(std::string_view line) { return line.ends_with('\r') ? "\r" : ""; }

// The number of a node that has none of its own, or whose own is taken.
int FindFreeId(const ClusterSpec& spec) {
  std::set<int> taken;
  for (const NodeSpec& node : spec.nodes) taken.insert(node.id);
  int id = 1;
  while (taken.contains(id)) ++id;
  return id;
}

// Another node has the number, or a subnet has no place for it.
bool IsTaken(const ClusterSpec& spec, std::int64_t id) {
  const bool is_too_large =
      std::any_of(spec.fabric.subnets.begin(), spec.fabric.subnets.end(),
                  [id](const Ipv4Prefix& subnet) { return id > subnet.HostCount(); });
  return is_too_large || std::any_of(spec.nodes.begin(), spec.nodes.end(),
                                     [id](const NodeSpec& node) { return node.id == id; });
}

// "topology: direct  # two nodes, one cable" to a switch, without the comment, which is about the
// cable.
bool PutSwitch(std::vector<std::string>& lines, Position position) {
  constexpr std::string_view kDirect = "direct";
  if (position.line < 1 || static_cast<std::size_t>(position.line) > lines.size()) return false;
  std::string& line = lines[static_cast<std::size_t>(position.line - 1)];
  const std::size_t at = line.find(kDirect, static_cast<std::size_t>(position.column - 1));
  if (at == std::string::npos) return false;
  const std::string ending(GetEnding(line));
  const bool ends_line = line.find_first_not_of(' ', at + kDirect.size()) == std::string::npos ||
                         line[line.find_first_not_of(' ', at + kDirect.size())] == '#';
  line = line.substr(0, at) + "switch" + (ends_line ? ending : line.substr(at + kDirect.size()));
  return true;
}

}  // namespace

Edited AddNode(std::string_view text, const ClusterSpec& spec, const NewNode& node) {
  if (const NodeSpec* there = spec.FindNode(node.name)) {
    return Refuse(spec, there->position, fmt::format("{} is a node already", node.name),
                  "give the new one a name of its own");
  }
  std::vector<std::string> lines = SplitLines(text);
  const auto last = FindLines(lines, spec.nodes.back().position);
  if (!last) {
    return Refuse(spec, spec.nodes.back().position,
                  "wanted each node on lines of its own that begin with '- '",
                  "add the node by hand");
  }
  EditedManifest edited;
  if (spec.fabric.topology == Topology::kDirect || spec.fabric.topology == Topology::kRing) {
    const bool is_pair = spec.fabric.topology == Topology::kDirect;
    if (!is_pair || !node.to_switch) {
      return Refuse(spec, spec.fabric.topology_position,
                    fmt::format("{} has no place for one more node",
                                is_pair ? "a cable between two nodes" : "a ring"),
                    is_pair
                        ? "give --switch where a switch takes the place of the cable; for a "
                          "ring of three write `fabric` as manifests/ring-3.yaml has it"
                        : "write `fabric` by hand: as manifests/switch-4.yaml has it, or with the "
                          "subnets of the longer ring");
    }
    if (!PutSwitch(lines, spec.fabric.topology_position)) {
      return Refuse(spec, spec.fabric.topology_position, "the topology cannot be edited here",
                    "write `topology: switch` by hand");
    }
    edited.remarks.push_back("the topology is `switch` now: one cable from every node to it");
  }
  std::string id;
  const auto number = ReadTrailingNumber(node.name);
  if (!number || *number < 1 || IsTaken(spec, *number)) {
    const int free = FindFreeId(spec);
    id = fmt::format(", id: {}", free);
    edited.remarks.push_back(fmt::format("{} has host number {} on the fabric", node.name, free));
  }
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(last->end),
               fmt::format("{}- {{name: {}, address: {}{}}}{}", std::string(last->dash, ' '),
                           node.name, node.address, id, GetEnding(lines[last->begin])));
  edited.text = JoinLines(lines, text);
  return edited;
}

Edited RemoveNode(std::string_view text, const ClusterSpec& spec, const NodeName& name) {
  const NodeSpec* node = spec.FindNode(name);
  if (node == nullptr) {
    std::vector<std::string> known;
    for (const NodeSpec& one : spec.nodes) known.push_back(one.name);
    return Refuse(spec, spec.nodes.front().position, fmt::format("no node is named '{}'", name),
                  "known: " + Join(known, ", "));
  }
  std::vector<std::string> lines = SplitLines(text);
  const auto own = FindLines(lines, node->position);
  if (!own) {
    return Refuse(spec, node->position, "wanted each node on lines of its own that begin with '- '",
                  "remove the node by hand");
  }
  lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(own->begin),
              lines.begin() + static_cast<std::ptrdiff_t>(own->end));
  return EditedManifest{.text = JoinLines(lines, text)};
}

}  // namespace reconciler
