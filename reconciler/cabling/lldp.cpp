#include "reconciler/cabling/lldp.h"

#include <nlohmann/json.hpp>

namespace reconciler {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeepest = 32;  // far below what reading would need of the stack; lldpd nests 8 deep

std::vector<Json> ListItems(const Json& value) {
  if (value.is_array()) return {value.begin(), value.end()};
  return {value};
}

Json FindMember(const Json& value, const char* key) {
  for (const Json& item : ListItems(value)) {
    if (item.is_object() && item.contains(key)) return item.at(key);
  }
  return nullptr;
}

std::string ReadText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_array() && !value.empty()) return ReadText(value.front());
  return value.is_object() ? ReadText(FindMember(value, "value")) : std::string();
}

// {"spark-2": {"id": …}}, or the same with the name inside or without one.
void ReadChassis(const Json& value, LldpNeighbour& neighbour) {
  Json body = value;
  if (FindMember(value, "id").is_null()) {
    for (const Json& item : ListItems(value)) {
      if (!item.is_object() || item.empty()) continue;
      neighbour.system = item.begin().key();
      body = item.begin().value();
      break;
    }
  }
  if (neighbour.system.empty()) neighbour.system = ReadText(FindMember(body, "name"));
  neighbour.chassis = ReadText(FindMember(body, "id"));
}

void ReadNeighbour(const std::string& netdev, const Json& value,
                   std::vector<LldpNeighbour>& neighbours) {
  for (const Json& item : ListItems(value)) {
    if (!item.is_object()) continue;
    LldpNeighbour neighbour{.netdev = netdev};
    ReadChassis(FindMember(item, "chassis"), neighbour);
    const Json port = FindMember(item, "port");
    neighbour.port = ReadText(FindMember(port, "id"));
    neighbour.port_description = ReadText(FindMember(port, "descr"));
    if (!neighbour.chassis.empty() || !neighbour.port.empty()) neighbours.push_back(neighbour);
  }
}

}  // namespace

std::vector<LldpNeighbour> ParseLldp(std::string_view json) {
  const auto flat = [](int depth, Json::parse_event_t, const Json&) { return depth < kDeepest; };
  const Json document = Json::parse(json, flat, false);
  std::vector<LldpNeighbour> neighbours;
  if (document.is_discarded()) return neighbours;
  for (const Json& item : ListItems(FindMember(FindMember(document, "lldp"), "interface"))) {
    if (!item.is_object()) continue;
    if (item.contains("name")) {
      ReadNeighbour(ReadText(item.at("name")), item, neighbours);
      continue;
    }
    for (const auto& [netdev, value] : item.items()) ReadNeighbour(netdev, value, neighbours);
  }
  return neighbours;
}

}  // namespace reconciler
