#include "plugins/netplan/reads/masters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "plugins/common/commands/failure.h"
#include "plugins/common/ports/ip.h"
#include "reconciler/base/json/text_member.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestOption = 255;

// A setting as `ip -d -j addr show` prints it, the word of `ip link add` for it, and the value that
// the kernel gives a new interface; that one is left out, since some are errors with some modes.
struct Option {
  const char* key = nullptr;
  const char* word = nullptr;  // nullptr: nothing makes it again
  std::string_view usual = {};
};

// Times in hundredths of a second.
constexpr Option kBridgeOptions[] = {{"forward_delay", "forward_delay", "1500"},
                                     {"hello_time", "hello_time", "200"},
                                     {"max_age", "max_age", "2000"},
                                     {"ageing_time", "ageing_time", "30000"},
                                     {"stp_state", "stp_state", "0"},
                                     {"priority", "priority", "32768"},
                                     {"group_fwd_mask", "group_fwd_mask", "0"},
                                     {"mcast_snooping", "mcast_snooping", "1"},
                                     {"mcast_router", "mcast_router", "1"},
                                     {"mcast_querier", "mcast_querier", "0"},
                                     {"nf_call_iptables", "nf_call_iptables", "0"},
                                     {"nf_call_ip6tables", "nf_call_ip6tables", "0"},
                                     {"nf_call_arptables", "nf_call_arptables", "0"},
                                     {"vlan_filtering", nullptr, "0"}};  // with VLANs of its ports

// Times in milliseconds.
constexpr Option kBondOptions[] = {{"mode", "mode", ""},
                                   {"miimon", "miimon", "0"},
                                   {"updelay", "updelay", "0"},
                                   {"downdelay", "downdelay", "0"},
                                   {"peer_notify_delay", "peer_notify_delay", "0"},
                                   {"use_carrier", "use_carrier", "1"},
                                   {"arp_interval", "arp_interval", "0"},
                                   {"arp_ip_target", "arp_ip_target", ""},
                                   {"arp_validate", "arp_validate", "none"},
                                   {"arp_all_targets", "arp_all_targets", "any"},
                                   {"primary", "primary", ""},
                                   {"primary_reselect", "primary_reselect", "always"},
                                   {"fail_over_mac", "fail_over_mac", "none"},
                                   {"xmit_hash_policy", "xmit_hash_policy", "layer2"},
                                   {"resend_igmp", "resend_igmp", "1"},
                                   {"num_peer_notif", "num_grat_arp", "1"},
                                   {"all_slaves_active", "all_slaves_active", "0"},
                                   {"min_links", "min_links", "0"},
                                   {"lp_interval", "lp_interval", "1"},
                                   {"packets_per_slave", "packets_per_slave", "1"},
                                   {"ad_lacp_rate", "lacp_rate", "slow"},
                                   {"ad_lacp_active", "lacp_active", "on"},
                                   {"ad_select", "ad_select", "stable"},
                                   {"tlb_dynamic_lb", "tlb_dynamic_lb", "1"},
                                   {"ns_ip6_target", nullptr, ""},
                                   {"ad_actor_sys_prio", nullptr, "65535"},
                                   {"ad_user_port_key", nullptr, "0"}};

// It becomes an argument of `ip` on this node, and may stand in a plan.
bool IsPlainWord(std::string_view word) {
  return !word.empty() && word.size() <= kLongestOption && word.front() != '-' &&
         std::all_of(word.begin(), word.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 ||
                  std::string_view(".:,_+-").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

// nullopt: it is of no form that is known.
std::optional<std::string> ReadOption(const Json& value) {
  if (value.is_null()) return std::string();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return fmt::format("{}", value.get<std::uint64_t>());
  if (!value.is_array()) return std::nullopt;
  std::vector<std::string> words;
  for (const Json& one : value) {
    if (!one.is_string()) return std::nullopt;
    words.push_back(one.get<std::string>());
  }
  return Join(words, ",");
}

template <std::size_t kCount>
void ReadOptions(const Json& data, const Option (&options)[kCount], MasterFact& master) {
  for (const Option& option : options) {
    const auto found = data.find(option.key);
    if (found == data.end()) continue;
    const std::optional<std::string> value = ReadOption(*found);
    if (value && (value->empty() || *value == option.usual)) continue;
    if (value && option.word != nullptr && IsPlainWord(*value)) {
      master.options.insert(master.options.end(), {option.word, *value});
    } else if (master.not_kept.empty()) {
      master.not_kept = option.key;
    }
  }
}

void AddMaster(const Json& link, NodeFacts& facts) {
  const auto info = link.find("linkinfo");
  const std::string name = ReadTextMember(link, "ifname");
  if (name.empty() || info == link.end() || !info->is_object()) return;
  MasterFact master{.kind = MakePrintable(ReadTextMember(*info, "info_kind"))};
  if (master.kind != "bond" && master.kind != "bridge" && master.kind != "vrf" &&
      master.kind != "team") {
    return;
  }
  const auto data = info->find("info_data");
  if (data != info->end() && data->is_object()) {
    if (master.kind == "bridge") ReadOptions(*data, kBridgeOptions, master);
    if (master.kind == "bond") ReadOptions(*data, kBondOptions, master);
  } else if (master.kind == "bond" || master.kind == "bridge") {
    return;  // not read
  }
  facts.network.masters[name] = std::move(master);
}

}  // namespace

void StoreMasters(const ProbeReply& reply, NodeFacts& facts) {
  const std::optional<IpReply> ip = FindIpReply(reply);
  if (!ip || ip->addresses.exit_code != 0) return;
  const Json list = Json::parse(ip->addresses.out, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return;
  for (const Json& link : list) {
    if (link.is_object()) AddMaster(link, facts);
  }
}

}  // namespace reconciler::plugins::netplan
