#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reconciler/model/ipv4.h"

namespace reconciler {

// A PCIe link as one of its two ends tells it; 0 and empty: not reported.
struct PcieEnd {
  std::string slot = {};  // "0002:01:00.1"
  int mts = 0;            // MT/s per lane: 32000 is Gen5
  int lanes = 0;
  int max_mts = 0;
  int max_lanes = 0;
  bool operator==(const PcieEnd&) const = default;
};

// One used place of a port's table of addresses.
struct GidFact {
  int index = 0;
  std::string gid = {};     // "0000:0000:0000:0000:0000:ffff:c0a8:b101"
  std::string type = {};    // "RoCE v2", "IB/RoCE v1"
  std::string netdev = {};  // whose address it is
  bool operator==(const GidFact&) const = default;
};

// What only verbs tell, so that it takes spark-verify on the node.
struct VerbsFact {
  int active_mtu = 0;       // bytes of payload in a packet
  std::string dmabuf = {};  // "supported", "unsupported", "unknown: …": of the adapter's side alone
  bool operator==(const VerbsFact&) const = default;
};

// One RDMA device with its first port, from sysfs. Empty text and 0: the driver does not tell. A
// device made of software has no slot and no counters of bytes.
struct HcaFact {
  std::string netdev = {};
  std::string firmware = {};
  std::string board_id = {};
  std::string model = {};  // "MT4129"
  std::string node_guid = {};
  std::string system_guid = {};
  std::string state = {};           // "ACTIVE"
  std::string physical_state = {};  // "LinkUp"
  std::string link_layer = {};
  int rate_mbps = 0;
  PcieEnd device = {};
  PcieEnd upstream = {};           // the port of the bridge or root above it
  std::vector<GidFact> gids = {};  // by index
  std::map<std::string, std::int64_t> counters = {};
  VerbsFact verbs = {};
  bool operator==(const HcaFact&) const = default;
};

// How the kernel writes an IPv4 address into the table of GIDs:
// "0000:0000:0000:0000:0000:ffff:c0a8:b101" for 192.168.177.1.
std::string MakeMappedGid(Ipv4Address address);
inline constexpr std::string_view kRoceV2 = "RoCE v2";

}  // namespace reconciler
