#include "plugins/netplan/adopt/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/yaml/yaml_document.h"

namespace reconciler::plugins::netplan {
namespace {

using Words = std::set<std::string>;

// As netplan reads them.
bool IsFalse(const Value* value) {
  return value != nullptr &&
         Words{"false", "no", "off", "n"}.contains(ToLower(value->ScalarText()));
}

bool HasWord(const Value* list, const std::string& word) {
  return list != nullptr && std::any_of(list->List().begin(), list->List().end(),
                                        [&](const Value& one) { return one.ScalarText() == word; });
}

// IPv6 unless the file says something else.
void AddLinkLocal(const Value& definition, std::vector<std::string>& lost) {
  const Value* link_local = definition.Find("link-local");
  if (HasWord(link_local, "ipv4")) lost.emplace_back("IPv4 link-local");
  const bool ipv6 = link_local == nullptr || HasWord(link_local, "ipv6");
  if (ipv6) lost.emplace_back("IPv6 link-local");
  const Value* accept = definition.Find("accept-ra");
  if (accept == nullptr ? ipv6 : !IsFalse(accept)) lost.emplace_back("router advertisements");
}

void AddAddresses(const Value& addresses, PortDefinition& port) {
  for (const Value& address : addresses.List()) {
    port.addresses.push_back(address.IsMap() && !address.Members().empty()
                                 ? address.Members().front().key
                                 : address.ScalarText());
    if (address.IsMap()) port.lost.emplace_back("options of addresses");
  }
}

// What names a port by anything but its name, or is of NetworkManager's own making.
std::string FindUnsupportedKey(const Member& definition) {
  for (const char* key : {"match", "set-name", "networkmanager"}) {
    if (definition.value.Find(key) != nullptr) {
      return fmt::format("'{}' of {}", key, MakePrintable(definition.key));
    }
  }
  return {};
}

void ReadPorts(const Value& ethernets, NetplanDefinitions& found) {
  for (const Member& definition : ethernets.Members()) {
    if (const std::string key = FindUnsupportedKey(definition); !key.empty()) {
      found.unsupported = key;
    }
    found.ports.push_back(ReadPort(definition));
  }
}

void ReadMasters(const Member& type, NetplanDefinitions& found) {
  for (const Member& definition : type.value.Members()) {
    MasterDefinition master{
        .name = definition.key, .type = type.key, .renderer = definition.value.GetText("renderer")};
    if (const Value* members = definition.value.Find("interfaces")) {
      for (const Value& one : members->List()) master.members.push_back(one.ScalarText());
    }
    if (definition.value.Find("openvswitch") != nullptr) {  // no interface of networkd's
      found.unsupported = fmt::format("'openvswitch' of {}", MakePrintable(definition.key));
    }
    found.masters.push_back(std::move(master));
  }
}

}  // namespace

PortDefinition ReadPort(const Member& definition) {
  static const Words kOurs = {"addresses", "mtu",        "optional", "dhcp4",    "dhcp6",
                              "accept-ra", "link-local", "match",    "set-name", "renderer"};
  PortDefinition port{.netdev = definition.key, .renderer = definition.value.GetText("renderer")};
  AddLinkLocal(definition.value, port.lost);
  for (const char* dhcp : {"dhcp4", "dhcp6"}) {
    const Value* value = definition.value.Find(dhcp);
    if (value != nullptr && !IsFalse(value)) port.lost.emplace_back(dhcp);
  }
  if (const Value* addresses = definition.value.Find("addresses")) AddAddresses(*addresses, port);
  if (const Value* mtu = definition.value.Find("mtu")) port.mtu = mtu->ScalarText();
  for (const Member& one : definition.value.Members()) {
    if (!kOurs.contains(one.key)) port.lost.push_back(one.key);
  }
  return port;
}

std::optional<NetplanDefinitions> ReadDefinitions(const std::string& content,
                                                  const std::string& path) {
  const Result<Value> document = ParseYaml(content, path);
  const Value* network = document ? document->Find("network") : nullptr;
  if (network == nullptr) return std::nullopt;
  NetplanDefinitions found{.renderer = network->GetText("renderer")};
  for (const Member& type : network->Members()) {
    if (type.key == "version" || type.key == "renderer") continue;
    if (type.key == "ethernets") {
      ReadPorts(type.value, found);
    } else if (type.key == "bonds" || type.key == "bridges") {
      ReadMasters(type, found);
    } else {
      found.unsupported = fmt::format("'{}'", MakePrintable(type.key));
    }
  }
  return found;
}

}  // namespace reconciler::plugins::netplan
