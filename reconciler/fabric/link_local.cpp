#include "reconciler/fabric/link_local.h"

namespace reconciler {

bool IsLinkLocal(const Ipv4Prefix& address) { return kLinkLocalSubnet.Contains(address.address); }

bool IsLinkLocal(const RailPort& port) { return IsLinkLocal(port.address); }

bool IsLinkLocal(const Segment& segment) { return IsLinkLocal(segment.subnet); }

const Value* FindLinkLocal(const ClusterSpec& cluster) {
  const Value* link_local = cluster.settings.At({"fabric", "link_local"});
  const bool* flag = link_local != nullptr ? link_local->AsBool() : nullptr;
  return flag != nullptr && *flag ? link_local : nullptr;
}

bool Accepts(const RailPort& port, const Ipv4Prefix& found) {
  return IsLinkLocal(port) ? IsLinkLocal(found) : found == port.address;
}

bool HasAddress(const RailPort& port) { return port.address != kLinkLocalSubnet; }

std::string FormatPortAddress(const RailPort& port) {
  return IsLinkLocal(port) ? "link-local" : ToString(port.address);
}

}  // namespace reconciler
