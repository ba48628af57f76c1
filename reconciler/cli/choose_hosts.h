#pragma once

#include <string>
#include <vector>

#include "reconciler/base/result.h"

namespace reconciler::cli {

enum class HostSource { kMdns, kKnownHosts };

// Addresses of machines that may be nodes: those that announce ssh by mDNS on this machine's
// networks (DNS-SD's _ssh._tcp, as DGX OS does), or those in ~/.ssh/known_hosts. `pattern`: see
// ChooseHosts. Prints to stderr which were found and which are left out.
Result<std::vector<std::string>> FindHosts(HostSource source, const std::string& pattern);

}  // namespace reconciler::cli
