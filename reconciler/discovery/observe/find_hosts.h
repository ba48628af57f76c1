#pragma once

#include <string>

#include "reconciler/base/result.h"
#include "reconciler/discovery/hosts.h"

namespace reconciler {

// Machines that announce ssh by mDNS on this machine's networks (DNS-SD's _ssh._tcp, as DGX OS
// does), by the program avahi-browse.
Result<HostRecords> BrowseMdns();

// `path`: of a file of known_hosts.
Result<HostRecords> ReadKnownHosts(const std::string& path);

// The interface of this machine's default route. Empty: there is none.
std::string FindDefaultInterface();

}  // namespace reconciler
