#include "plugins/common/ports/unclear_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/fabric/found/locate_ports.h"

namespace reconciler::plugins {
namespace {

// "p0: [{netdev: enp3s0f0np0, hca: mlx5_0, pci: 0000:03:00.0}]"
std::string FormatEntry(const std::string& cage, const Twin& port) {
  return fmt::format("{}: [{{netdev: {}, hca: {}, pci: {}}}]", cage, port.netdev,
                     port.hca.empty() ? "NAME" : port.hca, port.pci);
}

std::string ExplainUnclear(const UnclearPorts& ports) {
  std::vector<std::string> missing;
  std::vector<std::string> candidates;
  for (const Twin& port : ports.missing) missing.push_back(port.netdev);
  for (const Twin& port : ports.candidates) {
    candidates.push_back(fmt::format("{} ({})", port.netdev, port.pci));
  }
  return fmt::format(
      "cannot determine which {} {}: of driver mlx5_core and port {} this node has {}: name the "
      "port in its hardware profile, such as `{}`",
      missing.size() == 1 ? "interface is" : "interfaces are", Join(missing, " and "), ports.cage,
      Join(candidates, ", "), FormatEntry(ports.cage, ports.candidates.front()));
}

}  // namespace

Obstacle FindUnclearPort(const Hardware* profile, const NodeFacts& facts,
                         const std::string& netdev) {
  if (profile == nullptr) return {};
  for (const UnclearPorts& ports : LocatePorts(*profile, facts).unclear) {
    if (std::any_of(ports.missing.begin(), ports.missing.end(),
                    [&](const Twin& port) { return port.netdev == netdev; })) {
      return {.code = "plan-port-unclear", .why = ExplainUnclear(ports)};
    }
  }
  return {};
}

}  // namespace reconciler::plugins
