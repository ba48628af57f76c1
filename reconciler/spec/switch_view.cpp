#include "reconciler/spec/switch_view.h"

#include <charconv>

namespace reconciler {
namespace {

std::string Text(const Value& map, std::string_view key) {
  const Value* value = map.Find(key);
  return value != nullptr && value->AsString() != nullptr ? *value->AsString() : std::string();
}

int Number(const Value& map, std::string_view key, int otherwise) {
  const Value* value = map.Find(key);
  return value != nullptr && value->AsInteger() != nullptr ? static_cast<int>(*value->AsInteger())
                                                           : otherwise;
}

// "qsfp56-dd-1-5" and "swp1s0" are legs of "qsfp56-dd-1" and "swp1"; "swp10" is none of "swp1".
bool IsLegOf(std::string_view port, std::string_view cage) {
  if (!port.starts_with(cage)) return false;
  const std::string_view rest = port.substr(cage.size());
  return rest.empty() || rest.front() < '0' || rest.front() > '9';
}

// 200 for "2x200".
int LegRate(std::string_view legs) {
  const std::size_t x = legs.find('x');
  int rate = 0;
  if (x != std::string_view::npos) {
    std::from_chars(legs.data() + x + 1, legs.data() + legs.size(), rate);
  }
  return rate;
}

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
      if (IsLegOf(port.port, cage) && LegRate(legs) > 0) port.gbps = LegRate(legs);
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

SwitchOs OsOf(const std::string& word) {
  if (word == "routeros") return SwitchOs::kRouterOs;
  return word == "nvue" ? SwitchOs::kNvue : SwitchOs::kOther;
}

Fec FecOf(const std::string& word) {
  for (const Fec fec : {Fec::kAuto, Fec::kFc, Fec::kOff}) {
    if (word == ToString(fec)) return fec;
  }
  return Fec::kRs;
}

}  // namespace

std::vector<SwitchSpec> ViewSwitches(const Value& document) {
  std::vector<SwitchSpec> switches;
  const Value* list = document.Find("switches");
  if (list == nullptr) return switches;
  for (const Value& entry : list->List()) {
    SwitchSpec one{.name = Text(entry, "name"),
                   .model = Text(entry, "model"),
                   .address = Text(entry, "address"),
                   .os = OsOf(Text(entry, "os")),
                   .fec = FecOf(Text(entry, "fec")),
                   .position = entry.position};
    if (one.name.empty()) continue;
    if (const Value* breakout = entry.Find("breakout")) {
      for (const Member& member : breakout->Members()) {
        one.breakout[member.key] = member.value.ScalarText();
      }
    }
    const int gbps = Number(entry, "speed_gbps", 200);
    one.ports = ViewPorts(entry, "ports", gbps, one.breakout);
    one.uplinks =
        ViewPorts(entry, "uplinks", Number(entry, "uplink_speed_gbps", gbps), one.breakout);
    one.l2mtu = Number(entry, "l2mtu", one.l2mtu);
    if (const std::string bridge = Text(entry, "bridge"); !bridge.empty()) one.bridge = bridge;
    const Value* qos = entry.Find("qos");
    one.qos = qos != nullptr && qos->AsBool() != nullptr && *qos->AsBool();
    switches.push_back(std::move(one));
  }
  return switches;
}

}  // namespace reconciler
