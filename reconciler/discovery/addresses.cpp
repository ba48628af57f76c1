#include "reconciler/discovery/addresses.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/manifest/read/node_view.h"

namespace reconciler {
namespace {

constexpr std::uint32_t kFirstProposal = 0xC0A8B100;  // 192.168.177.0
constexpr std::uint32_t kLastProposal = 0xC0A8FE00;   // 192.168.254.0
constexpr std::uint32_t kFirstFallback = 0x0AB10000;  // 10.177.0.0
constexpr std::uint32_t kEndOfFallback = 0x0B000000;  // 11.0.0.0
constexpr std::uint32_t kStep = 256;                  // addresses of a /24
constexpr int kProposedLength = 24;
constexpr int kShortestProposal = 16;
constexpr int kLargestProposedId = 65534;  // the last one of such a subnet
// NCCL distinguishes cables by this many bits.
constexpr int kLengthForCables = 24;
// Shorter ones are routes to everything, as a VPN sets them.
constexpr int kShortestNetwork = 8;
// What a manifest can have.
constexpr int kShortestSubnet = 8;
constexpr int kLongestSubnet = 30;
constexpr int kLargestId = 16777214;
constexpr int kDefaultMtu = 9000;
constexpr std::int64_t kMostUsualId = 254;          // in a /24
constexpr Ipv4Prefix kLinkLocal{{0xA9FE0000}, 16};  // RFC 3927

const LinkFact* FindLink(const ClusterFacts& facts, const NodeName& node,
                         const std::string& netdev) {
  const auto found = facts.nodes.find(node);
  if (found == facts.nodes.end()) return nullptr;
  const auto link = found->second.links.find(netdev);
  return link == found->second.links.end() ? nullptr : &link->second;
}

bool OverlapsLinkLocal(const Ipv4Prefix& address) { return kLinkLocal.Overlaps(address); }

std::uint32_t GetHostNumber(const Ipv4Prefix& address) {
  return address.address.bits - address.Network().address.bits;
}

// The one address of a port that a manifest can keep, or why there is none.
struct PortAddress {
  std::optional<Ipv4Prefix> address = {};
  std::string why = {};
};

PortAddress FindAddress(const ClusterFacts& facts, const NodeName& node,
                        const std::string& netdev) {
  const LinkFact* link = FindLink(facts, node, netdev);
  if (link == nullptr) return {.why = "is not there"};
  std::vector<Ipv4Prefix> kept;
  std::copy_if(link->ipv4.begin(), link->ipv4.end(), std::back_inserter(kept),
               [](const Ipv4Prefix& address) { return !OverlapsLinkLocal(address); });
  if (kept.size() == 1) {
    const Ipv4Prefix& only = kept.front();
    if (only.length < kShortestSubnet || only.length > kLongestSubnet) {
      return {.why = fmt::format("has {}, and a subnet has a length from {} to {}", ToString(only),
                                 kShortestSubnet, kLongestSubnet)};
    }
    const std::uint32_t number = GetHostNumber(only);
    if (number == 0 || number > only.HostCount()) {
      return {.why = fmt::format("has {}, which is no host's address", ToString(only))};
    }
    return {.address = only};
  }
  if (kept.size() > 1) return {.why = "has several addresses"};
  if (link->ipv4.empty() && !link->master.empty()) {
    return {.why = fmt::format("is a member of {}, which RDMA bypasses: not expressible",
                               MakePrintable(link->master))};
  }
  return {.why = link->ipv4.empty() ? "has no address" : "has a link-local address only"};
}

class AddressFinder {
 public:
  // `largest_id`: of the host numbers that stay.
  AddressFinder(const ClusterSpec& hosts, const std::vector<FoundRail>& rails,
                const ClusterFacts& facts, RailCabling cabling, const std::map<NodeName, int>& ids,
                int largest_id)
      : hosts_(hosts),
        rails_(rails),
        facts_(facts),
        cabling_(cabling),
        largest_id_(largest_id),
        found_{.ids = ids} {
    for (const auto& [node, one] : facts.nodes) {
      for (const auto& [netdev, link] : one.links) {
        for (const Ipv4Prefix& address : link.ipv4) used_.insert(address.Network());
      }
      if (const auto* routes = Known(one.network.routes)) {
        for (const RouteFact& route : *routes) used_.insert(route.destination);
      }
    }
  }

