#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

struct PingProbe {
  NodeName to = {};
  int rail = 0;
  std::string netdev = {};   // the sender's
  std::string address = {};  // the peer's on that rail; of a link-local one with the port's name
  std::string mac = {};      // of the peer's port, in lower case; empty: not known
  int mtu = 0;               // bytes: size of the IP packet
};

struct SshProbe {
  NodeName to = {};
  std::optional<int> rail = std::nullopt;  // nullopt: over the management network
  std::string host = {};                   // "spark-2-rail0" or "192.168.177.2"
};

// A path to a machine outside the fabric, over whatever interface the node's routes choose.
struct PathProbe {
  std::string address = {};  // or a name
  int mtu = 0;               // bytes: size of the IP packet that must come back unfragmented
};

// A name that /etc/hosts gives to a peer, as an alias or by the rail.
struct NameProbe {
  std::string name = {};
  std::string address = {};  // the only one that the name may have
};

struct PortOfNode {
  NodeName node = {};
  std::string netdev = {};
};

// What one node is to measure. Pings and logins: peers in node order of the manifest, then by rail.
struct NodeProbes {
  NodeName from = {};
  std::string user = {};  // who logs in to the peers; empty: whoever logged in to the node
  std::vector<PingProbe> pings = {};
  std::vector<SshProbe> logins = {};
  std::vector<PathProbe> paths = {};  // as the manifest lists them
  std::vector<NameProbe> names = {};
  std::map<std::string, PortOfNode> ports_by_mac = {};  // of all nodes; MACs in lower case
  // Where the node begins in each list: its next node in the manifest. If all began with the first
  // node, that one's sshd would drop connections (MaxStartups).
  std::size_t first_ping = 0;
  std::size_t first_login = 0;
};

// `up_to` leaves out the levels above it; logins are made only where the manifest says ssh.mesh.
// The logins to one peer go by its name and by its address in turn, and begin with the other form
// than those of the peer: each network is tried by both forms, in one direction each. An alias of
// the peer stands for the name where it has one. `names` has every name.
// The facts have the neighbour's IPv6 address on a link-local rail.
NodeProbes ListProbes(const ClusterSpec& cluster, const Fabric& fabric, const NodeSpec& node,
                      VerifyLevel up_to, const ClusterFacts& facts = {});

// The port at the other end where the rail joins two nodes alone; nullptr where it joins more.
const RailPort* FindOtherEnd(const Fabric& fabric, const NodeName& node, int rail);

}  // namespace reconciler
