#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/base/ipv4.h"
#include "reconciler/model/hardware.h"
#include "reconciler/model/value.h"

namespace reconciler {

using NodeName = std::string;

enum class Become { kNone, kSudo };
enum class HostKeys { kStrict, kAcceptNew };
enum class TransportKind { kSsh, kLocal };
enum class Topology { kDirect, kRing, kSwitch, kLeafSpine, kLinks };
enum class Twins { kBoth, kFirst, kSecond };
enum class UnusedCages { kIgnore, kDown };
enum class SwitchOs { kOther, kRouterOs, kNvue };
enum class Fec { kAuto, kRs, kFc, kOff };

// How to reach a node: the manifest's `access`, with the node's own `access` laid over it.
struct Access {
  TransportKind transport = TransportKind::kSsh;
  std::string user;      // empty: what ~/.ssh/config says, else the login name
  int port = 0;          // 0: what ~/.ssh/config says, else 22
  std::string identity;  // private key file, `~/` allowed; empty: agent, config and defaults
  HostKeys host_keys = HostKeys::kStrict;
  Become become = Become::kSudo;
  // For sudo on the node: typed for this run, and never part of a manifest or of any output. Null:
  // sudo must work without one.
  std::shared_ptr<const std::string> sudo_password;
  int connect_timeout_s = 10;
  int command_timeout_s = 60;
  bool operator==(const Access&) const = default;
};

struct NodeSpec {
  NodeName name;
  int id = 0;           // host number in every fabric subnet: explicit, or the name's last number
  std::string address;  // management address or ssh host alias; never touched by a plugin
  std::string cage;     // "p0" or "p1": the node's own, or the fabric's
  Access access;
  Position position = {};
  std::string hardware = std::string(kDefaultHardware);  // name of its profile
  // Sections of the manifest that this node has otherwise than the cluster: its own entries laid
  // over the cluster's, each value with the place where it stands.
  std::vector<Member> sections;
};

// One end of a cable: cage p0 is the left one and p1 the right one, seen from the back.
struct CableEnd {
  NodeName node;
  std::string cage;
  Position position = {};
};

struct Cable {
  CableEnd a;
  CableEnd b;
};

// A switch's port and what hangs on it: a node's cage, or a port of another switch.
struct SwitchPort {
  std::string port;
  CableEnd peer;  // node: the node's or the switch's name; cage: the cage or its port
  int gbps = 200;
  Position position = {};
};

// What a switch has, and must have. Nothing is ever sent to it.
struct SwitchSpec {
  std::string name;
  std::string model;
  std::string address;  // of its management; for people
  SwitchOs os = SwitchOs::kOther;
  std::vector<SwitchPort> ports;                // to nodes, in the manifest's order
  std::vector<SwitchPort> uplinks;              // to other switches, each written at one end only
  std::map<std::string, std::string> breakout;  // cage of the switch → "2x200"
  std::string bridge = "fabric";                // the one hardware-offloaded bridge
  Fec fec = Fec::kRs;
  int l2mtu = 9216;  // bytes, of every fabric port
  bool qos = false;  // PFC and ECN for RoCE
  Position position = {};
};

struct FabricSpec {
  Topology topology = Topology::kDirect;
  int mtu = 9000;              // bytes
  Twins twins = Twins::kBoth;  // of each cage, by PCI domain; a cage without twins has its one
  std::vector<Ipv4Prefix> subnets;
  std::vector<Position> subnet_positions;  // one per subnet
  std::vector<Cable> links;                // explicit `links:`; empty when the topology says it
  // The manifest accepts a ring of four or more, of which only ring collectives work.
  bool ring_collectives_only = false;
  UnusedCages unused_cages = UnusedCages::kIgnore;
  Position position = {};
  Position topology_position = {};
  Position twins_position = {};
  Position mtu_position = {};
};

// A manifest that passed every check. `settings` is the whole document; each plugin reads its own
// section of it, with FindSection where nodes may have their own.
struct ClusterSpec {
  std::string file;  // as the user named it
  std::string name;
  std::string former_name;  // `moved: {cluster: …}`; empty: it always had this one
  std::string digest;       // of the document's content: comments and layout do not count
  std::vector<NodeSpec> nodes;
  FabricSpec fabric;
  std::vector<SwitchSpec> switches;
  std::vector<Hardware> hardware;  // the manifest's own profiles; they come before ours
  // Profiles of single nodes, with what their ports are called there: see LocatedCluster. None of
  // them is the manifest's.
  std::map<NodeName, Hardware> own_hardware;
  Value settings;

  // Whether a mark that names `cluster` is ours.
  bool Owns(std::string_view cluster) const {
    return cluster == name || (!former_name.empty() && cluster == former_name);
  }
  const NodeSpec* FindNode(std::string_view node) const;
  // The section `key` as it holds for `node`: its own, or else the cluster's. nullptr: none.
  const Member* FindSection(std::string_view node, std::string_view key) const;
  const Member* FindSection(const NodeSpec& node, std::string_view key) const;
  // Each section `key` of the manifest once: the cluster's, and those of nodes with their own.
  // Parts that a node takes over from the cluster stand in both, with the same positions.
  std::vector<const Member*> ListSections(std::string_view key) const;
  // The node's own profile, or the one that it names. nullptr: no profile has that name, which the
  // checks refuse.
  const Hardware* FindHardware(const NodeSpec& node) const;
  SourceMark Mark(Position position) const { return {file, position}; }
};

std::string_view ToString(Topology topology);
std::string_view ToString(Fec fec);

}  // namespace reconciler
