#include "reconciler/manifest/edit_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::uint32_t kSubnetSize = 256;  // addresses of a /24
constexpr int kSubnetLength = 24;
// RFC 1918 and RFC 6598.
constexpr std::array<Ipv4Prefix, 4> kPrivate = {
    {{{0xC0A80000}, 16}, {{0x0A000000}, 8}, {{0xAC100000}, 12}, {{0x64400000}, 10}}};
constexpr std::size_t kTwins = 2;

tl::unexpected<Error> RefuseEdit(const ClusterSpec& spec, std::string message, std::string hint) {
  return Fail({.kind = ErrorKind::kManifest,
               .message = std::move(message),
               .where = spec.Mark(spec.fabric.topology_position),
               .hint = std::move(hint)});
}

tl::unexpected<Error> RefuseForm(const ClusterSpec& spec, std::string_view topology) {
  return RefuseEdit(spec,
                    fmt::format("`fabric` has a form in which {} cannot be written", topology),
                    "wanted each key of it on a line of its own, and `subnets` on one line or one "
                    "below the other; "
                    "else edit it by hand");
}

// A node by its host number on the fabric.
struct NodeNumber {
  NodeName name = {};
  int id = 0;
};

// A cable of a ring: from p0 of one node to p1 of the next one by id.
struct RingCable {
  NodeName from = {};
  NodeName to = {};
};

std::vector<RingCable> ListRing(std::vector<NodeNumber> nodes) {
  std::sort(nodes.begin(), nodes.end(),
            [](const NodeNumber& one, const NodeNumber& other) { return one.id < other.id; });
  std::vector<RingCable> ring;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    ring.push_back({nodes[i].name, nodes[(i + 1) % nodes.size()].name});
  }
  return ring;
}

std::vector<NodeNumber> ListNumbers(const ClusterSpec& spec) {
  std::vector<NodeNumber> nodes;
  for (const NodeSpec& node : spec.nodes) nodes.push_back({node.name, node.id});
  return nodes;
}

// The word of the topology, without the comment behind it, which is about the one before.
bool PutTopology(LineEditor& editor, const ClusterSpec& spec, Topology topology) {
  const std::string_view before = ToString(spec.fabric.topology);
  const std::size_t number = GetLine(spec.fabric.topology_position);
  if (number >= editor.Count()) return false;
  std::string line = editor.At(number);
  const auto column = static_cast<std::size_t>(spec.fabric.topology_position.column - 1);
  const std::size_t at = line.find(before, column);
  if (at == std::string::npos) return false;
  const std::size_t end = at + before.size();
  const std::string ending = line.ends_with('\r') ? "\r" : "";
  line = line.substr(0, at) + std::string(ToString(topology)) +
         (editor.EndsAt(number, end) ? ending : line.substr(end));
  editor.Replace(number, std::move(line));
  return true;
}

// A subnet as it shall be listed.
struct SubnetEntry {
  Ipv4Prefix subnet = {};
  std::string comment = {};  // where it is new
};

// The list of subnets as it stands in the text.
class SubnetList {
 public:
  SubnetList(LineEditor& editor, const ClusterSpec& spec) : editor_(editor), spec_(spec) {
    const Value* fabric = spec.settings.Find("fabric");
    member_ = fabric == nullptr ? nullptr : FindWritten(editor, *fabric, "subnets");
  }

  // `plain`: without the comments of the subnets that stay.
  bool Write(const std::vector<SubnetEntry>& wanted, bool plain = false) {
    if (member_ == nullptr || Items().empty()) return false;
    if (IsBlock()) return WriteLines(wanted, plain);
    return WriteFlow(wanted);
  }

 private:
  const std::vector<Value>& Items() const { return member_->value.List(); }
  std::size_t KeyLine() const { return GetLine(member_->key_position); }
  std::string Indent() const {
    return std::string(static_cast<std::size_t>(member_->key_position.column - 1), ' ');
  }

  // Where each item stands behind a "- " of its own.
  bool IsBlock() const {
    return std::all_of(Items().begin(), Items().end(), [&](const Value& item) {
      const std::size_t end = editor_.FindEnd(item);
      return end != std::string::npos &&
             Trim(editor_.At(GetLine(item.position))).starts_with("- ") &&
             editor_.EndsAt(GetLine(item.position), end);
    });
  }

