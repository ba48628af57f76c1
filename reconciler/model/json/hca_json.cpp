#include "reconciler/model/hca.h"

#include "reconciler/model/json/json_parts.h"

namespace reconciler {
namespace {

using nlohmann::ordered_json;

ordered_json PcieToJson(const PcieEnd& end) {
  return {{"slot", EncodeText(end.slot)},
          {"mts", end.mts},
          {"lanes", end.lanes},
          {"max_mts", end.max_mts},
          {"max_lanes", end.max_lanes}};
}

int Small(const JsonReader& reader) { return static_cast<int>(reader.Integer()); }

PcieEnd ReadPcie(const JsonReader& reader) {
  return {.slot = reader.At("slot").Text(),
          .mts = Small(reader.At("mts")),
          .lanes = Small(reader.At("lanes")),
          .max_mts = Small(reader.At("max_mts")),
          .max_lanes = Small(reader.At("max_lanes"))};
}

ordered_json GidsToJson(const std::vector<GidFact>& gids) {
  ordered_json list = ordered_json::array();
  for (const GidFact& gid : gids) {
    list.push_back({{"index", gid.index},
                    {"gid", EncodeText(gid.gid)},
                    {"type", EncodeText(gid.type)},
                    {"netdev", EncodeText(gid.netdev)}});
  }
  return list;
}

GidFact ReadGid(const JsonReader& reader) {
  return {.index = Small(reader.At("index")),
          .gid = reader.At("gid").Text(),
          .type = reader.At("type").Text(),
          .netdev = reader.At("netdev").Text()};
}

}  // namespace

ordered_json HcaToJson(const HcaFact& hca) {
  ordered_json counters = ordered_json::object();
  for (const auto& [name, value] : hca.counters) {
    counters[EncodeText(name).get<std::string>()] = value;
  }
  return {
      {"netdev", EncodeText(hca.netdev)},
      {"firmware", EncodeText(hca.firmware)},
      {"board_id", EncodeText(hca.board_id)},
      {"model", EncodeText(hca.model)},
      {"node_guid", EncodeText(hca.node_guid)},
      {"system_guid", EncodeText(hca.system_guid)},
      {"state", EncodeText(hca.state)},
      {"physical_state", EncodeText(hca.physical_state)},
      {"link_layer", EncodeText(hca.link_layer)},
      {"rate_mbps", hca.rate_mbps},
      {"device", PcieToJson(hca.device)},
      {"upstream", PcieToJson(hca.upstream)},
      {"gids", GidsToJson(hca.gids)},
      {"counters", counters},
      {"verbs", {{"active_mtu", hca.verbs.active_mtu}, {"dmabuf", EncodeText(hca.verbs.dmabuf)}}}};
}

HcaFact ReadHca(const JsonReader& reader) {
  HcaFact hca{.netdev = reader.At("netdev").Text(),
              .firmware = reader.At("firmware").Text(),
              .board_id = reader.At("board_id").Text(),
              .model = reader.At("model").Text(),
              .node_guid = reader.At("node_guid").Text(),
              .system_guid = reader.At("system_guid").Text(),
              .state = reader.At("state").Text(),
              .physical_state = reader.At("physical_state").Text(),
              .link_layer = reader.At("link_layer").Text(),
              .rate_mbps = Small(reader.At("rate_mbps")),
              .device = ReadPcie(reader.At("device")),
              .upstream = ReadPcie(reader.At("upstream"))};
  reader.At("gids").ForEachItem([&](const JsonReader& gid) { hca.gids.push_back(ReadGid(gid)); });
  reader.At("counters").ForEachMember([&](const std::string& name, const JsonReader& value) {
    hca.counters[name] = value.Integer();
  });
  const JsonReader verbs = reader.At("verbs");
  hca.verbs = {.active_mtu = Small(verbs.At("active_mtu")), .dmabuf = verbs.At("dmabuf").Text()};
  return hca;
}

}  // namespace reconciler
