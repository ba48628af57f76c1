#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reconciler {

// Who introduced itself on one of a node's interfaces.
struct LldpNeighbour {
  std::string netdev = {};  // the node's own
  std::string system = {};  // the neighbour's name; empty when it reports none
  std::string chassis = {};
  std::string port = {};  // its port's id: a MAC, an interface's name or a switch's port
  std::string port_description = {};
  bool operator==(const LldpNeighbour&) const = default;
};

// What `lldpcli -f json` or `-f json0` printed. One neighbour is an object and several are a list;
// a name is a key or a field; a text may be wrapped in lists and {"value": …}: all are read, and
// what is not understood is left out. Anything that is no JSON has no neighbours.
std::vector<LldpNeighbour> ParseLldp(std::string_view json);

}  // namespace reconciler
