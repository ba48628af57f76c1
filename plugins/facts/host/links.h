#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::host {

struct IndexedLink {
  int index = 0;  // ifindex
  LinkFact fact = {};
  std::vector<std::string> leases = {};   // IPv4 addresses that `ip` shows as dynamic, sorted
  std::vector<std::string> lasting = {};  // IPv6 prefixes, not dynamic and not fe80, sorted
};

// What `ip -d -j addr show` printed, by name. A key that is missing or of another type keeps the
// default of LinkFact (mtu 0: not known), an entry without a name is left out; nullopt when the
// text is no JSON list at all.
std::optional<std::map<std::string, IndexedLink>> ParseIpAddr(std::string_view json);

// Who manages which ifindex, from "PATH:KEY=VALUE" lines of the state files of systemd-networkd
// (/run/systemd/netif/links/N) and NetworkManager (/run/NetworkManager/devices/N). Where both say
// so it is networkd: NetworkManager's files outlive it.
std::map<int, LinkManager> ParseManagers(std::string_view lines);

}  // namespace reconciler::plugins::host
