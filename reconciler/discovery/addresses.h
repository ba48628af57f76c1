#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "reconciler/cabling/cables.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts.h"

namespace reconciler {

// One network of the fabric: the ports that reach each other, one per node.
struct FoundRail {
  std::map<NodeName, std::string> netdevs = {};
  std::size_t twin = 0;  // of their cages, by PCI domain
};

// What the rails lead over, in the words of the manifest.
enum class RailCabling {
  kSwitch,  // also where neither a switch nor a cable was found
  kPair,    // one cable, whose last rail may stay link-local
  kCables,  // a ring or links, whose subnets must be /24s
};

// What a manifest must say so that the most addresses stay.
struct FoundAddresses {
  std::vector<Ipv4Prefix> subnets = {};  // one per rail
  bool link_local = false;               // the last one is 169.254.0.0/16, as the ports have it
  std::map<NodeName, int> ids = {};
  int mtu = 9000;                       // bytes
  std::vector<std::string> gaps = {};   // what an apply would change, for a person
  std::vector<std::string> notes = {};  // what is as in the manifest and does not last
};

// A rail keeps its subnet where all addresses of its ports are in it, no other rail and no
// interface but ports of cages is, and the host numbers are those of the rails before. The others
// get a /24 that no node has an address in or a route to, or up to a /16 where a host number needs
// it; then a rail whose numbers no /16 has keeps nothing. `ids`: the numbers that were found with
// the rails in another order; they stay.
FoundAddresses FindAddresses(const ClusterSpec& hosts, const std::vector<FoundRail>& rails,
                             const ClusterFacts& facts, RailCabling cabling,
                             const std::map<NodeName, int>& ids = {});

}  // namespace reconciler
