#include "plugins/ssh/blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/ssh/account.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::ssh {
namespace {

std::string FormatKeyComment(std::string_view cluster, const NodeName& node) {
  return fmt::format(" spark-reconcile {} {}", cluster, node);
}

// known_hosts writes any port but 22 as "[host]:port".
std::string FormatHostPattern(const std::string& host, int port) {
  return port == 0 || port == 22 ? host : fmt::format("[{}]:{}", host, port);
}

// One network on which `peer` is reached: by the names and by the address itself.
struct Destination {
  std::vector<std::string> names = {};
  std::string address = {};
  std::string host_name = {};  // empty: the address

  std::vector<std::string> ListAll() const {
    std::vector<std::string> all = names;
    if (std::find(names.begin(), names.end(), address) == names.end()) all.push_back(address);
    return all;
  }
};

std::vector<Destination> ListDestinations(const Peer& peer) {
  std::vector<Destination> destinations;
  Destination management{
      .names = {peer.name}, .address = peer.address, .host_name = peer.host_name};
  if (peer.rails.empty()) {
    management.names.insert(management.names.end(), peer.aliases.begin(), peer.aliases.end());
  }
  if (!peer.address.empty()) destinations.push_back(std::move(management));
  for (const RailPort& rail : peer.rails) {
    Destination own{.names = {FormatRailHostName(peer.name, rail.rail)},
                    .address = ToString(rail.address.address)};
    if (&rail == &peer.rails.front()) {
      own.names.insert(own.names.end(), peer.aliases.begin(), peer.aliases.end());
    }
    destinations.push_back(std::move(own));
  }
  return destinations;
}

std::string FormatHostBlock(const Destination& destination, const Peer& peer) {
  const std::string& address = destination.address;
  const std::string& host_name = destination.host_name;
  // The peer itself said which address that is: its host keys hold for its names alone.
  const std::string alias =
      host_name.empty()
          ? ""
          : fmt::format("  HostKeyAlias {}\n", FormatHostPattern(peer.name, peer.port));
  return fmt::format("Host {}\n  HostName {}\n", Join(destination.ListAll(), " "),
                     host_name.empty() ? address : host_name) +
         alias + (peer.port == 0 || peer.port == 22 ? "" : fmt::format("  Port {}\n", peer.port)) +
         fmt::format("  User {}\n  IdentityFile ~/.ssh/{}\n  IdentitiesOnly yes\n", peer.user,
                     kKeyFile);
}

// Of the lines whose first name is `host`.
std::vector<PublicKey> ReadKeysOf(std::string_view block, const std::string& host) {
  std::vector<PublicKey> keys;
  for (const std::string& line : SplitLines(block)) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    if (Split(line.substr(0, blank), ',').front() != host) continue;
    if (const auto key = ParsePublicKey(line.substr(blank + 1))) keys.push_back(*key);
  }
  return keys;
}

}  // namespace

std::string FormatAuthorizedKey(std::string_view cluster, const NodeName& node,
                                const PublicKey& key) {
  return key.Line() + FormatKeyComment(cluster, node) + '\n';
}

std::optional<PublicKey> ReadAuthorizedKey(std::string_view block, std::string_view cluster,
                                           const NodeName& node) {
  for (const std::string& line : SplitLines(block)) {
    const auto key = ParsePublicKey(line);
    if (key && FormatAuthorizedKey(cluster, node, *key) == line + '\n') return key;
  }
  return std::nullopt;
}

std::string FormatKnownHosts(const Peer& peer, const std::vector<PublicKey>& keys) {
  std::vector<std::string> names;
  if (peer.address.empty()) names.push_back(FormatHostPattern(peer.name, peer.port));
  for (const Destination& destination : ListDestinations(peer)) {
    for (const std::string& name : destination.ListAll()) {
      names.push_back(FormatHostPattern(name, peer.port));
    }
  }
  std::string lines;
  for (const PublicKey& key : keys) lines += Join(names, ",") + ' ' + key.Line() + '\n';
  return lines;
}

std::vector<PublicKey> ReadKnownHostKeys(std::string_view block, const Peer& peer) {
  std::vector<PublicKey> keys = ReadKeysOf(block, FormatHostPattern(peer.name, peer.port));
  if (!keys.empty() || peer.former_name.empty()) return keys;
  return ReadKeysOf(block, FormatHostPattern(peer.former_name, peer.port));
}

std::vector<std::string> ListHostNames(const Peer& peer) {
  std::vector<std::string> names;
  for (const Destination& destination : ListDestinations(peer)) {
    for (std::string& name : destination.ListAll()) names.push_back(std::move(name));
  }
  return names;
}

std::string FormatConfig(const std::vector<Peer>& peers) {
  std::string body;
  for (const Peer& peer : peers) {
    for (const Destination& destination : ListDestinations(peer)) {
      body += FormatHostBlock(destination, peer);
    }
  }
  // A Host line governs everything up to the next Host or Match. The block stands at the top, so
  // without this line the user's own global options below it would hold for the last peer only.
  if (!body.empty()) body += "Match all\n";
  return body;
}

}  // namespace reconciler::plugins::ssh
