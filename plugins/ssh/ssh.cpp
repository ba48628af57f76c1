#include "plugins/ssh/ssh.h"

#include <fmt/format.h>

#include "plugins/common/ownership/state.h"
#include "plugins/common/ports/links.h"
#include "plugins/ssh/account.h"
#include "plugins/ssh/blocks.h"
#include "plugins/ssh/foreign_lines.h"
#include "plugins/ssh/host_name.h"
#include "plugins/ssh/keys.h"
#include "plugins/ssh/mesh.h"
#include "plugins/ssh/shared_key.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"
#include "reconciler/model/find.h"

namespace reconciler::plugins::ssh {
namespace {

constexpr std::string_view kAuthorizedKeys = "authorized_keys";
constexpr std::string_view kKnownHosts = "known_hosts";
constexpr std::string_view kConfig = "config";
constexpr unsigned kWritableByOthers = 0022;

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec& node) {
  const auto mesh = ReadMesh(cluster);
  if (!mesh) return {};
  const std::string user = FindUser(*mesh, node);
  std::vector<Read> reads = ListHostKeyReads();
  for (const std::string_view file : {kPublicKeyFile, kAuthorizedKeys, kKnownHosts, kConfig}) {
    reads.push_back(ReadFile{MakeSshPath(user, file)});
  }
  reads.push_back(MakeAccountProbe(user));
  return reads;
}

// Everything that the resources of one node are made from.
struct Site {
  const PluginInput& input;
  SourceMark where = {};
  std::string user = {};
  std::vector<Peer> peers = {};

