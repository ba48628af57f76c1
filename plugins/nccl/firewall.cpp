#include "plugins/nccl/firewall.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/ipv4.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/bootstrap.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kDefaults = "/etc/default/ufw";
constexpr const char* kRules = "/etc/ufw/user.rules";  // of IPv4
constexpr std::string_view kTuple = "### tuple ###";

const std::string* FindText(const NodeFacts& facts, const char* path) {
  const auto found = facts.files.find(path);
  const FileState* state = found == facts.files.end() ? nullptr : Known(found->second);
  return state == nullptr ? nullptr : &state->content;
}

// What comes in is denied where no rule allows it.
bool DeniesByDefault(const std::string& defaults) {
  const std::vector<std::string> lines = SplitLines(defaults);
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line == "DEFAULT_INPUT_POLICY=\"DROP\"" || line == "DEFAULT_INPUT_POLICY=\"REJECT\"";
  });
}

// "### tuple ### allow any any 0.0.0.0/0 any 192.168.1.22 in": action, protocol, port and address
// here, port and address there, direction. "in_enP7s7" is what comes in over one interface.
bool Allows(const std::string& line, Ipv4Address peer, const std::string& interface) {
  if (!line.starts_with(kTuple)) return false;
  const std::vector<std::string> words = Split(std::string(Trim(line.substr(kTuple.size()))), ' ');
  if (words.size() < 7 || !words[0].starts_with("allow")) return false;
  const bool any_port = words[2] == "any" && words[4] == "any";
  const bool comes_in = words[6] == "in" || words[6] == "in_" + interface;
  if ((words[1] != "any" && words[1] != "tcp") || !any_port || !comes_in) return false;
  const std::string& from = words[5];
  const auto network = ParseIpv4Prefix(from.find('/') == std::string::npos ? from + "/32" : from);
  return network && network->Contains(peer);
}

bool AllowsAny(const std::string& rules, Ipv4Address peer, const std::string& interface) {
  const std::vector<std::string> lines = SplitLines(rules);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return Allows(line, peer, interface); });
}

}  // namespace

std::vector<Read> ListFirewallReads() { return {ReadFile{kDefaults}, ReadFile{kRules}}; }

std::vector<Diagnostic> FindDeniedPeers(const Section& section, const PluginInput& input) {
  const bool* enabled = Known(input.facts.rdma.ufw);
  const std::string* defaults = FindText(input.facts, kDefaults);
  const std::string* rules = FindText(input.facts, kRules);
  // By default the ranks meet on the network of our session.
  const bool elsewhere = section.FindVariable("NCCL_SOCKET_IFNAME") != nullptr ||
                         ReadBootstrap(input.cluster) == Bootstrap::kFabric;
  if (enabled == nullptr || !*enabled || defaults == nullptr || rules == nullptr || elsewhere ||
      !DeniesByDefault(*defaults)) {
    return {};
  }
  std::vector<std::string> denied;
  for (const NodeSpec& peer : input.cluster.nodes) {
    const auto facts = input.all.nodes.find(peer.name);
    if (peer.name == input.node.name || facts == input.all.nodes.end()) continue;
    const auto address = ParseIpv4(facts->second.session.address);
    if (address && !AllowsAny(*rules, *address, input.facts.session.interface)) {
      denied.push_back(ToString(*address));
    }
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
