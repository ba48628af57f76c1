#include "reconciler/discovery/observe/find_hosts.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/transport/local_transport.h"
#include "reconciler/transport/text_file.h"

namespace reconciler {
namespace {

constexpr std::chrono::seconds kBrowseLimit{20};
constexpr int kNoProgram = 127;  // exit code of a shell

}  // namespace

Result<HostRecords> BrowseMdns() {
  NodeSpec here;
  here.name = "this machine";
  here.access.transport = TransportKind::kLocal;
  here.access.become = Become::kNone;
  auto transport = DialLocal(here);
  if (!transport) return Fail(std::move(transport).error());
  auto reply = RunScript(
      **transport, "exec avahi-browse --parsable --resolve --terminate _ssh._tcp", kBrowseLimit);
  if (!reply) return Fail(std::move(reply).error());
  if (reply->exit_code == kNoProgram) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = "avahi-browse: is not installed on this machine",
                 .hint = "install avahi-utils, or give the nodes' addresses"});
  }
  if (reply->exit_code != 0) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = fmt::format("avahi-browse: exit {}: {}", reply->exit_code,
                                        FindLastLine(reply->err)),
                 .hint = "check avahi-daemon on this machine, or give the nodes' addresses"});
  }
  return ParseMdns(reply->out);
}

Result<HostRecords> ReadKnownHosts(const std::string& path) {
  const auto text = ReadTextFile(path);
  if (!text) return Fail(text.error());
  return ParseKnownHosts(*text);
}

std::string FindDefaultInterface() {
  const auto routes = ReadTextFile("/proc/net/route");
  return routes ? ParseDefaultInterface(*routes) : "";
}

}  // namespace reconciler
