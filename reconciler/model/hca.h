#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reconciler/base/ipv4.h"
#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

// A PCIe link as one of its two ends reports it; 0 and empty: not reported.
struct PcieEnd {
  std::string slot;  // "0002:01:00.1"
  int mts = 0;       // MT/s per lane: 32000 is Gen5
  int lanes = 0;
  int max_mts = 0;
  int max_lanes = 0;
  bool operator==(const PcieEnd&) const = default;
};

template <std::same_as<PcieEnd> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "pcie", "One end of a PCIe link; 0 and empty: not reported.",
      Field{"slot", &T::slot, "Domain, bus, device and function; empty: no PCIe device."},
      Field{"mts", &T::mts, "MT/s per lane now: 32000 is Gen5."},
      Field{"lanes", &T::lanes, "Lanes in use."},
      Field{"max_mts", &T::max_mts, "MT/s per lane at most."},
      Field{"max_lanes", &T::max_lanes, "Lanes at most."});
}

// One used place of a port's table of addresses.
struct GidFact {
  int index = 0;
  std::string gid;     // "0000:0000:0000:0000:0000:ffff:c0a8:b101"
  std::string type;    // "RoCE v2", "IB/RoCE v1"
  std::string netdev;  // whose address it is
  bool operator==(const GidFact&) const = default;
};

template <std::same_as<GidFact> T>
constexpr auto Describe(const T*) {
  return MakeDescription("gid", "One used place of the table.",
                         Field{"index", &T::index, "Its place."},
                         Field{"gid", &T::gid, "Eight groups of four hexadecimal digits."},
                         Field{"type", &T::type, "RoCE v2 or IB/RoCE v1."},
                         Field{"netdev", &T::netdev, "The interface whose address it is."});
}

// What only verbs report, so that it takes spark-verify on the node.
struct VerbsFact {
  int active_mtu = 0;  // bytes of payload in a packet
  Fact<bool> dmabuf;   // of the HCA's side alone
  bool operator==(const VerbsFact&) const = default;
};

template <std::same_as<VerbsFact> T>
constexpr auto Describe(const T*) {
  return MakeDescription("verbs", "What only verbs report; 0 unless spark-verify was run.",
                         Field{"active_mtu", &T::active_mtu, "Bytes of payload in a packet."},
                         Field{"dmabuf", &T::dmabuf, "Whether the HCA takes dma-buf memory."});
}

// One RDMA device with its first port, from sysfs. Empty text and 0: the driver does not report. A
// device made of software has no slot and no counters of bytes.
struct HcaFact {
  std::string netdev;
  std::string firmware;
  std::string board_id;
  std::string model;  // "MT4129"
  std::string node_guid;
  std::string system_guid;
  std::string state;           // "ACTIVE"
  std::string physical_state;  // "LinkUp"
  std::string link_layer;
  int rate_mbps = 0;
  PcieEnd device;
  PcieEnd upstream;           // the port of the bridge or root above it
  std::vector<GidFact> gids;  // by index
  std::map<std::string, std::int64_t> counters;
  VerbsFact verbs;
  std::string iommu;  // "DMA-FQ"; empty: none
  bool operator==(const HcaFact&) const = default;
};

template <std::same_as<HcaFact> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "hca", "One RDMA device with its first port; empty and 0: the driver does not report.",
      Field{"netdev", &T::netdev, "Its network interface."},
      Field{"firmware", &T::firmware, "Version of the firmware that runs."},
      Field{"board_id", &T::board_id, "PSID of the board."},
      Field{"model", &T::model, "The model, as the driver calls it."},
      Field{"node_guid", &T::node_guid, "Of this function."},
      Field{"system_guid", &T::system_guid, "Of the whole HCA."},
      Field{"state", &T::state, "ACTIVE on a port that works."},
      Field{"physical_state", &T::physical_state, "LinkUp on a port with a signal."},
      Field{"link_layer", &T::link_layer, "Ethernet or InfiniBand."},
      Field{"rate_mbps", &T::rate_mbps, "Megabits per second."},
      Field{"device", &T::device, "The HCA's end."},
      Field{"upstream", &T::upstream, "The port of the bridge or root above it."},
      Field{"gids", &T::gids, "The table of addresses, by index."},
      Field{"counters", &T::counters,
            "By the name of the file: how many since the driver was loaded."},
      Field{"verbs", &T::verbs, "What only verbs report."},
      Field{"iommu", &T::iommu, "How its IOMMU group translates: DMA, DMA-FQ, identity.",
            FieldRule::kLeftOut});
}

// How the kernel writes an IPv4 address into the table of GIDs:
// "0000:0000:0000:0000:0000:ffff:c0a8:b101" for 192.168.177.1.
std::string MakeMappedGid(Ipv4Address address);
inline constexpr std::string_view kRoceV2 = "RoCE v2";

}  // namespace reconciler
