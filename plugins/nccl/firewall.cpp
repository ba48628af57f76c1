#include "plugins/nccl/firewall.h"

#include <fmt/format.h>

#include "plugins/common/firewall/ufw.h"
#include "reconciler/base/ipv4.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/bootstrap.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr int kOneAddress = 32;  // bits

bool IsDenied(const NodeFacts& facts, Ipv4Address peer) {
  const Observed<UfwAnswer> answer =
      JudgeUfw(facts, {.address = peer, .length = kOneAddress}, ParseIpv4(facts.session.address),
               facts.session.interface);
  const UfwAnswer* known = Known(answer);
  return known != nullptr && known->verdict != UfwVerdict::kAllows;
}

}  // namespace

std::vector<Diagnostic> FindDeniedPeers(const Section& section, const PluginInput& input) {
  // By default the ranks meet on the network of our session.
  const bool elsewhere = section.FindVariable("NCCL_SOCKET_IFNAME") != nullptr ||
                         ReadBootstrap(input.cluster) == Bootstrap::kFabric;
  // Off or unknown, as on most nodes, it denies no peer, and no peer needs to be looked for.
  const bool* enabled = Known(input.facts.rdma.ufw);
  if (elsewhere || enabled == nullptr || !*enabled) return {};
  if (!ChooseBootstrap(input.cluster, input.fabric, input.facts, input.all).on_wifi.empty()) {
    return {};
  }
  std::vector<std::string> denied;
  for (const NodeSpec& peer : input.cluster.nodes) {
    const auto facts = input.all.nodes.find(peer.name);
    if (peer.name == input.node.name || facts == input.all.nodes.end()) continue;
    const auto address = ParseIpv4(facts->second.session.address);
    if (address && IsDenied(input.facts, *address)) denied.push_back(ToString(*address));
  }
  if (denied.empty()) return {};
  return {{.code = "nccl-firewall",
           .message = fmt::format("ufw drops what NCCL's ranks send from {}: they wait for each "
                                  "other until a limit",
                                  Join(denied, ", ")),
           .next_step = fmt::format("ufw allow from {}", Join(denied, "; ufw allow from ")),
           .where = input.cluster.Mark(section.position),
           .subject = "firewall"}};
}

}  // namespace reconciler::plugins::nccl
