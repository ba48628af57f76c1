#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/base/diagnostic.h"
#include "reconciler/base/error.h"
#include "reconciler/base/ipv4.h"
#include "reconciler/model/cluster_spec.h"

namespace reconciler {

// One twin (netdev and HCA) of one cage of one node, as the fabric uses it.
struct RailPort {
  NodeName node;
  std::string cage;         // "p0", "p1"
  int twin = 0;             // index into its cage's functions: on a Spark 1 is in PCI domain 0002
  int rail = 0;             // index of the segment; names: spark-2-rail0
  std::string netdev;       // enp1s0f1np1
  std::string hca;          // rocep1s0f1
  Ipv4Prefix address = {};  // interface address with its prefix
  int mtu = 9000;           // bytes
  Position position = {};   // the manifest line that the address comes from
};

// Everything on one segment reaches everything else on it directly (one L2 network, one subnet).
struct Segment {
  int rail = 0;
  Ipv4Prefix subnet = {};
  int plane = 0;                // the cable or the switches that carry it
  std::vector<RailPort> ports;  // in node order of the manifest

  // Two ports and no third: each is of no use without the other. A switch with two nodes counts
  // too.
  bool IsCable() const { return ports.size() == 2; }
};

// Where a cable ends: a node's cage or a switch's port. A switch that the manifest does not
// describe has no name and no ports.
struct PlugEnd {
  std::string device;  // node or switch; empty: the switch that is not described
  std::string port;    // cage or port of the switch
  bool on_switch = false;
  bool operator==(const PlugEnd&) const = default;
};

// One cable, or the leg of a breakout cable.
struct Wire {
  PlugEnd a;
  PlugEnd b;
  int gbps = 200;  // the slower end's line rate
  int plane = -1;  // index of its plane; rails of one plane share their wires
};

struct Fabric {
  std::vector<Segment> segments;
  std::map<NodeName, std::vector<RailPort>> ports;              // by rail
  std::map<NodeName, std::vector<std::string>> unused_netdevs;  // of cages that no cable uses
  std::vector<Wire> wires;
  std::vector<Diagnostic> diagnostics;  // what works, but not as one may expect
  std::string summary;  // "one cable p1–p1", "3 cables in a ring", "4 nodes on a switch"
};

// "rail0": the suffix of host names and the word in reports.
std::string FormatRailName(int rail);
// "spark-2-rail0": the name under which `node` is reached on that rail.
std::string FormatRailHostName(const NodeName& node, int rail);

}  // namespace reconciler