  FoundAddresses Find() {
    std::vector<std::string> whys;  // by rail; empty: its subnet stays
    for (const FoundRail& rail : rails_) whys.push_back(TryToKeep(rail));
    if (cabling_ == RailCabling::kPair) KeepLinkLocal(whys);
    FillIds(whys);
    ReplaceSmall(whys);
    for (std::size_t i = 0; i < rails_.size(); ++i) {
      if (whys[i].empty()) {
        const bool is_link_local = found_.link_local && i + 1 == rails_.size();
        if (!is_link_local) AddMissing(i, rails_[i]);
        AddLeases(i, rails_[i]);
        continue;
      }
      found_.subnets[i] = FindFree();
      found_.gaps.push_back(fmt::format("rail{}: {}; {} is free and takes its place{}", i, whys[i],
                                        ToString(found_.subnets[i]), DescribeMoves(i, rails_[i])));
    }
    OfferOneTwin(whys);
    FindMtu();
    FindLiveOnly();
    return std::move(found_);
  }

 private:
  // Empty: the rail's subnet stays, and every address in it.
  std::string TryToKeep(const FoundRail& rail) {
    found_.subnets.emplace_back();
    std::optional<Ipv4Prefix> network;
    std::map<NodeName, int> ids;
    std::string missing;
    for (const auto& [node, netdev] : rail.netdevs) {
      const PortAddress port = FindAddress(facts_, node, netdev);
      if (!port.address) {
        if (missing.empty()) missing = fmt::format("{} {} {}", node, netdev, port.why);
        continue;
      }
      const Ipv4Prefix own = port.address->Network();
      if (network && *network != own) {
        return fmt::format("its ports are in {} and {}", ToString(*network), ToString(own));
      }
      network = own;
      ids[node] = static_cast<int>(GetHostNumber(*port.address));
    }
    if (!network) return missing.empty() ? "it has no port" : missing;
    if (std::string why = ExplainSubnet(*network); !why.empty()) return why;
    if (std::string why = ExplainNumbers(ids); !why.empty()) return why;
    found_.ids.insert(ids.begin(), ids.end());
    found_.subnets.back() = *network;
    return {};
  }

  // Why no rail can have it; empty: one can.
  std::string ExplainSubnet(const Ipv4Prefix& network) const {
    if (cabling_ == RailCabling::kCables && network.length != kLengthForCables) {
      return fmt::format("{} is no /{}, and each twin of each cable needs one", ToString(network),
                         kLengthForCables);
    }
    for (const Ipv4Prefix& other : found_.subnets) {
      if (other.length != 0 && other.Overlaps(network)) {
        return fmt::format(
            "{} is another rail's too: not expressible, each rail needs its own subnet",
            ToString(network));
      }
    }
    for (const NodeSpec& node : hosts_.nodes) {
      if (std::string why = ExplainOtherUse(network, node); !why.empty()) return why;
    }
    return {};
  }

  // Which interface of the node uses it for something else than the fabric; empty: none.
  std::string ExplainOtherUse(const Ipv4Prefix& network, const NodeSpec& node) const {
    const auto facts = facts_.nodes.find(node.name);
    if (facts == facts_.nodes.end()) return {};
    const std::set<std::string> of_cages = ListOfCages(node);
    for (const auto& [netdev, link] : facts->second.links) {
      if (of_cages.contains(netdev)) continue;
      for (const Ipv4Prefix& address : link.ipv4) {
        if (!address.Overlaps(network)) continue;
        return fmt::format(
            "{} overlaps {} of {}'s {}, and each rail needs a subnet that nothing else uses",
            ToString(network), ToString(address), node.name, MakePrintable(netdev));
      }
    }
    return ExplainRoute(network, node.name, facts->second.network, of_cages);
  }

  static std::string ExplainRoute(const Ipv4Prefix& network, const NodeName& node,
                                  const NetworkFacts& facts,
                                  const std::set<std::string>& of_cages) {
    const auto* routes = Known(facts.routes);
    if (routes == nullptr) return {};
    for (const auto& [destination, netdev] : *routes) {
      if (destination.length < kShortestNetwork || of_cages.contains(netdev) ||
          !destination.Overlaps(network)) {
        continue;
      }
      return fmt::format(
          "{} overlaps {}, which {} reaches {}, and each rail needs a subnet that nothing else "
          "uses",
          ToString(network), ToString(destination), node,
          netdev.empty() ? "elsewhere" : "over " + MakePrintable(netdev));
    }
    return {};
  }

