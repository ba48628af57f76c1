#include "plugins/ssh/blocks.h"

#include <fmt/format.h>

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

std::string FormatHostBlock(const std::string& alias, const std::string& address,
                            const Peer& peer) {
  return fmt::format("Host {}\n  HostName {}\n", alias, address) +
         (peer.port == 0 || peer.port == 22 ? "" : fmt::format("  Port {}\n", peer.port)) +
         fmt::format("  User {}\n  IdentityFile ~/.ssh/{}\n  IdentitiesOnly yes\n", peer.user,
                     kKeyFile);
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
  std::vector<std::string> names = {FormatHostPattern(peer.name, peer.port)};
  if (!peer.address.empty() && peer.address != peer.name) {
    names.push_back(FormatHostPattern(peer.address, peer.port));
  }
  for (const RailPort& rail : peer.rails) {
    names.push_back(FormatHostPattern(FormatRailHostName(peer.name, rail.rail), peer.port));
    names.push_back(FormatHostPattern(ToString(rail.address.address), peer.port));
  }
  std::string lines;
  for (const PublicKey& key : keys) lines += Join(names, ",") + ' ' + key.Line() + '\n';
  return lines;
}

std::vector<PublicKey> ReadKnownHostKeys(std::string_view block, const Peer& peer) {
  std::vector<PublicKey> keys;
  for (const std::string& line : SplitLines(block)) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos) continue;
    if (Split(line.substr(0, blank), ',').front() != FormatHostPattern(peer.name, peer.port))
      continue;
    if (const auto key = ParsePublicKey(line.substr(blank + 1))) keys.push_back(*key);
  }
  return keys;
}

std::string FormatConfig(const std::vector<Peer>& peers) {
  std::string body;
  for (const Peer& peer : peers) {
    if (!peer.address.empty()) body += FormatHostBlock(peer.name, peer.address, peer);
    for (const RailPort& rail : peer.rails) {
      body += FormatHostBlock(FormatRailHostName(peer.name, rail.rail),
                              ToString(rail.address.address), peer);
    }
  }
  // A Host line governs everything up to the next Host or Match. The block stands at the top, so
  // without this line the user's own global options below it would hold for the last peer only.
  if (!body.empty()) body += "Match all\n";
  return body;
}

}  // namespace reconciler::plugins::ssh
