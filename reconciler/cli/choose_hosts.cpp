#include "reconciler/cli/choose_hosts.h"

#include <fmt/format.h>

#include <iostream>

#include "reconciler/base/text.h"
#include "reconciler/discovery/observe/find_hosts.h"
#include "reconciler/transport/ssh/config.h"

namespace reconciler::cli {
namespace {

Result<HostRecords> ReadOwnKnownHosts() {
  auto found = ReadKnownHosts(FindHomeDirectory() + "/.ssh/known_hosts");
  if (found && found->hashed > 0) {
    std::cerr << fmt::format("known_hosts: {} (HashKnownHosts): their names cannot be read\n",
                             FormatPlural(found->hashed, "hashed line", "hashed lines"));
  }
  return found;
}

}  // namespace

Result<std::vector<std::string>> FindHosts(HostSource source, const std::string& pattern) {
  const bool is_mdns = source == HostSource::kMdns;
  const auto found = is_mdns ? BrowseMdns() : ReadOwnKnownHosts();
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