  // The ports of all cages, and their bonds and bridges. No plan takes an address there for another
  // network: these ports are those of the fabric, and `adopt` dissolves what they are members of.
  std::set<std::string> ListOfCages(const NodeSpec& node) const {
    std::set<std::string> netdevs;
    const Hardware* hardware = hosts_.FindHardware(node);
    if (hardware == nullptr) return netdevs;
    for (const Cage& cage : hardware->cages) {
      for (const Twin& twin : cage.twins) {
        netdevs.insert(twin.netdev);
        const LinkFact* link = FindLink(facts_, node.name, twin.netdev);
        if (link != nullptr && !link->master.empty()) netdevs.insert(link->master);
      }
    }
    return netdevs;
  }

  bool HasOnSomeRail(const NodeName& node, int id) const {
    return std::any_of(rails_.begin(), rails_.end(), [&](const FoundRail& rail) {
      const auto netdev = rail.netdevs.find(node);
      if (netdev == rail.netdevs.end()) return false;
      const auto address = FindAddress(facts_, node, netdev->second).address;
      return address && GetHostNumber(*address) == static_cast<std::uint32_t>(id);
    });
  }

  // Why the nodes cannot have these host numbers, by node; empty: they can.
  std::string ExplainNumbers(const std::map<NodeName, int>& ids) const {
    for (const auto& [node, id] : ids) {
      if (id > largest_id_) {
        return fmt::format(
            "{} has host number {} there, and a subnet that is proposed has at most {}", node, id,
            largest_id_);
      }
      const auto known = found_.ids.find(node);
      if (known != found_.ids.end() && known->second != id) {
        return fmt::format("{} has host number {} there and {}", node, id,
                           HasOnSomeRail(node, known->second)
                               ? fmt::format("{} on another rail", known->second)
                               : fmt::format("gets {}", known->second));
      }
      for (const auto* others : {&found_.ids, &ids}) {
        for (const auto& [other, taken] : *others) {
          if (other != node && taken == id) {
            return fmt::format("{} and {} would both have host number {}", node, other, id);
          }
        }
      }
    }
    return {};
  }

  // The last rail, where the nodes choose its addresses and those of all others stay.
  void KeepLinkLocal(std::vector<std::string>& whys) {
    const bool others_stay = std::all_of(whys.begin(), whys.end() - (whys.empty() ? 0 : 1),
                                         [](const std::string& why) { return why.empty(); });
    if (rails_.size() < 2 || !others_stay) return;
    for (const auto& [node, netdev] : rails_.back().netdevs) {
      const LinkFact* link = FindLink(facts_, node, netdev);
      if (link == nullptr || link->ipv4.size() != 1 || !OverlapsLinkLocal(link->ipv4.front()))
        return;
    }
    // The plan would block every port.
    for (const NodeSpec& node : hosts_.nodes) {
      if (std::string why = ExplainOtherUse(kLinkLocal, node); !why.empty()) {
        whys.back() = std::move(why);
        return;
      }
    }
    found_.link_local = true;
    found_.subnets.back() = kLinkLocal;
    whys.back().clear();
  }

  Ipv4Address GetNewAddress(std::size_t rail, const NodeName& node) const {
    const auto id = static_cast<std::uint32_t>(found_.ids.at(node));
    return {found_.subnets[rail].address.bits + id};
  }

  // ": spark-1 enp1s0f1np1 192.168.0.2 → 192.168.177.1" of all ports whose address a node was
  // given.
  std::string DescribeMoves(std::size_t rail, const FoundRail& ports) const {
    std::vector<std::string> moves;
    for (const auto& [node, netdev] : ports.netdevs) {
      const LinkFact* link = FindLink(facts_, node, netdev);
      if (link == nullptr) continue;
      std::vector<std::string> old;
      for (const Ipv4Prefix& address : link->ipv4) {
        if (!OverlapsLinkLocal(address)) old.push_back(ToString(address.address));
      }
      if (old.empty()) continue;
      moves.push_back(fmt::format("{} {} {} → {}", node, netdev, Join(old, " and "),
                                  ToString(GetNewAddress(rail, node))));
    }
    return moves.empty() ? "" : ": " + Join(moves, ", ");
  }

  // Ports without an address in a subnet that stays.
  void AddMissing(std::size_t rail, const FoundRail& ports) {
    for (const auto& [node, netdev] : ports.netdevs) {
      const PortAddress port = FindAddress(facts_, node, netdev);
      if (port.address) continue;
      found_.gaps.push_back(fmt::format("rail{}: {} {} {}; the manifest gives it {}", rail, node,
                                        netdev, port.why, ToString(GetNewAddress(rail, node))));
    }
  }

