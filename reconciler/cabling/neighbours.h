#pragma once

#include <map>
#include <set>
#include <string>

#include "reconciler/cabling/view.h"

namespace reconciler {

// Who is at the other end of one cage, as far as that cage's own node knows.
struct Neighbours {
  std::set<CageId> cages = {};           // of this cluster
  std::set<std::string> strangers = {};  // anyone else, as text: "crs812 (its port 7)"
  std::set<std::string> switches = {};   // LLDP chassis that are no node of ours
  // The same as name and port: each neighbour's id of its port, and its text for it.
  std::set<SwitchPlug> plugs = {};
  bool by_lldp = false;  // no node answered: LLDP alone
  bool Empty() const { return cages.empty() && strangers.empty(); }
};

// A cage as its two netdevs show it: the better state of both, and all who are heard through
// either.
struct CageView {
  PortState state = PortState::kMissing;
  bool can_be_heard = false;  // has an address, so that it would answer
  Neighbours neighbours = {};
};

using CageViews = std::map<CageId, CageView>;

// Answers to neighbour discovery count before LLDP, which keeps a neighbour that is gone for two
// minutes. The other netdev of the same cage is no neighbour: the HCA passes frames between
// the two on the chip.
CageViews BuildCageViews(const ClusterSpec& cluster, const CablingViews& views);

}  // namespace reconciler
