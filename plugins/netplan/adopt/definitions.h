#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/value.h"

namespace reconciler::plugins::netplan {

// What a netplan file says of one port. All texts are the file's.
struct PortDefinition {
  std::string netdev = {};
  std::vector<std::string> addresses = {};
  std::string mtu = "1500";
  std::string renderer = {};           // empty: it says none
  bool ipv4_link_local = false;        // and our file has it too
  std::vector<std::string> lost = {};  // what our file does not say: "IPv6 link-local", "routes"
};

// A bond or bridge, whose generated files are networkd's.
struct MasterDefinition {
  std::string name = {};
  std::string type = {};                  // "bonds"
  std::vector<std::string> members = {};  // also those that are no ports
  std::string renderer = {};              // empty: it says none
};

struct NetplanDefinitions {
  std::string renderer = {};  // of interfaces without one of their own, of all files
  std::vector<PortDefinition> ports = {};
  std::vector<MasterDefinition> masters = {};
  std::string unsupported = {};  // not empty: what is no plain definition of a port: "vlans"
};

// Of one definition below `ethernets`.
PortDefinition ReadPort(const Member& definition);

// nullopt: it is no netplan file.
std::optional<NetplanDefinitions> ReadDefinitions(const std::string& content,
                                                  const std::string& path);

}  // namespace reconciler::plugins::netplan