  // The server may give them to others once the port no longer renews them.
  void AddLeases(std::size_t rail, const FoundRail& ports) {
    for (const auto& [node, netdev] : ports.netdevs) {
      const PortAddress port = FindAddress(facts_, node, netdev);
      if (!port.address) continue;
      const std::string address = ToString(port.address->address);
      const auto& leases = facts_.nodes.at(node).network.leases;
      const auto own = leases.find(netdev);
      if (own == leases.end() ||
          std::find(own->second.begin(), own->second.end(), address) == own->second.end()) {
        continue;
      }
      found_.notes.push_back(
          fmt::format("rail{}: {} {} has {} from a DHCP server, and the manifest keeps it: take it "
                      "out of the server's pool, or choose another subnet",
                      rail, node, netdev, address));
    }
  }

  // Nothing but link-local addresses that it may have chosen itself.
  bool HasNoAddress(const FoundRail& rail) const {
    return std::all_of(rail.netdevs.begin(), rail.netdevs.end(), [&](const auto& port) {
      const LinkFact* link = FindLink(facts_, port.first, port.second);
      return link != nullptr && link->master.empty() &&
             std::all_of(link->ipv4.begin(), link->ipv4.end(), OverlapsLinkLocal);
    });
  }

  // Where every address is on one twin of each cage, and stays.
  void OfferOneTwin(const std::vector<std::string>& whys) {
    for (const std::size_t used : {std::size_t{0}, std::size_t{1}}) {
      std::vector<std::string> subnets;
      bool is_alone = true;
      bool has_other = false;
      for (std::size_t i = 0; i < rails_.size(); ++i) {
        if (rails_[i].twin == used) {
          is_alone &= whys[i].empty();
          subnets.push_back(ToString(found_.subnets[i]));
        } else {
          is_alone &= !whys[i].empty() && HasNoAddress(rails_[i]);
          has_other = true;
        }
      }
      if (!is_alone || !has_other || subnets.empty()) continue;
      found_.gaps.push_back(fmt::format(
          "the {} twins have no address, and the manifest gives them some, as advised for full "
          "speed; `twins: {}` with `subnets: [{}]` keeps what was found",
          used == 0 ? "second" : "first", used == 0 ? "first" : "second", Join(subnets, ", ")));
    }
  }

  // Nodes without an address to keep have the number that their name ends in, or the lowest one.
  void FillIds(const std::vector<std::string>& whys) {
    std::int64_t most = kMostUsualId;
    for (std::size_t i = 0; i < whys.size(); ++i) {
      if (whys[i].empty()) most = std::min<std::int64_t>(most, found_.subnets[i].HostCount());
    }
    std::set<int> taken;
    for (const auto& [node, id] : found_.ids) taken.insert(id);
    std::vector<NodeName> rest;
    for (const NodeSpec& spec : hosts_.nodes) {
      const NodeName& node = spec.name;
      if (found_.ids.contains(node)) continue;
      const auto number = ReadTrailingNumber(node);
      if (number && *number >= 1 && *number <= most &&
          taken.insert(static_cast<int>(*number)).second) {
        found_.ids[node] = static_cast<int>(*number);
      } else {
        rest.push_back(node);
      }
    }
    int next = 1;
    for (const NodeName& node : rest) {
      while (taken.contains(next)) ++next;
      taken.insert(next);
      found_.ids[node] = next;
    }
  }

  // What has no address for a node whose host number another rail has given.
  void ReplaceSmall(std::vector<std::string>& whys) const {
    for (std::size_t i = 0; i < whys.size(); ++i) {
      if (!whys[i].empty()) continue;
      for (const auto& [node, id] : found_.ids) {
        if (static_cast<std::uint32_t>(id) <= found_.subnets[i].HostCount()) continue;
        whys[i] = fmt::format("{} has no address for {}, whose host number is {}",
                              ToString(found_.subnets[i]), node, id);
        break;
      }
    }
  }

  bool TakeIfFree(const Ipv4Prefix& subnet) {
    const bool is_used = std::any_of(used_.begin(), used_.end(), [&](const Ipv4Prefix& other) {
      return other.length >= kShortestNetwork && subnet.Overlaps(other);
    });
    if (!is_used) used_.insert(subnet);
    return !is_used;
  }

