#include "plugins/netplan/missing_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "plugins/common/ports/unclear_port.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

// Where the functions of ports without a netdev of their name are; empty when they are gone, as
// without a cable.
std::string ExplainFunctions(const PluginInput& input, const Intent& intent) {
  const Hardware* hardware = input.cluster.FindHardware(input.node);
  std::vector<std::string> places;
  for (const RailPort& port : intent.ports) {
    const Cage* cage = hardware != nullptr ? hardware->FindCage(port.cage) : nullptr;
    if (cage == nullptr || static_cast<std::size_t>(port.twin) >= cage->twins.size()) continue;
    const std::string& pci = cage->twins[static_cast<std::size_t>(port.twin)].pci;
    const auto found = input.facts.network.pci.find(pci);
    if (found == input.facts.network.pci.end()) continue;
    const std::string& netdev = found->second;
    places.push_back(netdev.empty() ? fmt::format("its PCI function {} has no driver", pci)
                                    : fmt::format("its PCI function {} is {}", pci, netdev));
  }
  return Join(places, ", ");
}

// The node's ports by what their driver calls their cages, as the manifest's `hardware` has them:
// "p0: [{netdev: enp3s0f0np0, hca: mlx5_0, pci: 0000:03:00.0}]". Empty: no driver names a cage.
std::string FormatCages(const NodeFacts& facts) {
  std::map<std::string, std::vector<std::string>> cages;
  for (const auto& function : facts.network.pci) {
    const std::string& netdev = function.second;
    const auto link = facts.links.find(netdev);
    if (link == facts.links.end()) continue;
    const std::string& cage = link->second.phys_port_name;
    if (cage != "p0" && cage != "p1") continue;
    const auto hca = std::find_if(facts.hcas.begin(), facts.hcas.end(),
                                  [&](const auto& one) { return one.second.netdev == netdev; });
    if (hca == facts.hcas.end()) continue;
    cages[cage].push_back(
        fmt::format("{{netdev: {}, hca: {}, pci: {}}}", netdev, hca->first, function.first));
  }
  std::vector<std::string> texts;
  for (const auto& [cage, functions] : cages) {
    texts.push_back(fmt::format("{}: [{}]", cage, Join(functions, ", ")));
  }
  return Join(texts, ", ");
}

std::string ExplainNoPorts(const PluginInput& input, const Intent& intent) {
  std::vector<std::string> missing;
  for (const RailPort& port : intent.ports) missing.push_back(port.netdev);
  if (const std::string elsewhere = ExplainFunctions(input, intent); !elsewhere.empty()) {
    return fmt::format("this node has no {}: {}: describe it in hardware of the manifest",
                       Join(missing, " and no "), elsewhere);
  }
  if (const std::string cages = FormatCages(input.facts); !cages.empty()) {
    return fmt::format(
        "this node has no {}: its ports have other names: write `cages: {{{}}}` for "
        "its hardware in the manifest",
        Join(missing, " and no "), cages);
  }
  return fmt::format(
      "this node has no {}: plug the cable in (ports without one may be powered down), or name "
      "another cage in the manifest",
      Join(missing, " and no "));
}

}  // namespace

// What the links say one by one must hold for the file as well: activating any of them needs it.
Obstacle FindNoPorts(const PluginInput& input, const Intent& intent) {
  const Hardware* profile = input.cluster.FindHardware(input.node);
  Obstacle unclear;
  for (const RailPort& port : intent.ports) {
    if (FindLink(input, port.netdev) != nullptr) return {};
    if (unclear.empty()) unclear = FindUnclearPort(profile, input.facts, port.netdev);
  }
  if (!unclear.empty()) return unclear;
  return {.code = "netplan-port-missing", .why = ExplainNoPorts(input, intent)};
}

Obstacle ExplainMissingPort(const PluginInput& input, const std::string& netdev) {
  Obstacle unclear = FindUnclearPort(input.cluster.FindHardware(input.node), input.facts, netdev);
  if (!unclear.empty()) return unclear;
  return {.code = "netplan-port-missing", .why = "this node has no such interface"};
}

}  // namespace reconciler::plugins::netplan
