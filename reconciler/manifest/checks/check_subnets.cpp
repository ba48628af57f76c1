#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "reconciler/base/ipv4.h"
#include "reconciler/base/text.h"
#include "reconciler/manifest/checks/cross_check.h"
#include "reconciler/manifest/read/address_view.h"
#include "reconciler/manifest/read/cabling_view.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/manifest/read/rail_counts.h"
#include "reconciler/yaml/message_text.h"

namespace reconciler {
namespace {

struct SubnetView {
  Ipv4Prefix prefix = {};
  Position position = {};
};

struct Special {
  std::uint32_t network = 0;
  int length = 0;
  std::string_view name;
};

constexpr std::uint32_t kLinkLocal = 0xA9FE0000;

// Where no host address can be (RFC 6890), or where hosts choose their own.
constexpr std::array<Special, 4> kSpecial = {{{0x00000000, 8, "\"this network\""},
                                              {0x7F000000, 8, "loopback"},
                                              {kLinkLocal, 16, "link-local"},
                                              {0xE0000000, 3, "multicast or reserved"}}};

constexpr const char* kOrLinkLocal =
    "; or write link_local: true, and no subnet for the last rail of a pair";

bool IsLinkLocalFabric(const Value& document) {
  const Value* link_local = document.At({"fabric", "link_local"});
  const bool* flag = link_local != nullptr ? link_local->AsBool() : nullptr;
  return flag != nullptr && *flag;
}

std::vector<SubnetView> ViewSubnets(const Value& subnets) {
  std::vector<SubnetView> views;
  for (const Value& entry : subnets.List()) {
    const std::string* text = entry.AsString();
    const auto prefix = text != nullptr ? ParseIpv4Prefix(*text) : std::nullopt;
    if (prefix && prefix->length >= 8 && prefix->length <= 30) {
      views.push_back({*prefix, entry.position});
    }
  }
  return views;
}

// `first_of_cables`: the subnets from that one on belong to cables.
void CheckEach(const std::vector<SubnetView>& subnets, std::size_t first_of_cables,
               ManifestErrors& errors) {
  for (std::size_t i = 0; i < subnets.size(); ++i) {
    const SubnetView& subnet = subnets[i];
    const std::string text = ToString(subnet.prefix);
    if (subnet.prefix != subnet.prefix.Network()) {
      errors.Add("manifest-subnet-wrong", subnet.position,
                 fmt::format("{} is an address within a subnet, did you mean '{}'?", text,
                             ToString(subnet.prefix.Network())));
    }
    for (const Special& special : kSpecial) {
      if (!subnet.prefix.Overlaps({{special.network}, special.length})) continue;
      errors.Add("manifest-subnet-wrong", subnet.position,
                 fmt::format("{} is {} space", text, special.name),
                 std::string("take private subnets, such as 192.168.177.0/24 and "
                             "192.168.178.0/24") +
                     (special.network == kLinkLocal ? kOrLinkLocal : ""));
    }
    if (i >= first_of_cables && subnet.prefix.length != 24) {
      errors.Add("manifest-subnet-wrong", subnet.position,
                 fmt::format("wanted a /24 for each twin of each cable, found {}", text),
                 "NCCL distinguishes cables by the first 24 bits of their addresses");
    }
  }
}

// Beside a switch there are cables: NCCL must determine which interface leads where. The subnets of
// the cables are /24s, so that `count`, those of the switch, remain.
void CheckPrefixes(const std::vector<SubnetView>& subnets, std::size_t count,
                   ManifestErrors& errors) {
  const auto widened = [](Ipv4Prefix prefix) {
    prefix.length = std::min(prefix.length, 24);
    return prefix.Network();
  };
  for (std::size_t later = 0; later < std::min(count, subnets.size()); ++later) {
    for (std::size_t i = 0; i < later; ++i) {
      const Ipv4Prefix& a = subnets[i].prefix;
      const Ipv4Prefix& b = subnets[later].prefix;
      if (a.length <= 24 || b.length <= 24 || a.Overlaps(b) || widened(a) != widened(b)) continue;
      errors.Add("manifest-subnets-overlap", subnets[later].position,
                 fmt::format("{} lies in the same /24 as {} at {}: NCCL compares 24 bits and "
                             "takes the two for one",
                             ToString(b), ToString(a), errors.Mark(subnets[i].position)),
                 "give each a /24 of its own");
      break;
    }
  }
}

void CheckOverlaps(const std::vector<SubnetView>& subnets, ManifestErrors& errors) {
  for (std::size_t later = 0; later < subnets.size(); ++later) {
    for (std::size_t i = 0; i < later; ++i) {
      const SubnetView& a = subnets[i];
      const SubnetView& b = subnets[later];
      if (!a.prefix.Overlaps(b.prefix)) continue;
      const std::string at = errors.Mark(a.position);
      if (a.prefix.Network() == b.prefix.Network()) {
        errors.Add(
            "manifest-subnets-overlap", b.position,
            fmt::format("subnet {} stands twice, first at {}", ToString(b.prefix.Network()), at),
            "twins in one subnet answer for each other: give each rail its own");
      } else {
        errors.Add(
            "manifest-subnets-overlap", b.position,
            fmt::format("subnet {} overlaps {} at {}", ToString(b.prefix), ToString(a.prefix), at));
      }
      break;
    }
  }
}

std::size_t AddCounts(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

// On a switch, and where a node has several such rails, an address would not say which way leads to
// it.
void CheckLinkLocal(const Value& document, Topology topology, ManifestErrors& errors) {
  if (!IsLinkLocalFabric(document) || topology == Topology::kDirect) return;
  errors.Add(
      "manifest-link-local", document.At({"fabric", "link_local"})->position,
      fmt::format(
          "wanted topology direct for link_local: true, found {}",
          topology == Topology::kLinks ? "links" : fmt::format("topology {}", ToString(topology))),
      "link-local addresses are for two nodes on one cable: give each rail a subnet, and "
      "leave link_local out");
}

// Then no one knows how many rails have subnets, and the schema reports it.
bool IsMalformed(const Value& document) {
  const Value* link_local = document.At({"fabric", "link_local"});
  const Value* twins = document.At({"fabric", "twins"});
  const std::string text = twins == nullptr ? "both" : twins->ScalarText();
  return (link_local != nullptr && link_local->AsBool() == nullptr) ||
         (text != "both" && text != "first" && text != "second");
}

// "for topology direct (one per twin of the cable)"
std::string ExplainDirect(const RailCounts& rails, bool link_local) {
  const std::string_view but_last =
      link_local ? ", but for the last rail, which is link-local" : "";
  if (rails.all_twins) {
    return fmt::format("for topology direct (one per twin of the cable{})", but_last);
  }
  if (rails.one_twin) {
    return fmt::format("for topology direct with one twin of each cage{}", but_last);
  }
  return fmt::format("for topology direct (one per twin that both ends have{})", but_last);
}

void CheckCount(Topology topology, std::size_t nodes, std::size_t links, const RailCounts& rails,
                const Value& document, const Value& subnets, ManifestErrors& errors) {
  const bool collectives_only = IsCollectivesRing(document);
  const bool link_local = IsLinkLocalFabric(document) && topology == Topology::kDirect;
  const std::size_t all = rails.on_switches + AddCounts(rails.on_cables);
  const std::size_t wanted = link_local && all > 0 ? all - 1 : all;
  const std::string_view each = rails.all_twins  ? "two per"
                                : rails.one_twin ? "one per"
                                                 : "one per twin that both ends have, per";
  std::string reason;
  switch (topology) {
    case Topology::kDirect:
      if (nodes != 2) return;  // refused already
      reason = ExplainDirect(rails, link_local);
      break;
    case Topology::kSwitch:
    case Topology::kLeafSpine:
      reason = fmt::format("for topology {} (one per rail)", ToString(topology));
      if (links > 0) {
        reason = fmt::format("({} for the switch and {} link)",
                             rails.on_switches == 2 ? "two" : "one", each);
      }
      break;
    case Topology::kRing:
      if (nodes < 3 || (nodes > 3 && !collectives_only)) return;  // refused already
      reason = fmt::format("for a ring of {} nodes ({} cable)", nodes, each);
      break;
    case Topology::kLinks:
      reason = fmt::format("for {} ({} link)", FormatPlural(links, "link", "links"), each);
      break;
  }
  const std::size_t found = subnets.List().size();
  const bool is_reported = found == 0 && !link_local;  // as an empty list
  if (found == wanted || is_reported || all == 0 || !rails.known || IsMalformed(document)) return;
  errors.Add("manifest-subnet-count", subnets.position,
             fmt::format("wanted {} {}, found {}", FormatPlural(wanted, "subnet", "subnets"),
                         reason, found),
             !link_local   ? ""
             : wanted == 0 ? "write subnets: [], or leave link_local out"
                           : "no rail but the last can be link-local");
}

void CheckNotEmpty(const Value& document, const Value& subnets, ManifestErrors& errors) {
  if (!subnets.List().empty() || IsLinkLocalFabric(document)) return;
  errors.Add("manifest-wrong-value", subnets.position,
             "'subnets' in fabric: wanted at least 1 entry, found 0");
}

// An id that comes from a very long number is only known to be large.
std::string FormatId(std::int64_t id) {
  constexpr std::int64_t kLargest = 0xFFFFFFFF;
  return id > kLargest ? fmt::format("over {}", kLargest) : fmt::format("{}", id);
}

void CheckHosts(const std::vector<NodeView>& nodes, const std::vector<SubnetView>& subnets,
                ManifestErrors& errors) {
  for (const NodeView& node : nodes) {
    if (!node.id) continue;
    for (const SubnetView& subnet : subnets) {
      const std::int64_t last = subnet.prefix.HostCount();
      if (*node.id >= 1 && *node.id <= last) continue;
      const std::string_view what = *node.id == 0          ? " (it is the network's own address)"
                                    : *node.id == last + 1 ? " (it is the broadcast address)"
                                                           : "";
      errors.Add(
          "manifest-id-wrong", node.id_position,
          fmt::format("id {} of node {} is no host number in {}{}: wanted 1 to {}",
                      FormatId(*node.id), Quoted(node.name), ToString(subnet.prefix), what, last),
          node.id_is_explicit ? "" : "the id comes from the name; add one that fits");
      break;
    }
  }
}

void CheckManagement(const std::vector<NodeView>& nodes, const std::vector<SubnetView>& subnets,
                     ManifestErrors& errors) {
  for (const NodeView& node : nodes) {
    const auto address = ViewAddress(node.address).ipv4;
    if (!address) continue;
    for (const SubnetView& subnet : subnets) {
      if (!subnet.prefix.Contains(*address)) continue;
      errors.Add(
          "manifest-management-in-fabric", node.address_position,
          fmt::format("management address {} of node {} lies in fabric subnet {} at {}",
                      MakePrintable(node.address), Quoted(node.name), ToString(subnet.prefix),
                      errors.Mark(subnet.position)),
          // An apply that changed such a port would cut off its own session.
          "the fabric needs subnets that nothing else uses; if a port of the fabric has this "
          "address, write the node's address on another network, such as RJ45 or Wi-Fi: an "
          "apply changes that port");
      break;
    }
  }
}

}  // namespace

void CheckSubnets(const Value& document, ManifestErrors& errors) {
  const Value* list = document.At({"fabric", "subnets"});
  if (list == nullptr || !list->IsList()) return;
  const std::vector<NodeView> nodes = ViewNodes(document);
  const std::vector<SubnetView> subnets = ViewSubnets(*list);
  CheckNotEmpty(document, *list, errors);
  const auto topology = ViewTopology(document);
  const RailCounts rails = topology ? CountRails(document, nodes, *topology) : RailCounts{};
  const bool cables = topology && *topology != Topology::kDirect && !rails.on_cables.empty();
  CheckEach(subnets, cables ? rails.on_switches : subnets.size(), errors);
  CheckOverlaps(subnets, errors);
  if (cables) CheckPrefixes(subnets, rails.on_switches, errors);
  CheckHosts(nodes, subnets, errors);
  CheckManagement(nodes, subnets, errors);
  if (!topology) return;
  CheckLinkLocal(document, *topology, errors);
  if (HasEmptyEntry(document)) return;
  const Value* links = document.At({"fabric", "links"});
  CheckCount(*topology, nodes.size(), links != nullptr ? links->List().size() : 0, rails, document,
             *list, errors);
}

}  // namespace reconciler
