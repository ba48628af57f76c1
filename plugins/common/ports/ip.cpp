#include "plugins/common/ports/ip.h"

#include "plugins/common/commands/in_place.h"
#include "plugins/common/ports/ip.sh.h"

namespace reconciler::plugins {

RunProbe MakeIpProbe() { return MakeInPlaceProbe(kIp, kIpSh, {}, kIpLimitS); }

std::optional<IpReply> FindIpReply(const ProbeReply& reply) {
  const auto found = reply.commands.find(kIp);
  if (found == reply.commands.end()) return std::nullopt;
  IpReply answer{.addresses = found->second, .routes = found->second};
  const std::size_t end = found->second.out.find("\n[");  // of the first list
  answer.addresses.out = found->second.out.substr(0, end);
  answer.routes.out = end == std::string::npos ? "" : found->second.out.substr(end + 1);
  return answer;
}

}  // namespace reconciler::plugins
