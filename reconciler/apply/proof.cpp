#include "reconciler/apply/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "reconciler/apply/proof.sh.h"
#include "reconciler/base/number.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/model/find.h"
#include "reconciler/node/frames.h"
#include "reconciler/planning/half_cable.h"
#include "reconciler/planning/plan_compare.h"

namespace reconciler {
namespace {

constexpr Milliseconds kProofLimit{30000};
constexpr std::string_view kWaitS = "2";
constexpr int kHeaders = 28;      // bytes of IPv4 and ICMP around a ping's payload
constexpr int kIpv6Headers = 48;  // the same of IPv6

std::string FormatAddress(const Ipv4Prefix& prefix) {
  const std::string text = ToString(prefix);
  return text.substr(0, text.find('/'));
}

// The neighbour on a link-local rail is found by its IPv6 address.
std::string FormatPairCall(const RailPort& own, const RailPort& peer) {
  const std::string netdev = QuoteForShell(own.netdev);
  if (IsLinkLocal(own)) {
    return fmt::format("neighbour {} {} {} {} &\n", QuoteForShell(peer.node), own.rail, netdev,
                       own.mtu - kIpv6Headers);
  }
  return fmt::format("pair {} {} {} {} {} &\n", QuoteForShell(peer.node), own.rail, netdev,
                     FormatAddress(peer.address), own.mtu - kHeaders);
}

struct ProofScript {
  std::string script = {};
  std::vector<PairOnRail> pairs = {};
};

ProofScript BuildProofScript(const Fabric& fabric, const std::vector<const NodeSpec*>& nodes,
                             const NodeName& from) {
  const auto place = [&](const NodeName& name) {
    return std::find_if(nodes.begin(), nodes.end(),
                        [&](const NodeSpec* node) { return node->name == name; });
  };
  ProofScript proof;
  for (const Segment& segment : fabric.segments) {
    const RailPort* own = FindPort(segment, from);
    if (own == nullptr) continue;
    proof.script += fmt::format("port {} {}\n", segment.rail, QuoteForShell(own->netdev));
    std::string calls;
    for (const RailPort& port : segment.ports) {
      if (place(port.node) == nodes.end() || place(port.node) <= place(from)) continue;
      calls += FormatPairCall(*own, port);
      proof.pairs.push_back({from, port.node, segment.rail});
    }
    if (calls.empty()) continue;
    proof.script +=
        fmt::format("{{\nsettle {} {}\n{}wait\n}} &\n", QuoteForShell(own->netdev),
                    IsLinkLocal(*own) ? "169.254." : FormatAddress(own->address) + "/", calls);
  }
  return proof;
}

PairState ParsePairState(const std::string& word) {
  if (word == "answers") return PairState::kAnswers;
  if (word == "small-only") return PairState::kSmallOnly;
  if (word == "silent") return PairState::kSilent;
  return PairState::kNotMeasured;
}

std::string DescribePair(PairState state, int mtu) {
  switch (state) {
    case PairState::kAnswers:
      return "answers";
    case PairState::kSmallOnly:
      return fmt::format("answers small packets but none of mtu {}", mtu);
    case PairState::kSilent:
      return "does not answer";
    case PairState::kNoCarrier:
      return "has no link";
    case PairState::kNotMeasured:
      return "could not be queried";
  }
  return {};
}

// Whether one of these ports is the pair's on this rail.
bool HasEndAmong(const std::vector<const Change*>& ports, const PairOnRail& pair,
                 const Segment& segment) {
  return std::any_of(segment.ports.begin(), segment.ports.end(), [&](const RailPort& end) {
    if (end.node != pair.from && end.node != pair.to) return false;
    return std::any_of(ports.begin(), ports.end(), [&](const Change* port) {
      return port->node == end.node && port->name == end.netdev;
    });
  });
}

}  // namespace

Pairs ProbePairs(const Fabric& fabric, const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                 Moment moment) {
  Pairs pairs;
  std::set<std::pair<NodeName, int>> dark;  // ports without a carrier
  std::mutex mutex;
  const NodeErrors thrown = ForEachNode(nodes, [&](const NodeSpec& node) {
    const ProofScript proof = BuildProofScript(fabric, nodes, node.name);
    if (proof.script.empty()) return;
    const auto reply =
        pool.Run(node,
                 BuildScriptPreamble(MakeNonce()) +
                     AssignForShell({{"WAIT_S", moment == Moment::kAfterChange ? kWaitS : "0"}}) +
                     std::string(kProofSh) + proof.script + "wait\n",
                 kProofLimit);
    const std::lock_guard lock(mutex);
    for (const PairOnRail& pair : proof.pairs) pairs[pair] = PairState::kNotMeasured;
    if (!reply) return;
    for (const std::string& line : SplitLines(reply->out)) {
      const std::vector<std::string> words = Split(line, ' ');
      const auto rail = words.size() < 2 ? std::nullopt : ParseNumber<int>(words[1]);
      if (!rail) continue;
      if (words.size() == 2) {
        dark.insert({node.name, *rail});
      } else if (const auto found = pairs.find({node.name, words[0], *rail});
                 found != pairs.end()) {
        found->second = ParsePairState(words[2]);
      }
    }
  });
  for (const auto& [name, error] : thrown) {
    for (const PairOnRail& pair : BuildProofScript(fabric, nodes, name).pairs) {
      pairs[pair] = PairState::kNotMeasured;
    }
  }
  for (auto& [pair, state] : pairs) {
    if (dark.contains({pair.from, pair.rail}) || dark.contains({pair.to, pair.rail})) {
      state = PairState::kNoCarrier;
    }
  }
  return pairs;
}

Errors FindUnprovenPairs(const Pairs& before, const Pairs& after, const Plan& plan,
                         const Fabric& fabric) {
  std::set<NodeName> set;  // nodes whose links the plan sets
  ForEachChange(plan, [&](const Change& change) {
    if (change.impact == Impact::kLinkFlap) set.insert(change.node);
  });
  const std::vector<const Change*> blocked = ListBlockedPorts(plan, fabric);
  Errors errors;
  for (const auto& [pair, state] : after) {
    if (state == PairState::kAnswers) continue;
    const auto found = before.find(pair);
    const bool worked = found != before.end() && found->second == PairState::kAnswers;
    const bool lost_link = state == PairState::kNoCarrier && found != before.end() &&
                           found->second != PairState::kNoCarrier;
    if (state == PairState::kNoCarrier && !lost_link) continue;
    const Segment& segment = fabric.segments.at(static_cast<std::size_t>(pair.rail));
    const bool is_set =
        (set.contains(pair.from) || set.contains(pair.to)) && !HasEndAmong(blocked, pair, segment);
    if (!worked && !lost_link && !is_set) continue;
    errors.push_back(
        {.kind = ErrorKind::kApply,
         .message =
             fmt::format("{} {} on {}{}", pair.to, DescribePair(state, segment.ports.front().mtu),
                         FormatRailName(pair.rail),
                         worked      ? ", and did before the apply"
                         : lost_link ? ", and had one before the apply"
                                     : ""),
         .context = {pair.from},
         .hint = state == PairState::kSmallOnly
                     ? "a switch between them may have a smaller MTU: raise it there, or lower "
                       "`fabric.mtu`"
                     : "check the cable and the far end, or give --allow-unproven to keep the "
                       "change"});
  }
  return errors;
}

}  // namespace reconciler
