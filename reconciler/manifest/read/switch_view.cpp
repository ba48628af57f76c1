#include "reconciler/manifest/read/switch_view.h"

#include <algorithm>

#include "reconciler/manifest/read/members.h"
#include "reconciler/model/switch_legs.h"

namespace reconciler {
namespace {

std::vector<SwitchPort> ViewPorts(const Value& entry, std::string_view key, int gbps,
                                  const std::map<std::string, std::string>& breakout) {
  std::vector<SwitchPort> ports;
  const Value* map = entry.Find(key);
  if (map == nullptr) return ports;
  for (const Member& member : map->Members()) {
    const std::string* peer = member.value.AsString();
    const std::size_t dot = peer != nullptr ? peer->find('.') : std::string::npos;
    if (dot == std::string::npos) continue;
    SwitchPort port{.port = member.key,
                    .peer = {peer->substr(0, dot), peer->substr(dot + 1), member.value.position},
                    .gbps = gbps,
                    .position = member.key_position};
    for (const auto& [cage, legs] : breakout) {
      const int rate = ListLegs(legs).gbps;
      if (IsLeg(port.port, cage) && rate > 0) port.gbps = rate;
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

SwitchOs ParseSwitchOs(const std::string& word) {
  if (word == "routeros") return SwitchOs::kRouterOs;
  return word == "nvue" ? SwitchOs::kNvue : SwitchOs::kOther;
}

Fec ParseFec(const std::string& word) {
  for (const Fec fec : {Fec::kAuto, Fec::kFc, Fec::kOff}) {
    if (word == ToString(fec)) return fec;
  }
  return Fec::kRs;
}

// The leg of its cage at the far end may be slower than an uplink's own port.
void LimitUplinksToFarEnds(std::vector<SwitchSpec>& switches) {
  for (SwitchSpec& one : switches) {
    for (SwitchPort& uplink : one.uplinks) {
      for (const SwitchSpec& far : switches) {
        if (far.name != uplink.peer.node) continue;
        for (const auto& [cage, legs] : far.breakout) {
          const int rate = ListLegs(legs).gbps;
          if (IsLeg(uplink.peer.cage, cage) && rate > 0) {
            uplink.gbps = std::min(uplink.gbps, rate);
          }
        }
      }
    }
  }
}

}  // namespace

std::vector<SwitchSpec> ViewSwitches(const Value& document) {
  std::vector<SwitchSpec> switches;
  const Value* list = document.Find("switches");
  if (list == nullptr) return switches;
  for (const Value& entry : list->List()) {
    SwitchSpec one{.name = entry.GetText("name"),
                   .model = entry.GetText("model"),
                   .address = entry.GetText("address"),
                   .os = ParseSwitchOs(entry.GetText("os")),
                   .fec = ParseFec(entry.GetText("fec")),
                   .position = entry.position};
    if (one.name.empty()) continue;
    if (const Value* breakout = entry.Find("breakout")) {
      for (const Member& member : breakout->Members()) {
        one.breakout[member.key] = member.value.ScalarText();
      }
    }
    const int gbps = ReadNumber(entry, "speed_gbps", 200);
    one.ports = ViewPorts(entry, "ports", gbps, one.breakout);
    one.uplinks =
        ViewPorts(entry, "uplinks", ReadNumber(entry, "uplink_speed_gbps", gbps), one.breakout);
    one.l2mtu = ReadNumber(entry, "l2mtu", one.l2mtu);
    if (const std::string bridge = entry.GetText("bridge"); !bridge.empty()) one.bridge = bridge;
    const Value* qos = entry.Find("qos");
    one.qos = qos != nullptr && qos->AsBool() != nullptr && *qos->AsBool();
    switches.push_back(std::move(one));
  }
  LimitUplinksToFarEnds(switches);
  return switches;
}

}  // namespace reconciler
