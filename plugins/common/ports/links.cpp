#include "plugins/common/ports/links.h"

#include <fmt/format.h>

namespace reconciler::plugins {

std::vector<std::string> ListLinkIds(const std::vector<RailPort>& ports) {
  std::vector<std::string> ids;
  for (const RailPort& port : ports) {
    ids.push_back(fmt::format("{}/{}/{}", port.node, kLinkKind, port.netdev));
  }
  return ids;
}

std::vector<std::string> ListLinkIds(const Fabric& fabric, const NodeName& node) {
  const auto ports = fabric.ports.find(node);
  return ports == fabric.ports.end() ? std::vector<std::string>() : ListLinkIds(ports->second);
}

}  // namespace reconciler::plugins
