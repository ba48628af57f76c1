#include "plugins/sysctl/arp.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plugins/sysctl/dropins.h"
#include "plugins/sysctl/keys.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"
#include "reconciler/model/arp.h"

namespace reconciler::plugins::sysctl {
namespace {

std::optional<int> FindValue(const PluginInput& input,
                             const std::map<std::string, std::string>& wanted,
                             const std::string& key) {
  if (const auto own = wanted.find(key); own != wanted.end()) return ParseNumber<int>(own->second);
  const Observed<std::string> observed = FindOrUnknown(input.facts.sysctl.keys, key);
  const auto* value = Known(observed);
  return value == nullptr ? std::nullopt : ParseNumber<int>(*value);
}

// "arp_ignore 0, arp_announce 0"; empty: the port answers for its own address alone, or its values
// are not known.
std::string DescribeMisleading(const PluginInput& input,
                               const std::map<std::string, std::string>& wanted,
                               const std::string& netdev) {
  std::vector<std::string> values;
  bool misleads = false;
  for (const ArpSetting& one : kArpSettings) {
    const auto port = FindValue(input, wanted, MakeInterfaceKey(netdev, one.leaf));
    const auto all = FindValue(input, wanted, MakeInterfaceKey("all", one.leaf));
    if (!port) return {};
    const int value = std::max(*port, all.value_or(0));  // which the kernel goes by
    misleads |= value < kLeastArp || value > kMostArp;
    values.push_back(fmt::format("{} {}", one.leaf, value));
  }
  return misleads ? Join(values, ", ") : "";
}

}  // namespace

bool IsArpManaged(const ClusterSpec& cluster) {
  const Value* arp = cluster.settings.At({"fabric", "arp"});
  const std::string* word = arp != nullptr ? arp->AsString() : nullptr;
  return word == nullptr || *word != "ignore";
}

std::map<std::string, std::string> ListArpValues(const std::vector<RailPort>& ports) {
  std::map<std::string, std::string> values;
  for (const RailPort& port : ports) {
    for (const ArpSetting& one : kArpSettings) {
      values[MakeInterfaceKey(port.netdev, one.leaf)] = one.value;
    }
  }
  return values;
}

std::set<std::string> ListArpKeys(const Fabric& fabric, const NodeName& node) {
  const auto ports = fabric.ports.find(node);
  if (ports == fabric.ports.end()) return {};
  std::vector<std::string> names = {"all"};
  for (const RailPort& port : ports->second) names.push_back(port.netdev);
  if (const auto unused = fabric.unused_netdevs.find(node); unused != fabric.unused_netdevs.end()) {
    names.insert(names.end(), unused->second.begin(), unused->second.end());
  }
  std::set<std::string> keys;
  for (const std::string& name : names) {
    for (const ArpSetting& one : kArpSettings) keys.insert(MakeInterfaceKey(name, one.leaf));
  }
  return keys;
}

FoundSetting FindArpSetting(const PluginInput& input) {
  FoundSetting found{.setting = "fabric.arp",
                     .is_complete = true,
                     .difference =
                         "the ARP settings of its ports are not all as they are managed; the "
                         "manifest sets them"};
  const auto ports = input.fabric.ports.find(input.node.name);
  if (ports == input.fabric.ports.end()) return found;
  const Observed<FileState> file = FindFile(input.facts, std::string(kOwnFile));
  const FileState* state = Known(file);
  const bool is_ours = state != nullptr && FindOwner(state->content).has_value();
  for (const auto& [key, value] : ListArpValues(ports->second)) {
    const bool is_set =
        is_ours && state->content.find(fmt::format("\n{} = ", key)) != std::string::npos;
    const Observed<std::string> observed = FindOrUnknown(input.facts.sysctl.keys, key);
    found.ours |= is_set;
    found.is_complete &= is_set && Known(observed) != nullptr && *Known(observed) == value;
  }
  return found;
}

std::vector<Diagnostic> FindMisleadingArp(const PluginInput& input,
                                          const std::map<std::string, std::string>& wanted) {
  const auto ports = input.fabric.ports.find(input.node.name);
  // One port alone has no other one's address to answer for.
  if (IsArpManaged(input.cluster) || ports == input.fabric.ports.end() ||
      ports->second.size() < 2) {
    return {};
  }
  std::map<std::string, std::vector<std::string>> found;  // values → ports that have them
  for (const RailPort& port : ports->second) {
    const std::string values = DescribeMisleading(input, wanted, port.netdev);
    if (!values.empty()) found[values].push_back(port.netdev);
  }
  if (found.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& [values, netdevs] : found) {
    parts.push_back(fmt::format("{} on {}", values, Join(netdevs, ", ")));
  }
  return {{.code = "sysctl-arp-ignored",
           .message = fmt::format("sysctl: fabric.arp is ignore, and a port may answer ARP for the "
                                  "address of another one of its node: found {}",
                                  Join(parts, "; ")),
           .next_step = "write arp: manage into the manifest, or set arp_ignore to 1 and "
                        "arp_announce to 2 on these ports",
           .where = input.cluster.Mark(input.cluster.settings.At({"fabric", "arp"})->position),
           .subject = "arp"}};
}

}  // namespace reconciler::plugins::sysctl
