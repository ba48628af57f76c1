#include "reconciler/verify/report/cable_rates.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "reconciler/verify/report/invalid.h"

namespace reconciler {
namespace {

// Of the rails of one cable, in one direction.
struct Carried {
  double gbps = 0;
  double roofline = 0;  // 0: not known
};

std::set<int> ListRails(const Drawing::Device& node, const std::string& cage) {
  std::set<int> rails;
  for (const Drawing::Port& port : node.ports) {
    if (port.cage == cage) rails.insert(port.rail);
  }
  return rails;
}

using CarriedByPeer = std::map<NodeName, Carried>;

void Add(const Check& check, const NodeName& peer, CarriedByPeer& peers) {
  Carried& carried = peers[peer];
  carried.gbps += *check.gbps;
  carried.roofline += check.roofline_gbps.value_or(0);
}

// Rails that were written to together add up; alone, each had the cable for itself.
CarriedByPeer ListCarried(const Report& report, const NodeName& node, const std::set<int>& rails,
                          bool is_sent) {
  CarriedByPeer together;
  CarriedByPeer alone;
  for (const Check& check : report.checks) {
    if (check.level != VerifyLevel::kRdma || !check.gbps || !check.rail) continue;
    if ((is_sent ? check.from : check.to) != node || !rails.contains(*check.rail)) continue;
    if (IsInvalid(check)) continue;
    const NodeName& peer = is_sent ? check.to : check.from;
    if (check.what == "write-together") {
      Add(check, peer, together);
    } else if (check.gbps > alone[peer].gbps) {
      alone[peer] = {};
      Add(check, peer, alone);
    }
  }
  together.merge(alone);  // keeps what was written together
  return together;
}

CableRate MakeRate(const Carried& carried) {
  CableRate rate{.gbps = carried.gbps};
  if (carried.roofline > 0) rate.share = carried.gbps / carried.roofline;
  return rate;
}

// `peer`: the other end; empty: a switch, behind which any node may be.
std::optional<Carried> FindBest(const CarriedByPeer& peers, const NodeName& peer) {
  std::optional<Carried> best;
  for (const auto& [name, carried] : peers) {
    if (!peer.empty() && name != peer) continue;
    if (!best || carried.gbps > best->gbps) best = carried;
  }
  return best;
}

CableRate FindRate(const Drawing& drawing, const Drawing::Cable& cable, const Report& report) {
  const Drawing::Device& node = drawing.devices[cable.from];
  const Drawing::Device& other = drawing.devices[cable.to];
  if (node.is_switch) return {};
  const std::set<int> rails = ListRails(node, cable.from_port);
  const NodeName peer = other.is_switch ? "" : other.name;
  const auto sent = FindBest(ListCarried(report, node.name, rails, true), peer);
  const auto received = FindBest(ListCarried(report, node.name, rails, false), peer);
  if (!sent && !received) return {};
  if (!sent || !received) return MakeRate(sent ? *sent : *received);
  return MakeRate(sent->gbps < received->gbps ? *sent : *received);
}

}  // namespace

CableRates FindCableRates(const Drawing& drawing, const Report& report) {
  CableRates rates;
  for (const Drawing::Cable& cable : drawing.cables) {
    rates.push_back(FindRate(drawing, cable, report));
  }
  return rates;
}

}  // namespace reconciler
