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
  Fact<std::vector<std::string>> fec;
  Fact<int> lanes;
  Fact<std::int64_t> rx_crc_errors;
  Fact<std::int64_t> link_down_events;
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
  std::string netdev;
  bool operator==(const RouteFact&) const = default;
};

template <std::same_as<RouteFact> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "route", "An IPv4 route.",
      Field{"destination", &T::destination, "Address with its prefix length."},
      Field{"netdev", &T::netdev, "Its interface; empty: it names none, or several."});
}

// A file of a service: the unit itself, a drop-in, or what it runs. Its text stays on the node.
struct BootFile {
  std::string path;
  std::string digest;
  std::vector<std::string> netdevs;
  bool configures = false;
  std::vector<std::string> also_runs;
  bool operator==(const BootFile&) const = default;
};

template <std::same_as<BootFile> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "boot_file", "A file of a service; its text is not read.",
      Field{"path", &T::path, "Where it is."}, Field{"digest", &T::digest, "Its SHA-256."},
      Field{"netdevs", &T::netdevs, "The node's interfaces that it names, sorted."},
      Field{"configures", &T::configures, "Whether it runs a program that configures interfaces."},
      Field{"also_runs", &T::also_runs,
            "Other programs that set what a restart loses (sysctl, modprobe), sorted.",
            FieldRule::kLeftOut});
}

struct BootService {
  std::string name;
  std::string active;
  bool linked = false;
  std::vector<std::string> wanted_by;
  std::vector<std::string> installs;
  std::vector<BootFile> files;
  bool operator==(const BootService&) const = default;
};

template <std::same_as<BootService> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "boot_service", "A service whose unit is in /etc/systemd/system.",
      Field{"name", &T::name, "Its unit's name."},
      Field{"active", &T::active, "As a unit's state; empty: not read."},
      Field{"linked", &T::linked, "Whether its unit is a symbolic link."},
      Field{"wanted_by", &T::wanted_by,
            "The folders that link to it (multi-user.target.wants), sorted; none: not enabled."},
      Field{"installs", &T::installs,
            "The folders that its [Install] section names, sorted; \"other\": it does more."},
      Field{"files", &T::files, "The unit, its drop-ins, and the scripts that it names."});
}

// A file in /etc that configures interfaces when something else runs or reads it: NetworkManager's
// dispatcher, udev. Its text stays on the node.
struct BootHook {
  std::string path;
  std::map<std::string, int> lines;
  bool operator==(const BootHook&) const = default;
};

template <std::same_as<BootHook> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "boot_hook", "A file in /etc that others run or read, and that configures interfaces.",
      Field{"path", &T::path, "Where it is."},
      Field{"lines", &T::lines, "By interface that it names: the number of the first such line."});
}

struct MasterFact {
  std::string kind;
  std::vector<std::string> options;
  std::string not_kept;
  bool operator==(const MasterFact&) const = default;
};

template <std::same_as<MasterFact> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "master", "An interface that has members.",
      Field{"kind", &T::kind, "bond, bridge, vrf, team."},
      Field{"options", &T::options,
            "Its settings that are not the kernel's usual ones, as `ip link add` takes them."},
      Field{"not_kept", &T::not_kept,
            "A setting that such words do not make; empty: there is none.", FieldRule::kLeftOut});
}

struct NetworkFacts {
  Fact<int> links;
  std::map<std::string, std::string> pci;
  std::map<std::string, PortFacts> ports;
  Fact<std::vector<std::string>> default_route;
  Fact<std::vector<RouteFact>> routes;
  Fact<std::vector<BootService>> boot_services;
  std::vector<BootHook> boot_hooks;
  std::map<std::string, MasterFact> masters;
  std::map<std::string, std::vector<std::string>> leases;
  std::map<std::string, std::vector<std::string>> by_hand;
  std::map<std::string, int> rp_filter;
  std::map<std::string, int> carrier_downs;
  std::string managers_unclear;
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
      Field{"routes", &T::routes, "The other routes; absent: there are none."},
      Field{"boot_services", &T::boot_services,
            "Services of /etc/systemd/system, by name; unknown: they could not be read."},
      Field{"boot_hooks", &T::boot_hooks,
            "Scripts of dispatchers, files of ifupdown and rules of udev in /etc that configure "
            "interfaces, by path; read with the services.",
            FieldRule::kLeftOut},
      Field{"masters", &T::masters, "Live bonds, bridges and the like, by interface.",
            FieldRule::kLeftOut},
      Field{"leases", &T::leases, "By interface: IPv4 addresses that it has for a limited time.",
            FieldRule::kLeftOut},
      Field{"by_hand", &T::by_hand,
            "By interface: IPv6 addresses that are neither temporary nor of the link alone, and "
            "routes of no daemon (`route 10.5.0.0/24`).",
            FieldRule::kLeftOut},
      Field{"rp_filter", &T::rp_filter,
            "By interface, and for `all`: 0 off, 1 strict, 2 loose; the greater one counts.",
            FieldRule::kLeftOut},
      Field{"carrier_downs", &T::carrier_downs,
            "By interface: how often it lost its carrier since it was made.", FieldRule::kLeftOut},
      Field{"managers_unclear", &T::managers_unclear,
            "Why a manager of none in `links` may be wrong; empty: it is not.",
            FieldRule::kLeftOut});
}

}  // namespace reconciler
