#include "reconciler/manifest/build_spec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "reconciler/base/digest.h"
#include "reconciler/manifest/read/cabling_view.h"
#include "reconciler/manifest/read/hardware_view.h"
#include "reconciler/manifest/read/members.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/manifest/read/switch_view.h"
#include "reconciler/manifest/schema/schema_check.h"
#include "reconciler/manifest/schema/value_json.h"

namespace reconciler {
namespace {

Position FindPosition(const Value& map, std::string_view key) {
  const Value* value = map.Find(key);
  return value != nullptr ? value->position : map.position;
}

Position FindKeyPosition(const Value& map, std::string_view key) {
  for (const Member& member : map.Members()) {
    if (member.key == key) return member.key_position;
  }
  return map.position;
}

// `map` laid over `access`: what it does not say stays.
Access OverrideAccess(Access access, const Value& map) {
  const std::string transport = ReadText(map, "transport", "");
  if (!transport.empty()) {
    access.transport = transport == "local" ? TransportKind::kLocal : TransportKind::kSsh;
  }
  const std::string host_keys = ReadText(map, "host_keys", "");
  if (!host_keys.empty()) {
    access.host_keys = host_keys == "accept-new" ? HostKeys::kAcceptNew : HostKeys::kStrict;
  }
  const std::string become = ReadText(map, "become", "");
  if (!become.empty()) access.become = become == "none" ? Become::kNone : Become::kSudo;
  access.user = ReadText(map, "user", access.user);
  access.port = ReadNumber(map, "port", access.port);
  access.identity = ReadText(map, "identity", access.identity);
  access.connect_timeout_s = ReadNumber(map, "connect_timeout_s", access.connect_timeout_s);
  access.command_timeout_s = ReadNumber(map, "command_timeout_s", access.command_timeout_s);
  return access;
}

FabricSpec BuildFabric(const Value& document) {
  const Value& map = *document.Find("fabric");
  FabricSpec fabric;
  fabric.topology = ViewTopology(document).value();
  fabric.mtu = ReadNumber(map, "mtu", fabric.mtu);
  const std::string twins = ReadText(map, "twins", "both");
  fabric.twins = twins == "first"    ? Twins::kFirst
                 : twins == "second" ? Twins::kSecond
                                     : Twins::kBoth;
  for (const Value& subnet : map.Find("subnets")->List()) {
    fabric.subnets.push_back(ParseIpv4Prefix(*subnet.AsString()).value());
    fabric.subnet_positions.push_back(subnet.position);
  }
  for (const LinkView& link : ViewLinks(document)) {
    fabric.links.push_back(
        {{link.a.node, link.a.cage, link.a.position}, {link.b.node, link.b.cage, link.b.position}});
  }
  fabric.ring_collectives_only = IsCollectivesRing(document);
  const bool down = ReadText(map, "unused_cages", "") == "down";
  fabric.unused_cages = down ? UnusedCages::kDown : UnusedCages::kIgnore;
  fabric.position = FindKeyPosition(document, "fabric");
  fabric.topology_position =
      FindPosition(map, map.Find("topology") != nullptr ? "topology" : "links");
  fabric.mtu_position = FindPosition(map, "mtu");
  fabric.twins_position = FindPosition(map, "twins");
  return fabric;
}

// `own` over `base`: maps key by key, all else whole.
Value LayOver(const Value& base, const Value& own) {
  if (!base.IsMap() || !own.IsMap()) return own;
  std::vector<Member> members = base.Members();
  for (const Member& member : own.Members()) {
    const auto same = std::find_if(members.begin(), members.end(),
                                   [&](const Member& one) { return one.key == member.key; });
    if (same == members.end()) {
      members.push_back(member);
    } else {
      *same = {member.key, member.key_position, LayOver(same->value, member.value)};
    }
  }
  return {std::move(members), own.position};
}

// Keys of a node that mean something else at the top of the manifest.
bool HasOwnMeaning(std::string_view key) { return key == "access" || key == "hardware"; }

std::vector<Member> BuildSections(const Value& document, const Value& node) {
  const auto& known = GetClusterSchema().at("properties");
  std::vector<Member> sections;
  for (const Member& member : node.Members()) {
    if (HasOwnMeaning(member.key) || !known.contains(member.key)) continue;
    const Value* base = document.Find(member.key);
    sections.push_back({member.key, member.key_position,
                        base != nullptr ? LayOver(*base, member.value) : member.value});
  }
  return sections;
}

}  // namespace

ClusterSpec BuildClusterSpec(Value document, const std::string& file) {
  ClusterSpec spec;
  spec.file = file;
  spec.name = ReadText(document, "cluster", "");
  if (const Value* moved = document.Find("moved"))
    spec.former_name = ReadText(*moved, "cluster", "");
  spec.digest = ComputeSha256Hex(ToJson(document).dump());
  const Access access = OverrideAccess({}, *document.Find("access"));
  for (const NodeView& view : ViewNodes(document)) {
    const Value* own = view.entry->Find("access");
    spec.nodes.push_back({view.name, static_cast<int>(view.id.value()), view.address,
                          FindCageName(document, *view.entry),
                          own ? OverrideAccess(access, *own) : access, view.entry->position,
                          ReadText(*view.entry, "hardware", std::string(kDefaultHardware)),
                          BuildSections(document, *view.entry)});
  }
  spec.fabric = BuildFabric(document);
  spec.switches = ViewSwitches(document);
  spec.hardware = ViewHardware(document);
  spec.settings = std::move(document);
  return spec;
}

}  // namespace reconciler
