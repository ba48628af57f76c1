#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/resource.h"
#include "reconciler/model/value.h"

namespace reconciler::plugins::netplan {

// What a netplan file says of one port. All texts are the file's.
struct PortDefinition {
  std::string netdev = {};
  std::vector<std::string> addresses = {};
  std::string mtu = "1500";
  std::string renderer = {};           // its own, else its device type's; empty: neither says one
  std::string renderer_of = {};        // whose key that is: the port's, or "ethernets"
  bool is_plain = true;                // see NetplanDefinitions::unsupported
  bool ipv4_link_local = false;        // and our file has it too
  std::vector<std::string> lost = {};  // what our file does not say: "IPv6 link-local", "routes"
};

// A bond or bridge, whose generated files are networkd's.
struct MasterDefinition {
  std::string name = {};
  std::string type = {};                  // "bonds"
  std::vector<std::string> members = {};  // also those that are no ports
  std::string renderer = {};              // as a port's
};

struct NetplanDefinitions {
  std::string renderer = {};  // of interfaces without one of their own, of all files
  std::vector<PortDefinition> ports = {};
  std::vector<MasterDefinition> masters = {};
  std::string unsupported = {};  // not empty: what is no plain definition of a port: "'vlans'"
};

// `renderer` below a device type: no interface, but the renderer of those behind it that say none.
// Another file's do not get it.
bool IsRendererOfType(const Member& member);

// Our file has IPv4 addresses only: names the others in `lost`, but those of the link alone.
void AddLostIpv6(PortDefinition& port);

// Of one definition below `ethernets`.
PortDefinition ReadPort(const Member& definition);

// nullopt: it is no netplan file.
std::optional<NetplanDefinitions> ReadDefinitions(const std::string& content,
                                                  const std::string& path);

}  // namespace reconciler::plugins::netplan
