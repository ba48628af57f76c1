#include "reconciler/apply/guard/beacon_proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/model/find.h"

namespace reconciler {
namespace {

constexpr std::pair<std::string_view, BeaconState> kWords[] = {
    {"answers", BeaconState::kAnswers},     {"silent", BeaconState::kSilent},
    {"absent", BeaconState::kAbsent},       {"ipv6-disabled", BeaconState::kIpv6Disabled},
    {"down", BeaconState::kDown},           {"no-carrier", BeaconState::kNoCarrier},
    {"no-address", BeaconState::kNoAddress}};

std::string DescribePath(const std::string& netdev, BeaconState state) {
  switch (state) {
    case BeaconState::kAnswers:
      return {};
    case BeaconState::kSilent:
      return "no answer on " + netdev;
    case BeaconState::kAbsent:
      return netdev + " is absent";
    case BeaconState::kIpv6Disabled:
      return "IPv6 is off on " + netdev + " (disable_ipv6)";
    case BeaconState::kDown:
      return netdev + " is down";
    case BeaconState::kNoCarrier:
      return netdev + " has no carrier";
    case BeaconState::kNoAddress:
      return netdev + " takes no IPv6 address";
    case BeaconState::kNotMeasured:
      return netdev + " was not tried";
  }
  return {};
}

// What a person can do first about these causes.
std::string_view ChooseNextStep(const std::set<BeaconState>& causes) {
  if (causes.contains(BeaconState::kIpv6Disabled)) {
    return "set disable_ipv6 of that interface to 0";
  }
  if (causes.contains(BeaconState::kAbsent) || causes.contains(BeaconState::kDown) ||
      causes.contains(BeaconState::kNoCarrier)) {
    return "check the port and its cable";
  }
  return "see what the other node says, and let ICMPv6 pass between the two ports";
}

bool HasBlockedEnd(const NodeName& node, const Peers::Path& path, const PortNames& blocked,
                   const Fabric& fabric) {
  if (blocked.contains({node, path.netdev})) return true;
  return std::any_of(fabric.segments.begin(), fabric.segments.end(), [&](const Segment& segment) {
    const RailPort* own = FindPort(segment, node);
    const RailPort* other = FindPort(segment, path.peer);
    return own != nullptr && other != nullptr && own->netdev == path.netdev &&
           blocked.contains({other->node, other->netdev});
  });
}

struct SilentPeers {
  std::vector<NodeName> peers = {};
  std::set<BeaconState> causes = {};
};

Error MakeSilentError(const NodeName& node, const std::string& why, const SilentPeers& silent) {
  return {.kind = ErrorKind::kApply,
          .message = fmt::format("cannot reach {} of {}: {}",
                                 silent.peers.size() == 1 ? "the beacon" : "the beacons",
                                 Join(silent.peers, ", "), why),
          .context = {node},
          .hint = fmt::format("{}, or give --allow-silent-beacons: then nodes may end apart when "
                              "the controller is lost during the commit",
                              ChooseNextStep(silent.causes))};
}

}  // namespace

BeaconPaths ParseBeaconReply(const std::vector<Peers::Path>& paths, std::string_view out) {
  BeaconPaths found;
  for (const Peers::Path& path : paths) found[path] = BeaconState::kNotMeasured;
  for (const std::string& line : SplitLines(out)) {
    const std::vector<std::string> words = Split(line, ' ');
    if (words.size() != 3) continue;
    const auto path = found.find({words[0], words[1]});
    const auto state = std::find_if(std::begin(kWords), std::end(kWords),
                                    [&](const auto& one) { return one.first == words[2]; });
    if (path != found.end() && state != std::end(kWords)) path->second = state->second;
  }
  return found;
}

std::map<NodeName, BeaconPaths> RemovePeersBehindBlocked(std::map<NodeName, BeaconPaths> found,
                                                         const PortNames& blocked,
                                                         const Fabric& fabric) {
  for (auto& [node, paths] : found) {
    std::set<NodeName> due;  // peers with a path that no blocked port is on
    for (const auto& [path, state] : paths) {
      if (!HasBlockedEnd(node, path, blocked, fabric)) due.insert(path.peer);
    }
    std::erase_if(paths, [&](const auto& one) { return !due.contains(one.first.peer); });
  }
  return found;
}

Errors FindSilentBeacons(const std::map<NodeName, BeaconPaths>& found) {
  Errors errors;
  for (const auto& [node, paths] : found) {
    std::map<NodeName, std::vector<std::pair<std::string, BeaconState>>> by_peer;
    for (const auto& [path, state] : paths) by_peer[path.peer].push_back({path.netdev, state});
    std::map<std::string, SilentPeers> by_cause;
    for (const auto& [peer, tried] : by_peer) {
      if (std::any_of(tried.begin(), tried.end(),
                      [](const auto& one) { return one.second == BeaconState::kAnswers; })) {
        continue;
      }
      std::vector<std::string> whys;
      std::set<BeaconState> causes;
      for (const auto& [netdev, state] : tried) {
        whys.push_back(DescribePath(netdev, state));
        causes.insert(state);
      }
      SilentPeers& same = by_cause[Join(whys, ", ")];
      same.peers.push_back(peer);
      same.causes = std::move(causes);
    }
    for (const auto& [why, silent] : by_cause) errors.push_back(MakeSilentError(node, why, silent));
  }
  return errors;
}

}  // namespace reconciler
