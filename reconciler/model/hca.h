#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"
#include "reconciler/model/ipv4.h"

namespace reconciler {

// A PCIe link as one of its two ends reports it; 0 and empty: not reported.
struct PcieEnd {
  std::string slot = {};  // "0002:01:00.1"
  int mts = 0;            // MT/s per lane: 32000 is Gen5
  int lanes = 0;
  int max_mts = 0;
  int max_lanes = 0;
  bool operator==(const PcieEnd&) const = default;
};

constexpr auto Describe(const PcieEnd*) {
  return MakeDescription(
      "pcie", "One end of a PCIe link; 0 and empty: not reported.",
      Field{"slot", &PcieEnd::slot, "Domain, bus, device and function; empty: no PCIe device."},
      Field{"mts", &PcieEnd::mts, "MT/s per lane now: 32000 is Gen5."},
      Field{"lanes", &PcieEnd::lanes, "Lanes in use."},
      Field{"max_mts", &PcieEnd::max_mts, "MT/s per lane at most."},
      Field{"max_lanes", &PcieEnd::max_lanes, "Lanes at most."});
}

// One used place of a port's table of addresses.
struct GidFact {
  int index = 0;
  std::string gid = {};     // "0000:0000:0000:0000:0000:ffff:c0a8:b101"
  std::string type = {};    // "RoCE v2", "IB/RoCE v1"
  std::string netdev = {};  // whose address it is
  bool operator==(const GidFact&) const = default;
};

constexpr auto Describe(const GidFact*) {
  return MakeDescription("gid", "One used place of the table.",
                         Field{"index", &GidFact::index, "Its place."},
                         Field{"gid", &GidFact::gid, "Eight groups of four hexadecimal digits."},
                         Field{"type", &GidFact::type, "RoCE v2 or IB/RoCE v1."},
                         Field{"netdev", &GidFact::netdev, "The interface whose address it is."});
}

// What only verbs report, so that it takes spark-verify on the node.
struct VerbsFact {
  int active_mtu = 0;      // bytes of payload in a packet
  Fact<bool> dmabuf = {};  // of the HCA's side alone
  bool operator==(const VerbsFact&) const = default;
};

constexpr auto Describe(const VerbsFact*) {
  return MakeDescription(
      "verbs", "What only verbs report; 0 unless spark-verify was run.",
      Field{"active_mtu", &VerbsFact::active_mtu, "Bytes of payload in a packet."},
      Field{"dmabuf", &VerbsFact::dmabuf, "Whether the HCA takes dma-buf memory."});
}

// One RDMA device with its first port, from sysfs. Empty text and 0: the driver does not report. A
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

constexpr auto Describe(const HcaFact*) {
  return MakeDescription(
      "hca", "One RDMA device with its first port; empty and 0: the driver does not report.",
      Field{"netdev", &HcaFact::netdev, "Its network interface."},
      Field{"firmware", &HcaFact::firmware, "Version of the firmware that runs."},
      Field{"board_id", &HcaFact::board_id, "PSID of the board."},
      Field{"model", &HcaFact::model, "The model, as the driver calls it."},
      Field{"node_guid", &HcaFact::node_guid, "Of this function."},
      Field{"system_guid", &HcaFact::system_guid, "Of the whole HCA."},
      Field{"state", &HcaFact::state, "ACTIVE on a port that works."},
      Field{"physical_state", &HcaFact::physical_state, "LinkUp on a port with a signal."},
      Field{"link_layer", &HcaFact::link_layer, "Ethernet or InfiniBand."},
      Field{"rate_mbps", &HcaFact::rate_mbps, "Megabits per second."},
      Field{"device", &HcaFact::device, "The HCA's end."},
      Field{"upstream", &HcaFact::upstream, "The port of the bridge or root above it."},
      Field{"gids", &HcaFact::gids, "The table of addresses, by index."},
      Field{"counters", &HcaFact::counters,
            "By the name of the file: how many since the driver was loaded."},
      Field{"verbs", &HcaFact::verbs, "What only verbs report."});
}

// How the kernel writes an IPv4 address into the table of GIDs:
// "0000:0000:0000:0000:0000:ffff:c0a8:b101" for 192.168.177.1.
std::string MakeMappedGid(Ipv4Address address);
inline constexpr std::string_view kRoceV2 = "RoCE v2";

}  // namespace reconciler