  Resource Make(std::string_view kind, std::string name) const {
    return {.kind = std::string(kind),
            .name = std::move(name),
            .node = input.node.name,
            .where = where};
  }
  // A command of the user's, run in the user's home directory.
  RunCommand AsUser(std::vector<std::string> argv) const {
    return {.argv = std::move(argv), .user = user};
  }
  // Under the cluster's name, or else under the one that it had before.
  std::string Block(std::string_view file) const {
    const Observed<FileState> observed = FindFile(input.facts, MakeSshPath(user, file));
    const FileState* state = Known(observed);
    if (state == nullptr) return {};
    auto block = ReadBlock(state->content, input.cluster.name, kTopic);
    if (!block && !input.cluster.former_name.empty()) {
      block = ReadBlock(state->content, input.cluster.former_name, kTopic);
    }
    return block.value_or("");
  }
  // A peer's key in a block of authorized_keys, also under what the cluster or the peer was called
  // before.
  std::optional<PublicKey> KeptKey(std::string_view block, const Peer& peer) const {
    for (const std::string& cluster : {input.cluster.name, input.cluster.former_name}) {
      for (const NodeName& node : {peer.name, peer.former_name}) {
        if (cluster.empty() || node.empty()) continue;
        if (auto key = ReadAuthorizedKey(block, cluster, node)) return key;
      }
    }
    return std::nullopt;
  }
};

Resource MakeDirectory(const Site& site) {
  Resource resource = site.Make("ssh", fmt::format("~{}/.ssh", site.user));
  const Observed<FileAccess> observed = Answer(site.input.facts.ssh.directory);
  resource.desired = ResourceState("0700 " + site.user);
  resource.observed = AsState(AndThen(observed, [](const FileAccess& access) {
    return Observed<std::string>(FormatAccess(access));
  }));
  if (const FileAccess* access = Known(observed)) {
    if (access->owner != site.user) {
      resource.blocked = {.code = "ssh-wrong-owner",
                          .why = fmt::format("belongs to {}, wanted {}", access->owner, site.user)};
    }
    // Of a directory, chmod keeps setuid and setgid unless the mode has five digits.
    resource.apply = {site.AsUser({"chmod", "00700", ".ssh"})};
    resource.revert = {site.AsUser({"chmod", "0" + FormatMode(access->mode), ".ssh"})};
  } else {
    resource.apply = {site.AsUser({"install", "-d", "-m", "00700", ".ssh"})};
  }
  return resource;
}

// Made on the node and never copied off it. ssh-keygen does not overwrite: it prompts, and no
// answer is a no. There is no revert for a new pair: a revert that deletes could meet a key that is
// not this one.
Resource MakeKeyPair(const Site& site) {
  const KeyPair pair = FindKeyPair(site.input.facts, site.user);
  Resource resource = site.Make("ssh", MakeSshPath(site.user, kKeyFile));
  const std::string path = fmt::format(".ssh/{}", kKeyFile);
  resource.desired = ResourceState("0600 " + site.user);
  resource.observed = AsState(pair.state);
  resource.blocked = pair.blocked;
  if (Known(pair.state) != nullptr) {
    resource.apply = {site.AsUser({"chmod", "0600", path})};
    if (!pair.mode.empty()) resource.revert = {site.AsUser({"chmod", pair.mode, path})};
  } else {
    const std::string comment =
        fmt::format("spark-reconcile {} {}", site.input.cluster.name, site.input.node.name);
    resource.label = "(new ed25519 key pair, made on the node)";
    resource.apply = {
        site.AsUser({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path})};
  }
  return resource;
}

// One of the user's files with our block in it. nullopt: no file, and nothing to put into it.
using Body = std::variant<std::string, KnownAfterApply>;
std::optional<Resource> MakeBlockFile(const Site& site, std::string_view file, const Body& wanted) {
  const std::string path = MakeSshPath(site.user, file);
  const Observed<FileState> observed = FindFile(site.input.facts, path);
  const Observed<std::string> group = Answer(site.input.facts.ssh.group);
  const FileState* before = Known(observed);
  if (std::holds_alternative<Absent>(observed) && wanted == Body(std::string()))
    return std::nullopt;

  Resource resource = site.Make("file", path);
  resource.observed = AsState(observed);
  // Only its owner could put it back as it was.
  if (before != nullptr && before->owner != site.user) {
    resource.blocked = {.code = "ssh-wrong-owner",
                        .why = fmt::format("belongs to {}, wanted {}", before->owner, site.user)};
  }
  if (const auto* unknown = std::get_if<Unknown>(&group)) resource.observed = *unknown;
  if (const auto* later = std::get_if<KnownAfterApply>(&wanted)) {
    resource.desired = *later;
    return resource;
  }
  const std::string& body = std::get<std::string>(wanted);
  FileState after{.mode = 0600, .owner = site.user};
  if (const std::string* name = Known(group)) after.group = *name;
  // ssh refuses a config, and sshd authorized_keys, that others may write.
  if (before != nullptr && file != kAuthorizedKeys) after.mode = before->mode & ~kWritableByOthers;
  std::string text = before == nullptr ? "" : before->content;
  if (const std::string& former = site.input.cluster.former_name; !former.empty()) {
    text = SetBlock(text, former, kTopic, "");
  }
  // ssh takes the first value that it meets, so our hosts come before the user's patterns.
  after.content = file == kConfig ? SetBlockFirst(text, site.input.cluster.name, kTopic, body)
                                  : SetBlock(text, site.input.cluster.name, kTopic, body);
  resource.desired = ResourceState(std::move(after));
  return resource;
}

// The node's own ports over which it reaches the rails of peers.
std::vector<RailPort> ListRailPorts(const Fabric& fabric, const NodeName& node) {
  std::vector<RailPort> ports;
  for (const Segment& segment : fabric.segments) {
    const RailPort* own = FindPort(segment, node);
    if (own != nullptr && segment.ports.size() > 1) ports.push_back(*own);
  }
  return ports;
}

// A file that names the peers' rails. Its block is one piece, with the names of the management
// network too: all of it waits for these ports.
void AddRailFile(const Site& site, std::string_view file, const std::string& body,
                 std::vector<Resource>& resources) {
  auto resource = MakeBlockFile(site, file, body);
  if (!resource) return;
  resource->needs = ListLinkIds(ListRailPorts(site.input.fabric, site.input.node.name));
  resources.push_back(std::move(*resource));
}

// A peer that says nothing new keeps the entry that it has.
void AddAuthorizedKeys(const Site& site, std::vector<Resource>& resources) {
  const std::string block = site.Block(kAuthorizedKeys);
  std::string body;
  std::vector<std::string> pending;
  for (const Peer& peer : site.peers) {
    const PeerKey key = FindPeerKey(site.input.all, peer.name, peer.user);
    if (const auto* known = std::get_if<PublicKey>(&key)) {
      body += FormatAuthorizedKey(site.input.cluster.name, peer.name, *known);
    } else if (std::holds_alternative<Pending>(key)) {
      pending.push_back(peer.name);
    } else if (const auto kept = site.KeptKey(block, peer)) {
      body += FormatAuthorizedKey(site.input.cluster.name, peer.name, *kept);
    }
  }
  Body wanted = body;
  if (!pending.empty()) {  // one file, one pass: the whole file waits for the last key
    wanted = KnownAfterApply{
        fmt::format("public {} of {}", pending.size() == 1 ? "key" : "keys", Join(pending, ", "))};
  }
  if (auto file = MakeBlockFile(site, kAuthorizedKeys, wanted))
    resources.push_back(std::move(*file));
}

void AddKnownHosts(const Site& site, std::vector<Resource>& resources) {
  const std::string block = site.Block(kKnownHosts);
  std::string body;
  for (const Peer& peer : site.peers) {
    const auto keys = FindHostKeys(site.input.all, peer.name);
    const auto* known = std::get_if<std::vector<PublicKey>>(&keys);
    body += FormatKnownHosts(peer, known != nullptr ? *known : ReadKnownHostKeys(block, peer));
  }
  AddRailFile(site, kKnownHosts, body, resources);
}

// What blocks the folder blocks all that lies in it.
void BlockWithDirectory(const Resource& directory, std::vector<Resource>& resources) {
  Obstacle obstacle = directory.blocked;
  if (const auto* unknown = std::get_if<Unknown>(&directory.observed)) {
    obstacle = {.code = "ssh-folder-unknown", .why = unknown->why};
  }
  if (obstacle.empty()) return;
  obstacle.why = fmt::format("{}: {}", directory.name, obstacle.why);
  for (Resource& resource : resources) {
    if (resource.blocked.empty()) resource.blocked = obstacle;
  }
}

Site MakeSite(const MeshSpec& mesh, const PluginInput& input) {
  Site site{.input = input,
            .where = input.cluster.Mark(mesh.position),
            .user = FindUser(mesh, input.node),
            .peers = ListPeers(input.cluster, input.fabric, mesh, input.node.name)};
  const std::string block = site.Block(kConfig);
  for (Peer& peer : site.peers) peer.host_name = FindHostName(peer, input.all, block);
  return site;
}

std::vector<Resource> Resources(const PluginInput& input) {
  const auto mesh = ReadMesh(input.cluster);
  if (!mesh) return {};
  const Site site = MakeSite(*mesh, input);
  Resource directory = MakeDirectory(site);
  std::vector<Resource> resources = {MakeKeyPair(site)};
  AddAuthorizedKeys(site, resources);
  AddKnownHosts(site, resources);
  AddRailFile(site, kConfig, FormatConfig(site.peers), resources);
  BlockWithDirectory(directory, resources);
  resources.insert(resources.begin(), std::move(directory));
  return resources;
}

// A peer whose keys cannot be learned and that has none in our blocks.
Diagnostic MakeMissing(const Site& site, std::string subject, const Unknown& why) {
  return {.severity = Severity::kWarns,
          .code = "ssh-peer-key-unknown",
          .message = fmt::format("cannot determine the {}: {}", subject, why.why),
          .next_step = "make that node ready, then plan again",
          .where = site.where,
          .subject = std::move(subject)};
}

// One private key that is on every node is no key of ours, and the mesh does not use it.
std::vector<Diagnostic> DiagnoseSharedKey(const Site& site, const ConfigFile& config) {
  const auto line = FindSharedKeyLine(config.content);
  if (!line) return {};
  return {
      {.severity = Severity::kInforms,
       .code = "ssh-shared-key",
       .message = fmt::format("{}:{} offers ~/.ssh/id_ed25519_shared to every host, one private "
                              "key that NVIDIA's script copies to every node",
                              config.path, *line),
       .next_step = "where nothing needs it any more, remove that section, the key, and its "
                    "line in authorized_keys, on every node",
       .where = site.where,
       .subject = config.path}};
}

ConfigFile ReadConfig(const Site& site) {
  ConfigFile config{.path = MakeSshPath(site.user, kConfig), .cluster = site.input.cluster.name};
  const Observed<FileState> observed = FindFile(site.input.facts, config.path);
  if (const FileState* file = Known(observed)) config.content = file->content;
  config.former_clusters.insert(site.input.cluster.former_name);
  if (const Ledger* ledger = Known(site.input.facts.ledger)) {
    config.former_clusters.insert(ledger->cluster);  // that of the last apply to this node
  }
  std::erase_if(config.former_clusters,
                [&](const std::string& name) { return name.empty() || name == config.cluster; });
  return config;
}

std::vector<Diagnostic> Diagnose(const PluginInput& input) {
  const auto mesh = ReadMesh(input.cluster);
  if (!mesh) return {};
  const Site site = MakeSite(*mesh, input);
  const std::string authorized = site.Block(kAuthorizedKeys);
  const std::string known_hosts = site.Block(kKnownHosts);
  const ConfigFile config = ReadConfig(site);
  std::vector<Diagnostic> missing = DiagnoseSharedKey(site, config);
  for (Diagnostic& one : DiagnoseForeignLines(config, site.peers, site.where)) {
    missing.push_back(std::move(one));
  }
  for (const Peer& peer : site.peers) {
    const PeerKey key = FindPeerKey(input.all, peer.name, peer.user);
    const auto* unknown = std::get_if<Unknown>(&key);
    if (unknown == nullptr || site.KeptKey(authorized, peer)) continue;
    missing.push_back(MakeMissing(site, "public key of " + peer.name, *unknown));
  }
  for (const Peer& peer : site.peers) {
    const auto keys = FindHostKeys(input.all, peer.name);
    const auto* unknown = std::get_if<Unknown>(&keys);
    if (unknown == nullptr) continue;
    if (!FormatKnownHosts(peer, ReadKnownHostKeys(known_hosts, peer)).empty()) continue;
    missing.push_back(MakeMissing(site, "host keys of " + peer.name, *unknown));
  }
  return missing;
}

}  // namespace

Plugin Get() {
  return {.name = "ssh",
          .after = {},
          .probe = Probe,
          .parse = ParseAccount,
          .resources = Resources,
          .check = CheckMesh,
          .diagnose = Diagnose};
}

}  // namespace reconciler::plugins::ssh
