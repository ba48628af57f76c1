#include "plugins/nccl/leftovers/unknown_devices.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

bool IsInProfile(const PluginInput& input, std::string_view name) {
  const Hardware* hardware = input.cluster.FindHardware(input.node);
  if (hardware == nullptr) return false;
  return std::any_of(hardware->cages.begin(), hardware->cages.end(), [&](const Cage& cage) {
    return std::any_of(cage.twins.begin(), cage.twins.end(),
                       [&](const Twin& twin) { return twin.hca == name || twin.netdev == name; });
  });
}

// UCX adds the port ("rocep1s0f1:1") and knows the word "all"; Open MPI takes networks too.
bool IsKnown(const PluginInput& input, std::string_view entry) {
  if (entry.empty() || entry == "all" || entry.find_first_of("./$`") != std::string_view::npos) {
    return true;
  }
  const std::string name(entry.substr(0, entry.find(':')));
  return input.facts.links.contains(name) || input.facts.hcas.contains(name) ||
         IsInProfile(input, name);
}

}  // namespace

std::vector<std::string> ListUnknownDevices(const PluginInput& input, const std::string& list) {
  if (input.facts.links.empty()) return {};
  std::vector<std::string> unknown = Split(list, ',');
  std::erase_if(unknown, [&](const std::string& entry) { return IsKnown(input, Trim(entry)); });
  return unknown;
}

}  // namespace reconciler::plugins::nccl
