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
  if (ipv6) lost.emplace_back(kIpv6LinkLocal);
  const Value* accept = definition.Find("accept-ra");
  if (accept == nullptr ? ipv6 : !IsFalse(accept)) lost.emplace_back(kRouterAdvertisements);
}

void AddAddresses(const Value& addresses, PortDefinition& port) {
  for (const Value& address : addresses.List()) {
    port.addresses.push_back(address.IsMap() && !address.Members().empty()
                                 ? address.Members().front().key
                                 : address.ScalarText());
    if (address.IsMap()) port.lost.emplace_back("options of addresses");
  }
}

// fe80::/10. Our file says by `link-local` whether a port has such an address.
bool IsOfTheLinkAlone(const std::string& address) {
  const std::string text = ToLower(address);
  return text.starts_with("fe") && text.find_first_of("89ab", 2) == 2;
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

void AddUnsupported(const std::string& what, NetplanDefinitions& found) {
  found.unsupported += (found.unsupported.empty() ? "" : ", ") + what;
}

void ReadPorts(const Member& type, NetplanDefinitions& found) {
  std::string of_type;
  for (const Member& definition : type.value.Members()) {
    if (IsRendererOfType(definition)) {
      of_type = definition.value.ScalarText();
      continue;
    }
    PortDefinition port = ReadPort(definition);
    if (port.renderer.empty() && !of_type.empty()) {
      port.renderer = of_type;
      port.renderer_of = type.key;
    }
    if (const std::string key = FindUnsupportedKey(definition); !key.empty()) {
      AddUnsupported(key, found);
      port.is_plain = false;
    }
    found.ports.push_back(std::move(port));
  }
}

void ReadMasters(const Member& type, NetplanDefinitions& found) {
  std::string of_type;
  for (const Member& definition : type.value.Members()) {
    if (IsRendererOfType(definition)) {
      of_type = definition.value.ScalarText();
      continue;
    }
    MasterDefinition master{
        .name = definition.key, .type = type.key, .renderer = definition.value.GetText("renderer")};
    if (master.renderer.empty()) master.renderer = of_type;
    if (const Value* members = definition.value.Find("interfaces")) {
      for (const Value& one : members->List()) master.members.push_back(one.ScalarText());
    }
    if (definition.value.Find("openvswitch") != nullptr) {  // no interface of networkd's
      AddUnsupported(fmt::format("'openvswitch' of {}", MakePrintable(definition.key)), found);
    }
    found.masters.push_back(std::move(master));
  }
}

}  // namespace

bool IsRendererOfType(const Member& member) {
  return member.key == "renderer" && !member.value.IsMap();
}

void AddLostIpv6(PortDefinition& port) {
  for (const std::string& address : port.addresses) {
    const bool is_ipv6 = address.find(':') != std::string::npos;
    if (is_ipv6 && !IsOfTheLinkAlone(address)) port.lost.push_back(MakePrintable(address));
  }
}

PortDefinition ReadPort(const Member& definition) {
  static const Words kOurs = {"addresses", "mtu",        "optional", "dhcp4",    "dhcp6",
                              "accept-ra", "link-local", "match",    "set-name", "renderer"};
  PortDefinition port{.netdev = definition.key, .renderer = definition.value.GetText("renderer")};
  if (!port.renderer.empty()) port.renderer_of = port.netdev;
  AddLinkLocal(definition.value, port.lost);
  for (const char* dhcp : {"dhcp4", "dhcp6"}) {
    const Value* value = definition.value.Find(dhcp);
    if (value != nullptr && !IsFalse(value)) port.lost.emplace_back(dhcp);
  }
  if (const Value* addresses = definition.value.Find("addresses")) AddAddresses(*addresses, port);
  AddLostIpv6(port);
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
      ReadPorts(type, found);
    } else if (type.key == "bonds" || type.key == "bridges") {
      ReadMasters(type, found);
    } else {
      AddUnsupported(fmt::format("'{}'", MakePrintable(type.key)), found);
    }
  }
  return found;
}

}  // namespace reconciler::plugins::netplan
