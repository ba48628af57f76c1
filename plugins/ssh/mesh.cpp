#include "plugins/ssh/mesh.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/aliases.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/model/find.h"

namespace reconciler::plugins::ssh {
namespace {

// Host name, IPv4 or IPv6 address. ssh config would expand a '%', and known_hosts a '*'.
bool IsHost(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
  return !name.starts_with('-') && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

NodeName FindFormerName(const ClusterSpec& cluster, const NodeName& node) {
  const Value* renamed = cluster.settings.At({"moved", "nodes"});
  if (renamed == nullptr) return {};
  for (const Member& member : renamed->Members()) {
    if (member.value.ScalarText() == node) return member.key;
  }
  return {};
}

}  // namespace

std::optional<MeshSpec> ReadMesh(const ClusterSpec& cluster) {
  const Value* mesh = cluster.settings.At({"ssh", "mesh"});
  if (mesh == nullptr || mesh->AsBool() == nullptr || !*mesh->AsBool()) return std::nullopt;
  MeshSpec spec{.position = mesh->position};
  if (const Value* user = cluster.settings.At({"ssh", "user"})) spec.user = user->ScalarText();
  return spec;
}

std::string FindUser(const MeshSpec& mesh, const NodeSpec& node) {
  return mesh.user.empty() ? node.access.user : mesh.user;
}

std::string MakeSshPath(std::string_view user, std::string_view file) {
  return fmt::format("~{}/.ssh/{}", user, file);
}

std::vector<Peer> ListPeers(const ClusterSpec& cluster, const Fabric& fabric, const MeshSpec& mesh,
                            const NodeName& node) {
  // The order of the manifest's nodes means nothing: moving one must not move lines on the nodes.
  std::vector<const NodeSpec*> others;
  for (const NodeSpec& other : cluster.nodes) {
    if (other.name != node) others.push_back(&other);
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const NodeSpec* a, const NodeSpec* b) { return a->id < b->id; });
  const auto aliases = ReadAliases(cluster);
  std::vector<Peer> peers;
  for (const NodeSpec* other : others) {
    Peer peer{.name = other->name,
              .former_name = FindFormerName(cluster, other->name),
              .user = FindUser(mesh, *other),
              .address = other->address,
              .port = other->access.port};
    for (const Segment& segment : fabric.segments) {
      if (IsLinkLocal(segment)) continue;
      const RailPort* port = FindPort(segment, other->name);
      if (port != nullptr && FindPort(segment, node) != nullptr) peer.rails.push_back(*port);
    }
    if (const auto own = aliases.find(other->name); own != aliases.end()) {
      peer.aliases = own->second;
    }
    peers.push_back(std::move(peer));
  }
  return peers;
}

Errors CheckMesh(const ClusterSpec& cluster, const Fabric&) {
  const auto mesh = ReadMesh(cluster);
  if (!mesh) return {};
  Errors errors;
  const auto add = [&](std::string code, Position position, std::string message, std::string hint) {
    errors.push_back(MakeManifestError(std::move(code), cluster.Mark(position), std::move(message),
                                       std::move(hint)));
  };
  for (const NodeSpec& node : cluster.nodes) {
    const std::string user = FindUser(*mesh, node);
    if (user.empty()) {
      add("ssh-user-missing", node.position,
          fmt::format("ssh.mesh: wanted a user for {}, found none", node.name),
          "set ssh.user, or access.user");
    }
    if (!IsHost(node.address)) {
      add("ssh-host-malformed", node.position,
          fmt::format("ssh.mesh: wanted a host name or an address for {}, found '{}'", node.name,
                      MakePrintable(node.address)),
          "letters, digits, '_', '.', ':' and '-'");
    }
  }
  return errors;
}

}  // namespace reconciler::plugins::ssh
