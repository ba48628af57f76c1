#include "plugins/ssh/keys.h"

#include <fmt/format.h>

#include <array>

#include "plugins/ssh/account.h"
#include "plugins/ssh/mesh.h"

namespace reconciler::plugins::ssh {
namespace {

constexpr std::array<std::string_view, 3> kHostKeyFiles = {"/etc/ssh/ssh_host_ed25519_key.pub",
                                                           "/etc/ssh/ssh_host_ecdsa_key.pub",
                                                           "/etc/ssh/ssh_host_rsa_key.pub"};

constexpr std::string_view kPublicSuffix = ".pub";

std::optional<PublicKey> ParseUserKey(std::string_view text) {
  const auto key = ParsePublicKey(text);
  return key && key->type == "ssh-ed25519" ? key : std::nullopt;
}

KeyPair MakeBroken(const std::string& state, const std::string& why, const std::string& remedy) {
  return {.state = state + ", " + why,
          .blocked = {.code = "ssh-key-pair-broken", .why = why + ": " + remedy}};
}

// Neither half is there: can ssh-keygen, run by the user, put them there?
KeyPair MakeMissing(const NodeFacts& facts, const std::string& user) {
  const Observed<FileAccess> directory = Answer(facts.ssh.directory);
  KeyPair pair;
  if (const auto* unknown = std::get_if<Unknown>(&directory)) pair.state = *unknown;
  if (const auto* access = Known(directory); access != nullptr && access->owner != user) {
    pair.blocked = {.code = "ssh-wrong-owner",
                    .why = fmt::format("~/.ssh belongs to {}, wanted {}", access->owner, user)};
  }
  return pair;
}

Unknown MakeNotReached(const NodeName& peer) { return {fmt::format("{} was not reached", peer)}; }

}  // namespace

KeyPair FindKeyPair(const NodeFacts& facts, const std::string& user) {
  const Observed<FileAccess> private_key = Answer(facts.ssh.private_key);
  const Observed<FileState> public_file = FindFile(facts, MakeSshPath(user, kPublicKeyFile));
  if (const auto* unknown = std::get_if<Unknown>(&private_key)) return {.state = *unknown};
  if (const auto* unknown = std::get_if<Unknown>(&public_file)) {
    return {.state = Unknown{"public key: " + unknown->why}};
  }
  const FileAccess* access = Known(private_key);
  const FileState* text = Known(public_file);
  if (access == nullptr && text == nullptr) return MakeMissing(facts, user);
  if (access == nullptr)
    return MakeBroken("no private key", "the public key lacks its private key",
                      "move the public key away, and a new pair is made");
  const std::string print_it = fmt::format("ssh-keygen -y -f ~/.ssh/{} prints it", kKeyFile);
  const auto broken = [&](const std::string& why) {
    KeyPair pair = MakeBroken(FormatAccess(*access), why, print_it);
    pair.mode = FormatMode(access->mode);
    return pair;
  };
  if (text == nullptr) return broken("the private key lacks its public key");
  const auto key = ParseUserKey(text->content);
  if (!key) return broken("the public key is not one ssh-ed25519 line");
  KeyPair pair{.state = FormatAccess(*access), .mode = FormatMode(access->mode), .key = key};
  if (access->owner != user) {
    pair.blocked = {.code = "ssh-wrong-owner",
                    .why = fmt::format("belongs to {}, wanted {}", access->owner, user)};
  }
  return pair;
}

PeerKey FindPeerKey(const ClusterFacts& all, const NodeName& peer, const std::string& user) {
  const auto found = all.nodes.find(peer);
  if (found == all.nodes.end()) return MakeNotReached(peer);
  const KeyPair pair = FindKeyPair(found->second, user);
  if (pair.key) return *pair.key;
  if (pair.IsToBeMade()) return Pending{};
  const auto* unknown = std::get_if<Unknown>(&pair.state);
  return Unknown{
      fmt::format("on {}: {}", peer, unknown != nullptr ? unknown->why : pair.blocked.why)};
}

std::vector<Read> ListHostKeyReads() {
  std::vector<Read> reads;
  for (const std::string_view file : kHostKeyFiles) reads.push_back(ReadFile{std::string(file)});
  return reads;
}

std::variant<std::vector<PublicKey>, Unknown> FindHostKeys(const ClusterFacts& all,
                                                           const NodeName& peer) {
  const auto found = all.nodes.find(peer);
  if (found == all.nodes.end()) return MakeNotReached(peer);
  std::vector<PublicKey> keys;
  for (const std::string_view file : kHostKeyFiles) {
    const Observed<FileState> state = FindFile(found->second, std::string(file));
    if (const auto* unknown = std::get_if<Unknown>(&state)) {
      return Unknown{fmt::format("on {}: {}: {}", peer, file, unknown->why)};
    }
    const FileState* text = Known(state);
    if (text == nullptr) continue;
    const auto key = ParsePublicKey(text->content);
    if (!key) {
      return Unknown{
          fmt::format("on {}: {} is not one public key line: ssh-keygen -y -f {} prints it", peer,
                      file, file.substr(0, file.size() - kPublicSuffix.size()))};
    }
    keys.push_back(*key);
  }
  if (keys.empty()) return Unknown{fmt::format("{} has no host key in /etc/ssh", peer)};
  return keys;
}

}  // namespace reconciler::plugins::ssh
