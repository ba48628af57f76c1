#include "plugins/firewall/firewall.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/common/firewall/ufw.h"
#include "plugins/common/ownership/state.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::firewall {
namespace {

constexpr int kUfwLimitS = 60;  // it loads all of its rules again

const Value* FindSetting(const ClusterSpec& cluster) {
  return cluster.settings.At({"firewall", "allow_fabric"});
}

bool IsManaged(const ClusterSpec& cluster) {
  const Value* allow = FindSetting(cluster);
  return allow != nullptr && allow->AsBool() != nullptr && *allow->AsBool();
}

const std::vector<RailPort>& ListPorts(const Fabric& fabric, const NodeName& node) {
  static const std::vector<RailPort> kNone;
  const auto found = fabric.ports.find(node);
  return found == fabric.ports.end() ? kNone : found->second;
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric& fabric, const NodeSpec& node) {
  if (ListPorts(fabric, node.name).empty() && !IsManaged(cluster)) return {};
  return ListUfwReads();
}

std::string FormatSubnet(const RailPort& port) { return ToString(port.address.Network()); }

std::vector<std::string> ListRuleWords(const RailPort& port) {
  return {"allow", "in", "on", port.netdev, "from", FormatSubnet(port)};
}

RunCommand MakeUfw(std::vector<std::string> words, const RailPort& port) {
  RunCommand command{.argv = std::move(words), .time_limit_s = kUfwLimitS, .at_boot = true};
  const std::vector<std::string> rule = ListRuleWords(port);
  command.argv.insert(command.argv.end(), rule.begin(), rule.end());
  return command;
}

// Of what the others of its fabric send to the port.
Observed<UfwAnswer> JudgePort(const PluginInput& input, const RailPort& port) {
  return JudgeUfw(input.facts, port.address.Network(), port.address.address, port.netdev);
}

Observed<std::string> DescribeAnswer(const Observed<UfwAnswer>& answer) {
  if (const auto* unknown = std::get_if<Unknown>(&answer)) return *unknown;
  const UfwAnswer* known = Known(answer);
  if (known == nullptr || known->verdict != UfwVerdict::kAllows) return Absent{};
  return std::string("allowed");
}

Obstacle FindDenyingRule(const Observed<UfwAnswer>& answer) {
  const UfwAnswer* known = Known(answer);
  if (known == nullptr || known->verdict != UfwVerdict::kDropsByRule) return {};
  return {
      .code = "firewall-denied-by-rule",
      .why = fmt::format("a rule of ufw denies it first ({}): ufw status numbered shows it, ufw "
                         "delete NUMBER removes it",
                         known->rule)};
}

// ufw keeps its rules in files of its own, so that a restart keeps what was done and reverted.
Resource MakeRule(const PluginInput& input, const RailPort& port) {
  const Observed<UfwAnswer> answer = JudgePort(input, port);
  RunCommand revert = MakeUfw({"ufw", "delete"}, port);
  revert.must_succeed = true;
  return {.kind = "firewall",
          .name = fmt::format("{} from {}", port.netdev, FormatSubnet(port)),
          .node = input.node.name,
          .desired = ResourceState("allowed"),
          .observed = AsState(DescribeAnswer(answer)),
          .apply = {MakeUfw({"ufw"}, port)},
          .revert = {revert},
          .blocked = FindDenyingRule(answer),
          .where = input.cluster.Mark(FindSetting(input.cluster)->position)};
}

std::vector<Resource> Resources(const PluginInput& input) {
  if (!IsManaged(input.cluster)) return {};
  std::vector<Resource> resources;
  for (const RailPort& port : ListPorts(input.fabric, input.node.name)) {
    resources.push_back(MakeRule(input, port));
  }
  return resources;
}

// A person may have removed ufw since.
Ownership CheckPrune(const PluginInput& input, Change& change) {
  if (!std::holds_alternative<Absent>(Answer(input.facts.rdma.ufw))) return Ownership::kOurs;
  change.detail = "firewall: rules of ufw are not deleted: it is not installed any more";
  return Ownership::kNoOnes;
}

// Where the manifest leaves ufw alone.
std::vector<Diagnostic> DiagnoseUfw(const PluginInput& input) {
  std::vector<std::string> denied;
  std::vector<std::string> commands;
  SourceMark where;
  for (const RailPort& port : ListPorts(input.fabric, input.node.name)) {
    const Observed<UfwAnswer> answer = JudgePort(input, port);
    const UfwAnswer* known = Known(answer);
    if (known == nullptr || known->verdict == UfwVerdict::kAllows) continue;
    denied.push_back(fmt::format("{} on {}", FormatSubnet(port), port.netdev));
    commands.push_back("ufw " + Join(ListRuleWords(port), " "));
    if (denied.size() == 1) where = input.cluster.Mark(port.position);
  }
  if (denied.empty()) return {};
  return {{.code = "firewall-fabric-denied",
           .message = fmt::format("ufw drops what other nodes send from {}, but for what its rules "
                                  "allow; RDMA itself does not pass it",
                                  Join(denied, ", ")),
           .next_step = fmt::format("write firewall: {{allow_fabric: true}}, or run {}",
                                    Join(commands, "; ")),
           .where = where,
           .subject = "ufw"}};
}

// One of iptables is of that family, table and name too.
std::string FormatRule(const FirewallChain& chain, const RailPort& port) {
  if (chain.family == "ip" && chain.table == "filter" && chain.name == "INPUT") {
    return fmt::format("iptables -I INPUT -i {} -s {} -j ACCEPT", port.netdev, FormatSubnet(port));
  }
  return fmt::format("nft insert rule {} {} {} iifname {} ip saddr {} accept", chain.family,
                     chain.table, chain.name, port.netdev, FormatSubnet(port));
}

// Chains of ufw's, where it is on, are judged by its rules.
std::vector<Diagnostic> DiagnoseChains(const PluginInput& input) {
  const bool* ufw = Known(input.facts.rdma.ufw);
  const auto* chains = Known(input.facts.rdma.firewall);
  const std::vector<RailPort>& ports = ListPorts(input.fabric, input.node.name);
  if ((ufw != nullptr && *ufw) || chains == nullptr || ports.empty()) return {};
  std::vector<Diagnostic> found;
  for (const FirewallChain& chain : *chains) {
    if (!DropsIpv4(chain)) continue;
    std::vector<std::string> commands;
    for (const RailPort& port : ports) commands.push_back(FormatRule(chain, port));
    const std::string name = fmt::format("{} {} {}", chain.family, chain.table, chain.name);
    found.push_back(
        {.code = "firewall-chain-drops",
         .message = fmt::format("the chain {} drops what comes in, but for what its rules allow; "
                                "whether they allow the fabric is not looked at",
                                name),
         .next_step = fmt::format("if they do not: {}", Join(commands, "; ")),
         .where = input.cluster.Mark(ports.front().position),
         .subject = name});
  }
  return found;
}

std::vector<Diagnostic> Diagnose(const PluginInput& input) {
  std::vector<Diagnostic> found;
  if (!IsManaged(input.cluster)) found = DiagnoseUfw(input);
  for (Diagnostic& one : DiagnoseChains(input)) found.push_back(std::move(one));
  return found;
}

}  // namespace

Plugin Get() {
  return {.name = "firewall",
          .after = {},
          .probe = Probe,
          .resources = Resources,
          .check_prune = CheckPrune,
          .diagnose = Diagnose};
}

}  // namespace reconciler::plugins::firewall
