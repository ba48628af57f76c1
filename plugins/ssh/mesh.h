#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler::plugins::ssh {

inline constexpr std::string_view kTopic = "ssh-mesh";  // of our marked blocks

// The manifest's `ssh` section; nullopt unless it says `mesh: true`.
struct MeshSpec {
  std::string user = {};  // empty: each node's access.user
  Position position = {};
};
std::optional<MeshSpec> ReadMesh(const ClusterSpec& cluster);

// Who logs in to and from `node`.
std::string FindUser(const MeshSpec& mesh, const NodeSpec& node);

// "~nvidia/.ssh/config", the form that reads and actions take.
std::string MakeSshPath(std::string_view user, std::string_view file);

// Another node of the cluster, as `ssh` on this node names it.
struct Peer {
  NodeName name = {};
  NodeName former_name = {};  // of `moved: {nodes: …}`; empty: it was not renamed
  std::string user = {};
  std::string address = {};               // management; may be empty
  std::string host_name = {};             // FindHostName
  int port = 0;                           // 0: 22
  std::vector<RailPort> rails = {};       // its ports on segments that this node is on too
  std::vector<std::string> aliases = {};  // of its first rail, or else of management
};
// In manifest order. All other nodes: management reaches everyone, a rail only those who share it.
std::vector<Peer> ListPeers(const ClusterSpec& cluster, const Fabric& fabric, const MeshSpec& mesh,
                            const NodeName& node);

Errors CheckMesh(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler::plugins::ssh
