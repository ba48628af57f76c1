#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/cabling/cables.h"
#include "reconciler/cabling/lldp.h"

namespace reconciler {

enum class PortState {
  kMissing,    // no such interface
  kDown,       // switched off: it is unknown whether there is a cable
  kNoCarrier,  // no cable, or nothing switched on at its other end
  kLink,
};

// What one netdev of a cage shows, and who answered through it.
struct PortView {
  PortState state = PortState::kMissing;
  std::string mac = {};
  std::set<std::string> addresses = {};           // its own, link-local
  std::map<std::string, std::string> heard = {};  // link-local address to MAC; may be unknown: ""
};

struct CablingView {
  std::optional<Error> failure = {};  // why nothing is known of it
  std::string hostname = {};
  std::set<std::string> bridges = {};          // their MACs, in lower case
  std::map<std::string, PortView> ports = {};  // by netdev
  std::vector<LldpNeighbour> lldp = {};
};

using CablingViews = std::map<NodeName, CablingView>;

// The lines in which a node answers, one fact each:
//   host HOSTNAME / bridge MAC / port IFACE missing|down|no-carrier|link [MAC] / own IFACE ADDRESS
//   / heard IFACE ADDRESS / neighbour IFACE ADDRESS MAC
// Lines of any other form are left out. `neighbour` alone proves nothing: the kernel keeps those
// that were there before the cable was moved.
void ReadLines(std::string_view text, CablingView& view);

}  // namespace reconciler
