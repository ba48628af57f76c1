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

std::string BuildScript(const std::vector<CagePort>& ports, const std::string& script) {
  std::vector<std::string> netdevs;
  for (const CagePort& port : ports) netdevs.push_back(port.netdev);
  return AssignForShell({{"PORTS", Join(netdevs, " ")}}) + std::string(kCablingSh) + script;
}

}  // namespace

std::string BuildObserveScript(const std::vector<CagePort>& ports, std::chrono::seconds lifetime) {
  return AssignForShell({{"LIFETIME", std::to_string(lifetime.count())}}) +
         BuildScript(
             ports, std::string(kAddAddressesSh) + std::string(kDiscoverSh) + std::string(kLldpSh));
}

std::string BuildDiscoverScript(const std::vector<CagePort>& ports) {
  return BuildScript(ports, std::string(kDiscoverSh));
}

std::string BuildRemoveAddressesScript(const std::vector<CagePort>& ports) {
  return BuildScript(ports, std::string(kRemoveAddressesSh));
}

}  // namespace reconciler
