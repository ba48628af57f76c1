#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"
#include "reconciler/model/ipv4.h"

namespace reconciler {

struct PortFacts {
  Fact<std::vector<std::string>> fec = {};
  Fact<int> lanes = {};
  Fact<std::int64_t> rx_crc_errors = {};
  Fact<std::int64_t> link_down_events = {};
  bool operator==(const PortFacts&) const = default;
};

constexpr auto Describe(const PortFacts*) {
  return MakeDescription(
      "port", "What ethtool reports about a port of the hardware profile.",
      Field{"fec", &PortFacts::fec, "Active FEC encodings, in ethtool's names: RS, BaseR, Off."},
      Field{"lanes", &PortFacts::lanes, "Lanes in use."},
      Field{"rx_crc_errors", &PortFacts::rx_crc_errors,
            "rx_crc_errors_phy since the driver was loaded."},
      Field{"link_down_events", &PortFacts::link_down_events,
            "link_down_events_phy since the driver was loaded."});
}

struct RouteFact {
  Ipv4Prefix destination = {};
  std::string netdev = {};
  bool operator==(const RouteFact&) const = default;
};

constexpr auto Describe(const RouteFact*) {
  return MakeDescription(
      "route", "An IPv4 route.",
      Field{"destination", &RouteFact::destination, "Address with its prefix length."},
      Field{"netdev", &RouteFact::netdev, "Its interface; empty: it names none, or several."});
}

struct NetworkFacts {
  Fact<int> links = {};
  std::map<std::string, std::string> pci = {};
  std::map<std::string, PortFacts> ports = {};
  Fact<std::vector<std::string>> default_route = {};
  Fact<std::vector<RouteFact>> routes = {};
  bool operator==(const NetworkFacts&) const = default;
};

constexpr auto Describe(const NetworkFacts*) {
  return MakeDescription(
      "network", "What is read about interfaces besides `links`.",
      Field{"links", &NetworkFacts::links, "How many interfaces `ip` listed."},
      Field{"pci", &NetworkFacts::pci,
            "By PCI address: the interface of that function; empty: it has none.",
            FieldRule::kLeftOut},
      Field{"ports", &NetworkFacts::ports, "By interface.", FieldRule::kLeftOut},
      Field{"default_route", &NetworkFacts::default_route,
            "The interfaces that carry a default route, sorted; absent: there is no such route."},
      Field{"routes", &NetworkFacts::routes, "The other routes; absent: there are none."});
}

}  // namespace reconciler
