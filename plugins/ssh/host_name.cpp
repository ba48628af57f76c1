#include "plugins/ssh/host_name.h"

#include <algorithm>

#include "plugins/ssh/config_line.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"

namespace reconciler::plugins::ssh {
namespace {

constexpr Ipv4Prefix kLoopback{{0x7F000000}, 8};

// A name with a dot is one of DNS or mDNS, which nodes resolve as the controller does.
bool IsBareName(std::string_view address) {
  return !address.empty() && address.find_first_of(".:") == std::string_view::npos;
}

// An address that means the same on another node.
bool IsUsable(std::string_view text) {
  const auto address = ParseIpv4(text);
  return address && !kLoopback.Contains(*address) && !kLinkLocalSubnet.Contains(*address);
}

std::string ReadHostName(std::string_view block, const NodeName& peer) {
  bool is_its = false;
  for (const std::string& line : SplitLines(block)) {
    const std::vector<std::string> words = SplitConfigLine(line);
    if (words.size() < 2) continue;
    if (words[0] == "host") is_its = words[1] == peer;
    if (is_its && words[0] == "hostname") return IsUsable(words[1]) ? words[1] : "";
  }
  return {};
}

bool Holds(const NodeFacts& facts, const std::string& address) {
  return std::any_of(facts.links.begin(), facts.links.end(), [&](const auto& link) {
    const auto& own = link.second.ipv4;
    return std::any_of(own.begin(), own.end(), [&](const Ipv4Prefix& prefix) {
      return ToString(prefix.address) == address;
    });
  });
}

}  // namespace

std::string FindHostName(const Peer& peer, const ClusterFacts& all, std::string_view block) {
  if (!IsBareName(peer.address)) return {};
  std::string former = ReadHostName(block, peer.name);
  if (former.empty() && !peer.former_name.empty()) former = ReadHostName(block, peer.former_name);
  const auto found = all.nodes.find(peer.name);
  if (found == all.nodes.end()) return former;
  if (!former.empty() && Holds(found->second, former)) return former;
  constexpr std::string_view kMapped = "::ffff:";  // IPv4 on a socket for both
  std::string_view address = found->second.session.address;
  if (address.starts_with(kMapped)) address.remove_prefix(kMapped.size());
  return IsUsable(address) ? std::string(address) : former;
}

}  // namespace reconciler::plugins::ssh