  static std::string Format(const SubnetEntry& entry) {
    const std::string subnet = ToString(entry.subnet);
    return entry.comment.empty() ? subnet : fmt::format("{:<19} # {}", subnet, entry.comment);
  }

  // What stays, stays in its order; what is new comes before the one that follows it.
  bool WriteLines(const std::vector<SubnetEntry>& wanted, bool plain) {
    const std::vector<Value>& items = Items();
    const std::string dash = editor_.At(GetLine(items.front().position));
    const std::string indent(std::min(dash.find('-'), dash.size()), ' ');
    std::vector<bool> stays(items.size(), false);
    std::size_t line = GetLine(items.front().position);  // before which new ones come
    for (const SubnetEntry& entry : wanted) {
      const std::size_t item = FindItem(entry.subnet);
      if (item == items.size()) {
        editor_.InsertBefore(line, fmt::format("{}- {}", indent, Format(entry)));
        continue;
      }
      stays[item] = true;
      line = GetLine(items[item].position) + 1;
      if (!plain) continue;
      const std::string text = editor_.At(line - 1);
      editor_.Replace(line - 1, text.substr(0, editor_.FindEnd(items[item])) +
                                    (text.ends_with('\r') ? "\r" : ""));
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!stays[i]) editor_.Remove(GetLine(items[i].position));
    }
    return true;
  }

  std::size_t FindItem(const Ipv4Prefix& subnet) const {
    const auto& subnets = spec_.fabric.subnets;
    return static_cast<std::size_t>(std::find(subnets.begin(), subnets.end(), subnet) -
                                    subnets.begin());
  }

  // "subnets: [A, B]" on a line of its own; more than two are written one below the other.
  bool WriteFlow(const std::vector<SubnetEntry>& wanted) {
    const std::string line = editor_.At(KeyLine());
    const std::size_t end = GetLine(Items().back().position) == KeyLine()
                                ? editor_.FindEnd(Items().back())
                                : std::string::npos;
    const std::size_t close = end == std::string::npos ? end : line.find_first_not_of(' ', end);
    if (!line.starts_with(Indent() + "subnets: [") || close == std::string::npos ||
        line[close] != ']' || !editor_.EndsAt(KeyLine(), close + 1)) {
      return false;
    }
    std::vector<std::string> texts;
    for (const SubnetEntry& entry : wanted) texts.push_back(ToString(entry.subnet));
    const std::string rest = line.substr(close + 1);
    if (wanted.size() <= kTwins) {
      editor_.Replace(KeyLine(),
                      fmt::format("{}subnets: [{}]{}", Indent(), Join(texts, ", "), rest));
      return true;
    }
    editor_.Replace(KeyLine(), Indent() + "subnets:" + rest);
    for (const SubnetEntry& entry : wanted) {
      editor_.InsertBefore(KeyLine() + 1, fmt::format("{}  - {}", Indent(), Format(entry)));
    }
    return true;
  }

  LineEditor& editor_;
  const ClusterSpec& spec_;
  const Member* member_ = nullptr;
};

// The next /24 behind `last` that overlaps nothing `taken` and holds none of the management
// addresses, in the same private space.
Ipv4Prefix FindNext(const std::vector<std::string>& addresses, const std::vector<Ipv4Prefix>& taken,
                    Ipv4Prefix last) {
  Ipv4Prefix space{last.address, 16};
  for (const Ipv4Prefix& one : kPrivate) {
    if (one.Contains(last.address)) space = one;
  }
  const std::uint32_t count = (~space.Mask() + 1) / kSubnetSize;
  const std::uint32_t first = space.Network().address.bits;
  const std::uint32_t begin = (last.address.bits - first) / kSubnetSize;
  const auto is_free = [&](const Ipv4Prefix& subnet) {
    const auto overlaps = [&](const Ipv4Prefix& one) { return one.Overlaps(subnet); };
    const auto holds = [&](const std::string& text) {
      const auto address = ParseIpv4(text);
      return address && subnet.Contains(*address);
    };
    return std::none_of(taken.begin(), taken.end(), overlaps) &&
           std::none_of(addresses.begin(), addresses.end(), holds);
  };
  for (std::uint32_t i = 1; i < count; ++i) {
    const Ipv4Prefix subnet{{first + (begin + i) % count * kSubnetSize}, kSubnetLength};
    if (is_free(subnet)) return subnet;
  }
  return last;  // the check of the result says that it is there twice
}

