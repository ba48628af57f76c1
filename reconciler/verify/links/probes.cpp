#include "reconciler/verify/links/probes.h"

#include "reconciler/model/find.h"

namespace reconciler {
namespace {

bool HasMesh(const ClusterSpec& cluster) {
  const Value* mesh = cluster.settings.At({"ssh", "mesh"});
  const bool* wanted = mesh != nullptr ? mesh->AsBool() : nullptr;
  return wanted != nullptr && *wanted;
}

std::string FindMeshUser(const ClusterSpec& cluster, const NodeSpec& node) {
  const Value* user = cluster.settings.At({"ssh", "user"});
  const std::string* name = user != nullptr ? user->AsString() : nullptr;
  return name != nullptr && !name->empty() ? *name : node.access.user;
}

}  // namespace

NodeProbes ListProbes(const ClusterSpec& cluster, const Fabric& fabric, const NodeSpec& node,
                      VerifyLevel up_to) {
  NodeProbes probes{.from = node.name, .user = FindMeshUser(cluster, node)};
  const bool mesh = up_to >= VerifyLevel::kSsh && HasMesh(cluster);
  for (const NodeSpec& peer : cluster.nodes) {
    if (peer.name == node.name) {
      probes.first_ping = probes.pings.size();
      probes.first_login = probes.logins.size();
      continue;
    }
    for (const Segment& segment : fabric.segments) {
      const RailPort* from = FindPort(segment, node.name);
      const RailPort* to = FindPort(segment, peer.name);
      if (from == nullptr || to == nullptr) continue;
      if (up_to >= VerifyLevel::kPing) {
        probes.pings.push_back({.to = peer.name,
                                .rail = segment.rail,
                                .netdev = from->netdev,
                                .address = ToString(to->address.address),
                                .mtu = from->mtu});
      }
      if (mesh) {
        probes.logins.push_back({.to = peer.name,
                                 .rail = segment.rail,
                                 .host = FormatRailHostName(peer.name, segment.rail)});
      }
    }
  }
  return probes;
}

const RailPort* FindOtherEnd(const Fabric& fabric, const NodeName& node, int rail) {
  for (const Segment& segment : fabric.segments) {
    if (segment.rail != rail || segment.ports.size() != 2) continue;
    for (const RailPort& port : segment.ports) {
      if (port.node != node) return &port;
    }
  }
  return nullptr;
}

}  // namespace reconciler
