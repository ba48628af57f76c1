#include "reconciler/cli/find_hosts.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/discovery/hosts.h"
#include "reconciler/transport/local_transport.h"
#include "reconciler/transport/ssh/config.h"
#include "reconciler/transport/text_file.h"

namespace reconciler::cli {
namespace {

constexpr std::chrono::seconds kBrowseLimit{20};
constexpr int kNoProgram = 127;  // exit code of a shell

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

// The interface of this machine's default route, from /proc/net/route: lines of "INTERFACE
// DESTINATION GATEWAY …", the addresses in hexadecimal. Empty: there is none.
std::string FindDefaultInterface() {
  const auto routes = ReadTextFile("/proc/net/route");
  if (!routes) return {};
  for (const std::string& line : SplitLines(*routes)) {
    const std::vector<std::string> fields = Split(line, '\t');
    if (fields.size() > 1 && fields[1] == "00000000") return fields[0];
  }
  return {};
}

Result<HostRecords> ReadKnownHosts() {
  const auto text = ReadTextFile(FindHomeDirectory() + "/.ssh/known_hosts");
  if (!text) return Fail(text.error());
  HostRecords found = ParseKnownHosts(*text);
  if (found.hashed > 0) {
    std::cerr << fmt::format("known_hosts: {} (HashKnownHosts): their names cannot be read\n",
                             FormatPlural(found.hashed, "hashed line", "hashed lines"));
  }
  return found;
}

}  // namespace

Result<std::vector<std::string>> FindHosts(HostSource source, const std::string& pattern) {
  const bool is_mdns = source == HostSource::kMdns;
  const auto found = is_mdns ? BrowseMdns() : ReadKnownHosts();
  if (!found) return Fail(found.error());
  const FoundHosts hosts = ChooseHosts(*found, pattern, FindDefaultInterface());
  const std::string_view where = is_mdns ? "by mDNS" : "in known_hosts";
  if (!hosts.left_out.empty()) {
    std::cerr << fmt::format("left out, as nothing of them matches '{}' (see --match):\n{}",
                             pattern, FormatHosts(hosts.left_out));
  }
  if (hosts.chosen.size() < 2) {
    return Fail({.kind = ErrorKind::kUsage,
                 .message = fmt::format("wanted 2 machines or more that match '{}', found {} {}",
                                        pattern, hosts.chosen.size(), where),
                 .hint = "give another --match, or the nodes' addresses"});
  }
  std::cerr << fmt::format("found {}:\n{}", where, FormatHosts(hosts.chosen));
  std::vector<std::string> addresses;
  for (const FoundHost& host : hosts.chosen) addresses.push_back(host.address);
  return addresses;
}

}  // namespace reconciler::cli
