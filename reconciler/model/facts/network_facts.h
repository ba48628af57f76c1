#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reconciler/base/ipv4.h"
#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

struct PortFacts {
  Fact<std::vector<std::string>> fec = {};
  Fact<int> lanes = {};
  Fact<std::int64_t> rx_crc_errors = {};
  Fact<std::int64_t> link_down_events = {};
  bool operator==(const PortFacts&) const = default;
};

template <std::same_as<PortFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "port", "What ethtool reports about a port of the hardware profile.",
      Field{"fec", &T::fec, "Active FEC encodings, in ethtool's names: RS, BaseR, Off."},
      Field{"lanes", &T::lanes, "Lanes in use."},
      Field{"rx_crc_errors", &T::rx_crc_errors, "rx_crc_errors_phy since the driver was loaded."},
      Field{"link_down_events", &T::link_down_events,
            "link_down_events_phy since the driver was loaded."});
}

struct RouteFact {
  Ipv4Prefix destination = {};
  std::string netdev = {};
  bool operator==(const RouteFact&) const = default;
};

template <std::same_as<RouteFact> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "route", "An IPv4 route.",
      Field{"destination", &T::destination, "Address with its prefix length."},
      Field{"netdev", &T::netdev, "Its interface; empty: it names none, or several."});
}

struct NetworkFacts {
  Fact<int> links = {};
  std::map<std::string, std::string> pci = {};
  std::map<std::string, PortFacts> ports = {};
  Fact<std::vector<std::string>> default_route = {};
  Fact<std::vector<RouteFact>> routes = {};
  bool operator==(const NetworkFacts&) const = default;
};

template <std::same_as<NetworkFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "network", "What is read about interfaces besides `links`.",
      Field{"links", &T::links, "How many interfaces `ip` listed."},
      Field{"pci", &T::pci, "By PCI address: the interface of that function; empty: it has none.",
            FieldRule::kLeftOut},
      Field{"ports", &T::ports, "By interface.", FieldRule::kLeftOut},
      Field{"default_route", &T::default_route,
            "The interfaces that carry a default route, sorted; absent: there is no such route."},
      Field{"routes", &T::routes, "The other routes; absent: there are none."});
}

}  // namespace reconciler
