#include "plugins/common/ports/ip.h"

#include <string>
#include <string_view>

#include "plugins/common/commands/in_place.h"
#include "plugins/common/ports/ip.sh.h"

namespace reconciler::plugins {

namespace {

// The list that `text` begins with. Takes it off there.
std::string TakeList(std::string& text) {
  const std::size_t end = text.find("\n[");
  std::string list = text.substr(0, end);
  text = end == std::string::npos ? "" : text.substr(end + 1);
  return list;
}

// Each route of such a list has its table, and no route of a list of one table has.
bool IsOfAllTables(std::string_view routes) {
  return routes.find("\"table\":") != std::string_view::npos;
}

}  // namespace

RunProbe MakeIpProbe() { return MakeInPlaceProbe(kIp, kIpSh, {}, kIpLimitS); }

std::optional<IpReply> FindIpReply(const ProbeReply& reply) {
  const auto found = reply.commands.find(kIp);
  if (found == reply.commands.end()) return std::nullopt;
  std::string rest = found->second.out;
  IpReply answer{.addresses = found->second, .routes = found->second, .ipv6_routes = found->second};
  answer.addresses.out = TakeList(rest);
  answer.routes.out = IsOfAllTables(rest.substr(0, rest.find("\n["))) ? "" : TakeList(rest);
  answer.ipv6_routes.out = TakeList(rest);
  return answer;
}

}  // namespace reconciler::plugins
