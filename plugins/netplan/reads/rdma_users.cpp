#include "plugins/netplan/reads/rdma_users.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "plugins/common/commands/failure.h"
#include "plugins/common/commands/in_place.h"
#include "plugins/netplan/reads/rdma_users.sh.h"
#include "reconciler/base/json/text_member.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr const char* kUsers = "netplan.rdma_users";
constexpr std::string_view kDevices = "/sys/class/infiniband/";
constexpr std::string_view kNetdev = "/ports/1/gid_attrs/ndevs/0";
constexpr std::string_view kNetdevs = "/sys/class/infiniband/*/ports/1/gid_attrs/ndevs/0";

using Json = nlohmann::json;

// HCA → netdev, of every device that there is. Other plugins read other files below that folder.
std::map<std::string, std::string> ListDevices(const ProbeReply& reply) {
  std::map<std::string, std::string> devices;
  for (const auto& [path, value] : reply.values) {
    if (!path.starts_with(kDevices) || !path.ends_with(kNetdev)) continue;
    const std::string rest = path.substr(kDevices.size());
    const std::string* netdev = Known(value);
    devices[rest.substr(0, rest.find('/'))] = netdev == nullptr ? "" : *netdev;
  }
  return devices;
}

// A number, or a string of digits.
std::optional<std::int64_t> ReadPid(const Json& pair) {
  const auto found = pair.find("pid");
  if (found == pair.end()) return std::nullopt;
  return ParseNumber<std::int64_t>(found->is_number() ? found->dump()
                                                      : ReadTextMember(pair, "pid"));
}

// A program may call itself anything, and its name stands between others in a sentence.
std::string TakeFirstWord(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 127; }, '_');
  return text;
}

std::string_view OrDash(std::string_view text) { return text.empty() ? "-" : text; }

}  // namespace

std::vector<Read> ListRdmaReads() {
  return {ReadValues{std::string(kNetdevs)}, MakeInPlaceProbe(kUsers, kRdmaUsersSh)};
}

Observed<std::vector<RdmaUser>> ParseRdmaUsers(const ProbeReply& reply) {
  const std::map<std::string, std::string> devices = ListDevices(reply);
  const auto found = reply.commands.find(kUsers);
  if (found == reply.commands.end() || devices.empty()) return Absent{};
  const CommandReply& command = found->second;
  if (command.exit_code != 0) return ExplainFailure(command, "rdma resource");
  const Json list = Json::parse(command.out, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return Unknown{"rdma printed something other than JSON"};
  std::set<RdmaUser> users;
  for (const Json& pair : list) {
    if (!pair.is_object()) continue;
    const std::string type = ReadTextMember(pair, "type");
    if (type == "GSI" || type == "SMI") continue;
    const std::string hca = ReadTextMember(pair, "ifname");
    const auto device = devices.find(hca);
    const auto pid = ReadPid(pair);
    users.insert({.hca = TakeFirstWord(hca),
                  .netdev = device == devices.end() ? "" : TakeFirstWord(device->second),
                  .program = TakeFirstWord(ReadTextMember(pair, "comm")),
                  .pid = pid && *pid > 0 ? *pid : 0});
  }
  if (users.empty()) return Absent{};
  return std::vector<RdmaUser>(users.begin(), users.end());
}

std::string ListCutOff(const NodeFacts& facts, const std::vector<RailPort>& ports) {
  const Fact<std::vector<RdmaUser>>& fact = facts.rdma.users;
  if (const Unknown* unknown = FindUnknown(fact)) {
    return "whatever uses RDMA there, which is unknown: " + unknown->why;
  }
  const auto* known = Known(fact);
  if (known == nullptr) return {};
  std::set<std::string> users;
  for (const RdmaUser& user : *known) {
    const bool on_port = std::any_of(ports.begin(), ports.end(), [&](const RailPort& port) {
      return port.netdev == user.netdev || (user.netdev.empty() && port.hca == user.hca);
    });
    if (!on_port) continue;
    const std::string pid = user.pid == 0 ? "" : fmt::format("{}", user.pid);
    users.insert(
        fmt::format("{} (pid {}) on {}", OrDash(user.program), OrDash(pid), OrDash(user.hca)));
  }
  if (users.empty()) return {};
  return "the RDMA connections of " + Join({users.begin(), users.end()}, ", ");
}

}  // namespace reconciler::plugins::netplan