  // Of a subnet with an address for every node: a /24, or a larger one for a high host number.
  int ComputeProposedLength() const {
    std::int64_t most = 0;
    for (const auto& [node, id] : found_.ids) most = std::max<std::int64_t>(most, id);
    int length = kProposedLength;
    while (length > kShortestProposal && most > Ipv4Prefix{{}, length}.HostCount()) --length;
    return length;
  }

  // Where even the last one is in use, the plan says so.
  Ipv4Prefix FindFree() {
    const int length = ComputeProposedLength();
    for (std::uint32_t bits = kFirstProposal; bits <= kLastProposal; bits += kStep) {
      if (length == kProposedLength && TakeIfFree({{bits}, length})) return {{bits}, length};
    }
    const std::uint32_t step = std::uint32_t{1} << (32 - length);
    for (std::uint32_t bits = kFirstFallback; bits < kEndOfFallback; bits += step) {
      if (TakeIfFree({{bits}, length})) return {{bits}, length};
    }
    return {{kEndOfFallback - step}, length};
  }

  void FindMtu() {
    std::set<int> found;
    for (const FoundRail& rail : rails_) {
      for (const auto& [node, netdev] : rail.netdevs) {
        if (const LinkFact* link = FindLink(facts_, node, netdev)) found.insert(link->mtu);
      }
    }
    if (found.size() == 1 && *found.begin() >= 1500 && *found.begin() <= 9216) {
      found_.mtu = *found.begin();
    } else if (!found.empty()) {
      found_.mtu = kDefaultMtu;
      found_.gaps.push_back(fmt::format("the ports have the MTUs {}; the manifest has {}",
                                        fmt::join(found, ", "), kDefaultMtu));
    }
  }

  // Of a node, the bonds and bridges of its ports that no network manager has.
  void FindLiveMasters(const NodeName& node) {
    std::set<std::string> masters;
    for (const FoundRail& rail : rails_) {
      const auto port = rail.netdevs.find(node);
      const LinkFact* link =
          port == rail.netdevs.end() ? nullptr : FindLink(facts_, node, port->second);
      if (link == nullptr || link->master.empty()) continue;
      const LinkFact* master = FindLink(facts_, node, link->master);
      const bool is_live_only = link->manager == LinkManager::kNone && master != nullptr &&
                                master->manager == LinkManager::kNone;
      if (is_live_only) masters.insert(MakePrintable(link->master));
    }
    for (const std::string& master : masters) {
      found_.notes.push_back(fmt::format(
          "{}'s {} is live only, as no network manager has it: lost at a reboot", node, master));
    }
  }

  void FindLiveOnly() {
    for (const NodeSpec& spec : hosts_.nodes) {
      const NodeName& node = spec.name;
      FindLiveMasters(node);
      std::vector<std::string> live;
      for (const FoundRail& rail : rails_) {
        const auto port = rail.netdevs.find(node);
        if (port == rail.netdevs.end() || !FindAddress(facts_, node, port->second).address)
          continue;
        const LinkFact* link = FindLink(facts_, node, port->second);
        if (link->manager == LinkManager::kNone) live.push_back(port->second);
      }
      if (live.empty()) continue;
      found_.notes.push_back(fmt::format(
          "the addresses of {}'s {} are live only, as no network manager has them: lost "
          "at a reboot, unless an apply writes them",
          node, Join(live, live.size() == 2 ? " and " : ", ")));
    }
  }

  const ClusterSpec& hosts_;
  const std::vector<FoundRail>& rails_;
  const ClusterFacts& facts_;
  RailCabling cabling_;
  int largest_id_;
  std::set<Ipv4Prefix> used_ = {};
  FoundAddresses found_;
};

bool HasAddressForAll(const FoundAddresses& found) {
  const std::size_t subnets = found.subnets.size() - (found.link_local ? 1 : 0);
  for (std::size_t i = 0; i < subnets; ++i) {
    for (const auto& [node, id] : found.ids) {
      if (static_cast<std::uint32_t>(id) > found.subnets[i].HostCount()) return false;
    }
  }
  return true;
}

}  // namespace

FoundAddresses FindAddresses(const ClusterSpec& hosts, const std::vector<FoundRail>& rails,
                             const ClusterFacts& facts, RailCabling cabling,
                             const std::map<NodeName, int>& ids) {
  const auto find = [&](int largest_id) {
    return AddressFinder(hosts, rails, facts, cabling, ids, largest_id).Find();
  };
  FoundAddresses found = find(kLargestId);
  return HasAddressForAll(found) ? found : find(kLargestProposedId);
}

}  // namespace reconciler