// Whether every cage of the node can be in a ring with two subnets per cable.
bool FitsRing(const ClusterSpec& spec, const NodeSpec& node) {
  const Hardware* hardware = spec.FindHardware(node);
  const auto has = [&](std::string_view name) {
    const Cage* cage = hardware == nullptr ? nullptr : hardware->FindCage(name);
    return cage != nullptr && cage->twins.size() == kTwins;
  };
  return has("p0") && has("p1");
}

// A ring has no `cage`, and neither has a pair whose nodes say it themselves.
bool RemoveCages(LineEditor& editor, const ClusterSpec& spec) {
  const auto remove = [&](const Value& map) {
    const Member* cage = FindWritten(editor, map, "cage");
    return cage == nullptr || RemoveWord(editor, *cage);
  };
  const Value* nodes = spec.settings.Find("nodes");
  const Value* fabric = spec.settings.Find("fabric");
  return fabric != nullptr && nodes != nullptr && remove(*fabric) &&
         std::all_of(nodes->List().begin(), nodes->List().end(), remove);
}

std::string FormatSubnets(const std::vector<Ipv4Prefix>& subnets) {
  std::vector<std::string> texts;
  for (const Ipv4Prefix& subnet : subnets) texts.push_back(ToString(subnet));
  return Join(texts, ", ");
}

std::string FormatCable(const RingCable& cable, std::string_view what) {
  return fmt::format("{} p0 to {} p1: {}", cable.from, cable.to, what);
}

// What becomes of the cable of a pair that is one of a ring now.
std::string FormatPairCable(const ClusterSpec& spec, const RingCable& cable) {
  std::vector<std::string> moves;
  for (const auto& [name, wanted] : {std::pair(cable.from, "p0"), std::pair(cable.to, "p1")}) {
    const std::string& cage = spec.FindNode(name)->cage;
    if (cage == wanted) continue;
    moves.push_back(
        fmt::format("{}'s plug moves from {} to {} with its addresses", name, cage, wanted));
  }
  return FormatCable(cable, moves.empty() ? "is there" : "is there; " + Join(moves, "; "));
}

bool IsLinkLocal(const ClusterSpec& spec) {
  const Value* link_local = spec.settings.At({"fabric", "link_local"});
  return link_local != nullptr && link_local->AsBool() != nullptr && *link_local->AsBool();
}

tl::unexpected<Error> RefuseLinkLocal(const ClusterSpec& spec) {
  return Fail({.kind = ErrorKind::kManifest,
               .message = "link-local addresses are for two nodes on one cable",
               .where = spec.Mark(spec.settings.At({"fabric", "link_local"})->position),
               .hint = "give each rail a subnet, and leave link_local out"});
}

}  // namespace

Result<FabricEdit> PutRing(LineEditor& editor, const ClusterSpec& spec, const JoiningNode& node) {
  if (IsLinkLocal(spec)) return RefuseLinkLocal(spec);
  const bool fits = std::all_of(spec.nodes.begin(), spec.nodes.end(),
                                [&](const NodeSpec& one) { return FitsRing(spec, one); });
  if (!fits || spec.fabric.twins != Twins::kBoth || spec.fabric.subnets.size() != kTwins) {
    return RefuseEdit(spec, "a ring of three needs both twins of two cages in every node",
                      "give --switch where there is a switch, or edit `fabric` by hand");
  }
  std::vector<NodeNumber> nodes = ListNumbers(spec);
  nodes.push_back({node.name, node.id});
  std::vector<std::string> addresses = {node.address};
  for (const NodeSpec& one : spec.nodes) addresses.push_back(one.address);
  FabricEdit edit{.remarks = {"the topology is `ring` now, which needs no switch; with "
                              "--switch it would be `switch`"}};
  std::vector<Ipv4Prefix> taken = spec.fabric.subnets;
  std::vector<Ipv4Prefix> added;
  std::vector<SubnetEntry> subnets;
  for (const RingCable& cable : ListRing(nodes)) {
    const std::string ends = fmt::format("{} to {}", cable.from, cable.to);
    const bool is_new = cable.from == node.name || cable.to == node.name;
    edit.cables.push_back(is_new ? FormatCable(cable, "new") : FormatPairCable(spec, cable));
    for (std::size_t i = 0; i < kTwins; ++i) {
      Ipv4Prefix subnet = spec.fabric.subnets[i];
      if (is_new) {
        subnet = FindNext(addresses, taken, taken.back());
        taken.push_back(subnet);
        added.push_back(subnet);
      }
      subnets.push_back({subnet, i == 0 ? ends : ""});
    }
  }
  edit.remarks.push_back(
      fmt::format("new subnets: {}; nothing else may use them", FormatSubnets(added)));
  if (!PutTopology(editor, spec, Topology::kRing) || !RemoveCages(editor, spec) ||
      !SubnetList(editor, spec).Write(subnets)) {
    return RefuseForm(spec, "a ring");
  }
  return edit;
}

