#include "reconciler/verify/rdma/judge/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "reconciler/verify/finding/join.h"
#include "reconciler/verify/pairs/at_fault.h"

namespace reconciler {
namespace {

struct NodeText {
  std::string_view code;
  std::string_view cause;      // {0}: node
  std::string_view next_step;  // the same
};

// Of what is found between two nodes, what one of them can cause.
constexpr NodeText kTexts[] = {
    {"hca-degraded",
     "the ConnectX of {0} is degraded: its links are healthy, no counter grows, and the nodes "
     "without it are fast",
     "shut {0} down, take its power away for a minute, and update the firmware"},
    {"packet-loss", "packets are lost between {0} and its peers, and not between the others",
     "reseat or change the cable of {0}; on a switch check the drops of its port, and turn on flow "
     "control or ECN"},
    {"detour",
     "what {0} sends or receives takes a detour, and nothing else does: this is what a CPU "
     "forwards",
     "check for a bridge over the fabric's interfaces of {0} (bridge link), and its port of the "
     "switch: blocked (STP), or a split cage that must be reset"},
    {"rdma-slow", "the rails of {0} are slower than their links, and those between the others not",
     "check load, temperature and PCIe of {0}, and run verify again"},
};

using Pair = std::pair<NodeName, NodeName>;

Pair MakePair(const NodeName& a, const NodeName& b) { return {std::min(a, b), std::max(a, b)}; }

// A pair with any other fault than `code` says nothing about it.
std::vector<PairVerdict> ListVerdicts(std::string_view code, const std::vector<Check>& checks,
                                      const std::vector<Finding>& findings) {
  std::map<Pair, PairVerdict> verdicts;
  for (const Check& check : checks) {
    if (check.outcome == Outcome::kSkipped) continue;
    const Pair pair = MakePair(check.from, check.to);
    PairVerdict& verdict = verdicts[pair];
    if (verdict.a.empty()) {
      verdict = {.a = pair.first, .b = pair.second, .good = true};
    }
    if (check.outcome != Outcome::kPass) verdict.measured = false;
  }
  for (const Finding& finding : findings) {
    if (finding.code != code || finding.nodes.size() != 2) continue;
    const auto found = verdicts.find(MakePair(finding.nodes[0], finding.nodes[1]));
    if (found == verdicts.end()) continue;
    found->second.good = false;
    found->second.measured = true;
  }
  std::vector<PairVerdict> list;
  for (auto& [pair, verdict] : verdicts) list.push_back(std::move(verdict));
  return list;
}

bool IsAbout(const Finding& finding, std::string_view code, const NodeName& node) {
  return finding.code == code && finding.nodes.size() == 2 &&
         std::find(finding.nodes.begin(), finding.nodes.end(), node) != finding.nodes.end();
}

}  // namespace

void NameNodesAtFault(const std::vector<Check>& checks, std::vector<Finding>& findings) {
  for (const NodeText& text : kTexts) {
    for (const NodeName& node : FindNodesAtFault(ListVerdicts(text.code, checks, findings))) {
      std::vector<Finding> kept;
      for (Finding& finding : findings) {
        if (IsAbout(finding, text.code, node)) {
          finding.nodes = {node};
          finding.cause = fmt::format(fmt::runtime(text.cause), node);
          finding.next_step = fmt::format(fmt::runtime(text.next_step), node);
        }
        JoinFinding(std::move(finding), kept);
      }
      findings = std::move(kept);
    }
  }
}

}  // namespace reconciler
