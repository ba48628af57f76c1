#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/file_state.h"
#include "reconciler/model/hca.h"
#include "reconciler/model/ipv4.h"
#include "reconciler/model/ledger.h"
#include "reconciler/model/observed.h"

namespace reconciler {

struct HostFact {
  std::string hostname = {};
  std::string machine_id = {};
  std::string boot_id = {};
  std::string kernel = {};   // uname -r
  std::string arch = {};     // uname -m: aarch64 on a Spark
  std::string os = {};       // PRETTY_NAME of os-release
  std::string product = {};  // DMI product name; empty where there is none
  bool operator==(const HostFact&) const = default;
};

// Who configures an interface right now.
enum class LinkManager { kNone, kNetworkd, kNetworkManager };

struct LinkFact {
  std::string mac = {};
  int mtu = 0;            // bytes; 0: not reported
  bool admin_up = false;  // IFF_UP
  bool carrier = false;   // IFF_LOWER_UP
  std::string operstate = {};
  std::vector<Ipv4Prefix> ipv4 = {};   // sorted
  std::vector<std::string> ipv6 = {};  // sorted, with prefix length
  LinkManager manager = LinkManager::kNone;
  std::string phys_port_name = {};  // "p0"; empty where the driver has none
  int speed_mbps = -1;              // -1: unknown, as when there is no carrier
  bool operator==(const LinkFact&) const = default;
};

// What was read from one node in one go. Keys of `files` are the paths that plugins asked for
// ("~nvidia/.ssh/config" stays in that form); keys of `values` begin with the plugin's name
// ("sysctl.net.core.rmem_max").
struct NodeFacts {
  NodeName node = {};
  Observed<HostFact> host = Absent{};
  std::string session_address = {};    // the node's own address that carries our session
  std::string session_interface = {};  // the netdev that holds it; empty when not found
  std::map<std::string, LinkFact> links = {};
  std::map<std::string, HcaFact> hcas = {};  // by RDMA name
  std::map<std::string, Observed<FileState>> files = {};
  std::map<std::string, Observed<std::string>> values = {};
  Observed<Ledger> ledger = Absent{};  // what we changed on it before
  bool operator==(const NodeFacts&) const = default;
};

struct ClusterFacts {
  std::map<NodeName, NodeFacts> nodes = {};
  std::map<NodeName, Error> unreachable = {};
  bool operator==(const ClusterFacts&) const = default;
};

// Facts of the engine's own, not there when there is nothing to tell: the applies that a node has
// not ended (one is at work, or was cut off and will be ended by the node's guard or by the next
// apply), their ids with a blank between them; and the lease beside the node's lock.
inline constexpr std::string_view kUndecidedKey = "apply.undecided";
inline constexpr std::string_view kLeaseKey = "apply.lease";

// Unknown{"not asked for"} when no plugin asked for it.
Observed<FileState> FindFile(const NodeFacts& facts, const std::string& path);
Observed<std::string> FindValue(const NodeFacts& facts, const std::string& key);

}  // namespace reconciler
