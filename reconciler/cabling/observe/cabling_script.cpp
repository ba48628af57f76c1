#include "reconciler/cabling/observe/cabling_script.h"

#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/cabling/observe/add_addresses.sh.h"
#include "reconciler/cabling/observe/cabling.sh.h"
#include "reconciler/cabling/observe/discover.sh.h"
#include "reconciler/cabling/observe/lldp.sh.h"
#include "reconciler/cabling/observe/remove_addresses.sh.h"

namespace reconciler {
namespace {

std::string BuildScript(const std::vector<CagePort>& ports, std::string_view script) {
  std::vector<std::string> netdevs;
  for (const CagePort& port : ports) netdevs.push_back(port.netdev);
  return AssignForShell({{"PORTS", Join(netdevs, " ")}}) + std::string(kCablingSh) +
         std::string(script);
}

}  // namespace

std::string BuildAddAddressesScript(const std::vector<CagePort>& ports,
                                    std::chrono::seconds lifetime) {
  return AssignForShell({{"LIFETIME", std::to_string(lifetime.count())}}) +
         BuildScript(ports, kAddAddressesSh);
}

std::string BuildDiscoverScript(const std::vector<CagePort>& ports) {
  return BuildScript(ports, kDiscoverSh);
}

std::string BuildLldpScript() { return std::string(kCablingSh) + std::string(kLldpSh); }

std::string BuildRemoveAddressesScript(const std::vector<CagePort>& ports) {
  return BuildScript(ports, kRemoveAddressesSh);
}

}  // namespace reconciler
