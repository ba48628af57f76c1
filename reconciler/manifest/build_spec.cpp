#include "reconciler/manifest/build_spec.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "reconciler/base/digest.h"
#include "reconciler/manifest/read/cabling_view.h"
#include "reconciler/manifest/read/hardware_view.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/manifest/read/switch_view.h"
#include "reconciler/manifest/schema/value_json.h"

namespace reconciler {
namespace {

std::string Text(const Value& map, std::string_view key, std::string otherwise) {
  const Value* value = map.Find(key);
  return value != nullptr && value->AsString() != nullptr ? *value->AsString() : otherwise;
}

int Number(const Value& map, std::string_view key, int otherwise) {
  const Value* value = map.Find(key);
  return value != nullptr && value->AsInteger() != nullptr ? static_cast<int>(*value->AsInteger())
                                                           : otherwise;
}

Position PlaceOf(const Value& map, std::string_view key) {
  const Value* value = map.Find(key);
  return value != nullptr ? value->position : map.position;
}

Position PlaceOfKey(const Value& map, std::string_view key) {
  for (const Member& member : map.Members()) {
    if (member.key == key) return member.key_position;
  }
  return map.position;
}

// `map` laid over `access`: what it does not say stays.
Access LayOver(Access access, const Value& map) {
  const std::string transport = Text(map, "transport", "");
  if (!transport.empty()) {
    access.transport = transport == "local" ? TransportKind::kLocal : TransportKind::kSsh;
  }
  const std::string host_keys = Text(map, "host_keys", "");
  if (!host_keys.empty()) {
    access.host_keys = host_keys == "accept-new" ? HostKeys::kAcceptNew : HostKeys::kStrict;
  }
  const std::string become = Text(map, "become", "");
  if (!become.empty()) access.become = become == "none" ? Become::kNone : Become::kSudo;
  access.user = Text(map, "user", access.user);
  access.port = Number(map, "port", access.port);
  access.identity = Text(map, "identity", access.identity);
  access.connect_timeout_s = Number(map, "connect_timeout_s", access.connect_timeout_s);
  access.command_timeout_s = Number(map, "command_timeout_s", access.command_timeout_s);
  return access;
}

FabricSpec BuildFabric(const Value& document) {
  const Value& map = *document.Find("fabric");
  FabricSpec fabric;
  fabric.topology = ViewTopology(document).value();
  fabric.mtu = Number(map, "mtu", fabric.mtu);
  for (const Value& subnet : map.Find("subnets")->List()) {
    fabric.subnets.push_back(ParseIpv4Prefix(*subnet.AsString()).value());
    fabric.subnet_positions.push_back(subnet.position);
  }
  for (const LinkView& link : ViewLinks(document)) {
    fabric.links.push_back(
        {{link.a.node, link.a.cage, link.a.position}, {link.b.node, link.b.cage, link.b.position}});
  }
  fabric.ring_collectives_only = RingOfCollectives(document);
  const bool down = Text(map, "unused_cages", "") == "down";
  fabric.unused_cages = down ? UnusedCages::kDown : UnusedCages::kIgnore;
  fabric.position = PlaceOfKey(document, "fabric");
  fabric.topology_position = PlaceOf(map, map.Find("topology") != nullptr ? "topology" : "links");
  fabric.mtu_position = PlaceOf(map, "mtu");
  return fabric;
}

}  // namespace

ClusterSpec BuildClusterSpec(Value document, const std::string& file) {
  ClusterSpec spec;
  spec.file = file;
  spec.name = Text(document, "cluster", "");
  if (const Value* moved = document.Find("moved")) spec.former_name = Text(*moved, "cluster", "");
  spec.digest = Sha256Hex(ToJson(document).dump());
  const Access access = LayOver({}, *document.Find("access"));
  for (const NodeView& view : ViewNodes(document)) {
    const Value* own = view.entry->Find("access");
    spec.nodes.push_back({view.name, static_cast<int>(view.id.value()), view.address,
                          CageOf(document, *view.entry), own ? LayOver(access, *own) : access,
                          view.entry->position,
                          Text(*view.entry, "hardware", std::string(kDefaultHardware))});
  }
  spec.fabric = BuildFabric(document);
  spec.switches = ViewSwitches(document);
  spec.hardware = ViewHardware(document);
  spec.settings = std::move(document);
  return spec;
}

}  // namespace reconciler
