#include <fmt/format.h>

#include <array>
#include <optional>

#include "reconciler/base/text.h"
#include "reconciler/model/ipv4.h"
#include "reconciler/spec/cabling_view.h"
#include "reconciler/spec/cross_check.h"
#include "reconciler/spec/node_view.h"
#include "reconciler/spec/wording.h"

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

// Where no host address can be (RFC 6890), or where hosts pick their own.
constexpr std::array<Special, 4> kSpecial = {{{0x00000000, 8, "\"this network\""},
                                              {0x7F000000, 8, "loopback"},
                                              {0xA9FE0000, 16, "link-local"},
                                              {0xE0000000, 3, "multicast or reserved"}}};

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

void CheckEach(const std::vector<SubnetView>& subnets, bool per_cable, Problems& problems) {
  for (const SubnetView& subnet : subnets) {
    const std::string text = ToString(subnet.prefix);
    if (subnet.prefix != subnet.prefix.Network()) {
      problems.Add(subnet.position,
                   fmt::format("{} is an address within a subnet, did you mean '{}'?", text,
                               ToString(subnet.prefix.Network())));
    }
    for (const Special& special : kSpecial) {
      if (!subnet.prefix.Overlaps({{special.network}, special.length})) continue;
      problems.Add(subnet.position, fmt::format("{} is {} space", text, special.name),
                   "take private subnets, such as 192.168.177.0/24 and 192.168.178.0/24");
    }
    if (per_cable && subnet.prefix.length != 24) {
      problems.Add(subnet.position,
                   fmt::format("wanted a /24 for each twin of each cable, found {}", text),
                   "NCCL tells cables apart by the first 24 bits of their addresses");
    }
  }
}

void CheckOverlaps(const std::vector<SubnetView>& subnets, Problems& problems) {
  for (std::size_t later = 0; later < subnets.size(); ++later) {
    for (std::size_t i = 0; i < later; ++i) {
      const SubnetView& a = subnets[i];
      const SubnetView& b = subnets[later];
      if (!a.prefix.Overlaps(b.prefix)) continue;
      const std::string at = problems.Mark(a.position);
      if (a.prefix.Network() == b.prefix.Network()) {
        problems.Add(
            b.position,
            fmt::format("subnet {} stands twice, first at {}", ToString(b.prefix.Network()), at),
            "twins in one subnet answer for each other: give each rail its own");
      } else {
        problems.Add(b.position, fmt::format("subnet {} overlaps {} at {}", ToString(b.prefix),
                                             ToString(a.prefix), at));
      }
      break;
    }
  }
}

void CheckCount(Topology topology, std::size_t nodes, std::size_t links, const Value& subnets,
                Problems& problems) {
  std::size_t wanted = 0;
  std::string reason;
  switch (topology) {
    case Topology::kDirect:
      wanted = 2;
      reason = "for topology direct (one per twin of the cable)";
      break;
    case Topology::kSwitch:
      wanted = 2 + 2 * links;
      reason = "for topology switch (one per rail)";
      if (links > 0) reason = "(two for the switch and two per link)";
      break;
    case Topology::kRing:
      if (nodes != 3) return;  // refused already
      wanted = 6;
      reason = "for a ring of 3 nodes (two per cable)";
      break;
    case Topology::kLinks:
      wanted = 2 * links;
      reason = fmt::format("for {} (two per link)", Plural(links, "link", "links"));
      break;
    case Topology::kLeafSpine:
      return;
  }
  const std::size_t found = subnets.List().size();
  if (found == wanted || found == 0) return;
  problems.Add(subnets.position,
               fmt::format("wanted {} subnets {}, found {}", wanted, reason, found));
}

// An id that comes from a very long number is only known to be large.
std::string IdText(std::int64_t id) {
  constexpr std::int64_t kLargest = 0xFFFFFFFF;
  return id > kLargest ? fmt::format("over {}", kLargest) : fmt::format("{}", id);
}

void CheckHosts(const std::vector<NodeView>& nodes, const std::vector<SubnetView>& subnets,
                Problems& problems) {
  for (const NodeView& node : nodes) {
    if (!node.id) continue;
    for (const SubnetView& subnet : subnets) {
      const std::int64_t last = subnet.prefix.HostCount();
      if (*node.id >= 1 && *node.id <= last) continue;
      const std::string_view what = *node.id == 0          ? " (it is the network's own address)"
                                    : *node.id == last + 1 ? " (it is the broadcast address)"
                                                           : "";
      problems.Add(
          node.id_position,
          fmt::format("id {} of node {} is no host number in {}{}: wanted 1 to {}",
                      IdText(*node.id), Quoted(node.name), ToString(subnet.prefix), what, last),
          node.id_is_explicit ? "" : "the id comes from the name; add one that fits");
      break;
    }
  }
}

void CheckManagement(const std::vector<NodeView>& nodes, const std::vector<SubnetView>& subnets,
                     Problems& problems) {
  for (const NodeView& node : nodes) {
    const auto address = ParseIpv4(node.address);
    if (!address) continue;
    for (const SubnetView& subnet : subnets) {
      if (!subnet.prefix.Contains(*address)) continue;
      problems.Add(node.address_position,
                   fmt::format("management address {} of node {} lies in fabric subnet {} at {}",
                               node.address, Quoted(node.name), ToString(subnet.prefix),
                               problems.Mark(subnet.position)),
                   "the fabric needs subnets that nothing else uses");
      break;
    }
  }
}

}  // namespace

void CheckSubnets(const Value& document, Problems& problems) {
  const Value* list = document.At({"fabric", "subnets"});
  if (list == nullptr || !list->IsList()) return;
  const std::vector<NodeView> nodes = ViewNodes(document);
  const std::vector<SubnetView> subnets = ViewSubnets(*list);
  const auto topology = ViewTopology(document);
  const bool per_cable = topology == Topology::kRing || topology == Topology::kLinks;
  CheckEach(subnets, per_cable, problems);
  CheckOverlaps(subnets, problems);
  CheckHosts(nodes, subnets, problems);
  CheckManagement(nodes, subnets, problems);
  const Value* links = document.At({"fabric", "links"});
  if (topology) {
    CheckCount(*topology, nodes.size(), links != nullptr ? links->List().size() : 0, *list,
               problems);
  }
}

}  // namespace reconciler