Result<FabricEdit> PutSwitch(LineEditor& editor, const ClusterSpec& spec, const JoiningNode& node) {
  if (IsLinkLocal(spec)) return RefuseLinkLocal(spec);
  FabricEdit edit{
      .remarks = {"the topology is `switch` now: one cable from every node to it, in place of "
                  "those between nodes"}};
  std::vector<SubnetEntry> subnets;
  for (std::size_t i = 0; i < std::min(kTwins, spec.fabric.subnets.size()); ++i) {
    subnets.push_back({spec.fabric.subnets[i]});
  }
  const bool is_ring = spec.fabric.topology == Topology::kRing;
  if (!PutTopology(editor, spec, Topology::kSwitch) ||
      (is_ring && !SubnetList(editor, spec).Write(subnets, true))) {
    return RefuseForm(spec, "a switch");
  }
  if (is_ring) {
    edit.remarks.push_back(fmt::format(
        "all nodes are in {} now; the other subnets are free, and the addresses in them go",
        FormatSubnets({subnets[0].subnet, subnets[1].subnet})));
  }
  for (const NodeSpec& one : spec.nodes) {
    edit.cables.push_back(fmt::format("{} {} to the switch", one.name,
                                      is_ring || one.cage.empty() ? "p1" : one.cage));
  }
  const Value* fabric = spec.settings.Find("fabric");
  const std::string cage = fabric == nullptr ? "" : fabric->GetText("cage");
  edit.cables.push_back(fmt::format("{} {} to the switch", node.name, cage.empty() ? "p1" : cage));
  return edit;
}

Result<FabricEdit> PutPair(LineEditor& editor, const ClusterSpec& spec, const NodeName& name) {
  FabricEdit edit;
  std::vector<SubnetEntry> subnets;
  std::vector<Ipv4Prefix> removed;
  NodeName from;
  const std::vector<RingCable> ring = ListRing(ListNumbers(spec));
  if (spec.fabric.subnets.size() != ring.size() * kTwins) return RefuseForm(spec, "a pair");
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const bool stays = ring[i].from != name && ring[i].to != name;
    edit.cables.push_back(FormatCable(ring[i], stays ? "stays, with its addresses" : "unused"));
    if (stays) from = ring[i].from;
    for (std::size_t twin = 0; twin < kTwins; ++twin) {
      const Ipv4Prefix& subnet = spec.fabric.subnets.at(i * kTwins + twin);
      if (stays) subnets.push_back({subnet});
      if (!stays) removed.push_back(subnet);
    }
  }
  edit.remarks = {"the topology is `direct` now, on the cable that is left",
                  fmt::format("free subnets: {}", FormatSubnets(removed))};
  // The other end is in p1, which needs no word.
  const Value* nodes = spec.settings.Find("nodes");
  const auto is_from = [&](const Value& node) { return node.GetText("name") == from; };
  const auto node = std::find_if(nodes->List().begin(), nodes->List().end(), is_from);
  const Member* address =
      node == nodes->List().end() ? nullptr : FindWritten(editor, *node, "address");
  if (address == nullptr || !AddWord(editor, *address, "cage", "p0") ||
      !PutTopology(editor, spec, Topology::kDirect) || !SubnetList(editor, spec).Write(subnets)) {
    return RefuseForm(spec, "a pair");
  }
  return edit;
}

}  // namespace reconciler
