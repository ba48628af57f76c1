#include "plugins/facts/host/links.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "reconciler/base/json/text_member.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::host {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNetworkd = "/run/systemd/netif/links/";
constexpr std::string_view kNetworkManager = "/run/NetworkManager/devices/";

int ReadNumber(const Json& object, const char* key, int otherwise) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return otherwise;
  const auto number = found->get<std::uint64_t>();
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  return number <= most ? static_cast<int>(number) : otherwise;
}

bool HasFlag(const Json& link, std::string_view flag) {
  const auto flags = link.find("flags");
  if (flags == link.end() || !flags->is_array()) return false;
  return std::any_of(flags->begin(), flags->end(), [&](const Json& one) {
    return one.is_string() && one.get_ref<const std::string&>() == flag;
  });
}

void AddAddress(const Json& info, LinkFact& fact) {
  if (!info.is_object()) return;
  const std::string family = ReadTextMember(info, "family");
  const std::string text =
      ReadTextMember(info, "local") + "/" + std::to_string(ReadNumber(info, "prefixlen", -1));
  if (family == "inet") {
    if (const auto prefix = ParseIpv4Prefix(text)) fact.ipv4.push_back(*prefix);
  } else if (family == "inet6" && !ReadTextMember(info, "local").empty()) {
    fact.ipv6.push_back(text);
  }
}

std::vector<Json> ListAddresses(const Json& link, std::string_view family) {
  std::vector<Json> found;
  const auto addresses = link.find("addr_info");
  if (addresses == link.end() || !addresses->is_array()) return found;
  for (const Json& info : *addresses) {
    if (info.is_object() && ReadTextMember(info, "family") == family) found.push_back(info);
  }
  return found;
}

bool IsDynamic(const Json& info) {
  const auto dynamic = info.find("dynamic");
  return dynamic != info.end() && dynamic->is_boolean() && dynamic->get<bool>();
}

std::vector<std::string> ListLasting(const Json& link) {
  std::vector<std::string> lasting;
  for (const Json& info : ListAddresses(link, "inet6")) {
    const std::string address = ReadTextMember(info, "local");
    if (IsDynamic(info) || address.empty() || address.starts_with("fe80:")) continue;
    lasting.push_back(
        MakePrintable(fmt::format("{}/{}", address, ReadNumber(info, "prefixlen", -1))));
  }
  std::sort(lasting.begin(), lasting.end());
  return lasting;
}

// Addresses that someone renews, as a DHCP client does.
std::vector<std::string> ListLeases(const Json& link) {
  std::vector<std::string> leases;
  for (const Json& info : ListAddresses(link, "inet")) {
    if (!IsDynamic(info)) continue;
    if (const auto address = ParseIpv4(ReadTextMember(info, "local"))) {
      leases.push_back(ToString(*address));
    }
  }
  std::sort(leases.begin(), leases.end());
  return leases;
}

LinkFact ParseLink(const Json& link) {
  LinkFact fact;
  fact.mac = ReadTextMember(link, "address");
  fact.permanent_mac = ReadTextMember(link, "permaddr");  // only where it is another one
  fact.mtu = ReadNumber(link, "mtu", 0);
  fact.admin_up = HasFlag(link, "UP");
  fact.carrier = HasFlag(link, "LOWER_UP");
  fact.operstate = ReadTextMember(link, "operstate");
  fact.master = ReadTextMember(link, "master");
  fact.below = ReadTextMember(link, "link");
  if (const auto addresses = link.find("addr_info");
      addresses != link.end() && addresses->is_array()) {
    for (const Json& info : *addresses) AddAddress(info, fact);
  }
  std::sort(fact.ipv6.begin(), fact.ipv6.end());
  return fact;
}

// "/run/…/links/5:ADMIN_STATE=configured" → 5 and the rest, for a line below `folder`.
std::optional<int> ReadIndex(std::string_view& line, std::string_view folder) {
  if (!line.starts_with(folder)) return std::nullopt;
  std::string_view rest = line.substr(folder.size());
  const auto index = ConsumeNumber<int>(rest);
  if (!index || !rest.starts_with(':')) return std::nullopt;
  line = rest.substr(1);
  return index;
}

}  // namespace

std::optional<std::map<std::string, IndexedLink>> ParseIpAddr(std::string_view json) {
  const Json list = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return std::nullopt;
  std::map<std::string, IndexedLink> links;
  for (const Json& link : list) {
    if (!link.is_object()) continue;
    const std::string name = ReadTextMember(link, "ifname");
    if (!name.empty())
      links[name] = {ReadNumber(link, "ifindex", 0), ParseLink(link), ListLeases(link),
                     ListLasting(link)};
  }
  return links;
}

std::map<int, LinkManager> ParseManagers(std::string_view lines) {
  std::set<int> unmanaged;
  std::set<int> with_file;
  std::map<int, LinkManager> managers;
  for (const std::string& one : SplitLines(lines)) {
    std::string_view line = one;
    if (const auto link = ReadIndex(line, kNetworkd)) {
      if (line == "ADMIN_STATE=unmanaged") unmanaged.insert(*link);
      if (line.starts_with("NETWORK_FILE=/")) with_file.insert(*link);
    } else if (const auto device = ReadIndex(line, kNetworkManager)) {
      if (line == "managed=true") managers[*device] = LinkManager::kNetworkManager;
    }
  }
  for (const int index : with_file) {
    if (!unmanaged.contains(index)) managers[index] = LinkManager::kNetworkd;
  }
  return managers;
}

}  // namespace reconciler::plugins::host
