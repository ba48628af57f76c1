#pragma once

#include <string_view>

namespace reconciler {

// Two ports of one machine can meet on one switch, and in one cable. By default Linux answers ARP
// for any of its addresses on any port, so that the traffic of both rails ends up on one of them.
// These settings, of each port below net.ipv4.conf, make it answer for its own address alone.
struct ArpSetting {
  std::string_view leaf = {};
  std::string_view value = {};
};

inline constexpr ArpSetting kArpSettings[] = {{"arp_ignore", "1"}, {"arp_announce", "2"}};

// Values of either with which a port does so.
inline constexpr int kLeastArp = 1;
inline constexpr int kMostArp = 2;

}  // namespace reconciler
