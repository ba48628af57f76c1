#include "plugins/facts/host/host.h"

#include <fmt/format.h>

#include "plugins/common/commands/failure.h"
#include "plugins/common/commands/lines.h"
#include "plugins/common/ports/ip.h"
#include "plugins/facts/host/links.h"
#include "plugins/facts/host/ports.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::host {
namespace {

constexpr std::string_view kHostname = "/proc/sys/kernel/hostname";
constexpr std::string_view kMachineId = "/etc/machine-id";
constexpr std::string_view kBootId = "/proc/sys/kernel/random/boot_id";
constexpr std::string_view kRelease = "/proc/sys/kernel/osrelease";
constexpr std::string_view kArch = "/proc/sys/kernel/arch";  // Linux 6.1 and later
constexpr std::string_view kProduct = "/sys/class/dmi/id/product_name";
constexpr std::string_view kVendor = "/sys/class/dmi/id/sys_vendor";
constexpr std::string_view kBios = "/sys/class/dmi/id/bios_version";
constexpr std::string_view kOsRelease = "/usr/lib/os-release";  // in /etc it is a symbolic link
constexpr std::string_view kSysNet = "/sys/class/net/";
constexpr std::string_view kPortName = "/phys_port_name";
constexpr std::string_view kSpeed = "/speed";
constexpr std::string_view kCarrierDowns = "/carrier_down_count";
constexpr std::string_view kSysctlIpv4 = "/proc/sys/net/ipv4/conf/";
constexpr std::string_view kRpFilter = "/rp_filter";

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec& node) {
  std::vector<Read> reads;
  for (const std::string_view path :
       {kHostname, kMachineId, kBootId, kRelease, kArch, kProduct, kVendor, kBios}) {
    reads.push_back(ReadValue{std::string(path)});
  }
  reads.push_back(ReadFile{std::string(kOsRelease)});
  reads.push_back(ReadValues{"/sys/class/net/*/phys_port_name"});
  reads.push_back(ReadValues{"/sys/class/net/*/speed"});
  reads.push_back(ReadValues{"/sys/class/net/*/carrier_down_count"});
  reads.push_back(ReadValues{"/proc/sys/net/ipv4/conf/*/rp_filter"});
  reads.push_back(MakeIpProbe());
  reads.push_back(MakeLinesProbe());
  reads.push_back(MakePortsProbe(cluster, node));
  reads.push_back(MakeEthtoolProbe(cluster, node));
  return reads;
}

Observed<std::string> FindReplyValue(const ProbeReply& reply, std::string_view path) {
  const auto found = reply.values.find(std::string(path));
  if (found == reply.values.end()) return Unknown{"not answered"};
  return found->second;
}

std::string FindText(const ProbeReply& reply, std::string_view path) {
  const Observed<std::string> value = FindReplyValue(reply, path);
  const auto* text = Known(value);
  return text != nullptr ? std::string(Trim(*text)) : std::string();
}

// os-release is written in the quoting of sh: PRETTY_NAME="NVIDIA DGX OS 7.2".
std::string ReadPrettyName(std::string_view os_release) {
  constexpr std::string_view kKey = "PRETTY_NAME=";
  for (const std::string& line : SplitLines(os_release)) {
    if (!line.starts_with(kKey)) continue;
    std::string_view value = Trim(std::string_view(line).substr(kKey.size()));
    const char quote = value.empty() ? '\0' : value.front();
    if ((quote == '"' || quote == '\'') && value.size() >= 2 && value.back() == quote) {
      value = value.substr(1, value.size() - 2);
    }
    std::string name;
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] == '\\' && quote != '\'' && i + 1 < value.size()) ++i;
      name += value[i];
    }
    return name;
  }
  return {};
}

Observed<HostFact> ParseHost(const ProbeReply& reply) {
  const Observed<std::string> hostname = FindReplyValue(reply, kHostname);
  if (const auto* unknown = std::get_if<Unknown>(&hostname)) {
    return Unknown{fmt::format("{}: {}", kHostname, unknown->why)};
  }
  HostFact host;
  host.hostname = FindText(reply, kHostname);
  host.machine_id = FindText(reply, kMachineId);
  host.boot_id = FindText(reply, kBootId);
  host.kernel = FindText(reply, kRelease);
  host.arch = FindText(reply, kArch);
  host.product = FindText(reply, kProduct);
  host.vendor = FindText(reply, kVendor);
  host.bios = FindText(reply, kBios);
  if (const auto file = reply.files.find(std::string(kOsRelease)); file != reply.files.end()) {
    if (const auto* state = Known(file->second)) host.os = ReadPrettyName(state->content);
  }
  return host;
}

Unknown ExplainNoLinks(const CommandReply& ip) {
  if (ip.exit_code == 0) return {"ip printed something other than JSON"};
  return ExplainFailure(ip, "ip", kIpLimitS);
}

int ParseSpeed(const std::string& text) {
  const int speed = ParseNumber<int>(text).value_or(-1);
  return speed > 0 ? speed : -1;
}

// Numbers in files of one name, by the folder that the file is in: "…/FOLDER/NAME".
std::map<std::string, int> CollectNumbers(const ProbeReply& reply, std::string_view above,
                                          std::string_view name) {
  std::map<std::string, int> numbers;
  for (auto found = reply.values.lower_bound(std::string(above));
       found != reply.values.end() && found->first.starts_with(above); ++found) {
    const std::string_view rest = std::string_view(found->first).substr(above.size());
    const std::string* text = Known(found->second);
    if (text == nullptr || !rest.ends_with(name)) continue;
    const std::string folder(rest.substr(0, rest.size() - name.size()));
    const auto number = ParseNumber<int>(Trim(*text));
    if (number && *number >= 0 && folder.find_first_of("/*") == std::string::npos) {
      numbers[folder] = *number;
    }
  }
  return numbers;
}

// grep ends with 1 where nothing fits, and with 2 where something is not there.
std::map<int, LinkManager> ReadManagers(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kLines);
  if (found == reply.commands.end() || found->second.exit_code > 2) {
    facts.network.managers_unclear = found == reply.commands.end()
                                         ? "the state of networkd and NetworkManager was not read"
                                         : ExplainFailure(found->second, "grep", kLinesLimitS).why;
  }
  return found == reply.commands.end() ? std::map<int, LinkManager>()
                                       : ParseManagers(found->second.out);
}

void AddLinks(const ProbeReply& reply, NodeFacts& facts) {
  const std::optional<IpReply> ip = FindIpReply(reply);
  if (!ip) {
    facts.network.links = Unknown{"ip was not run"};
    return;
  }
  const auto links = ip->addresses.exit_code == 0 ? ParseIpAddr(ip->addresses.out) : std::nullopt;
  if (!links) {
    facts.network.links = ExplainNoLinks(ip->addresses);
    return;
  }
  const std::map<int, LinkManager> managers = ReadManagers(reply, facts);
  for (const auto& [name, link] : *links) {
    LinkFact fact = link.fact;
    const std::string folder = std::string(kSysNet) + name;
    fact.phys_port_name = FindText(reply, folder + std::string(kPortName));
    fact.speed_mbps = ParseSpeed(FindText(reply, folder + std::string(kSpeed)));
    if (const auto manager = managers.find(link.index); manager != managers.end()) {
      fact.manager = manager->second;
    }
    facts.links[name] = std::move(fact);
    if (!link.leases.empty()) facts.network.leases[name] = link.leases;
    for (const std::string& one : link.lasting) facts.network.by_hand[name].push_back(one);
  }
  facts.network.links = static_cast<int>(links->size());
}

bool Holds(const LinkFact& link, std::string_view address) {
  for (const Ipv4Prefix& prefix : link.ipv4) {
    if (ToString(prefix.address) == address) return true;
  }
  for (const std::string& prefix : link.ipv6) {
    if (prefix.substr(0, prefix.find('/')) == address) return true;
  }
  return false;
}

// sshd writes a link-local address as fe80::1%IF, and IPv4 on a dual-stack socket as
// ::ffff:A.B.C.D.
std::string FindSessionInterface(const NodeFacts& facts) {
  std::string_view address = facts.session.address;
  std::string_view scope;
  if (const std::size_t percent = address.find('%'); percent != std::string_view::npos) {
    scope = address.substr(percent + 1);
    address = address.substr(0, percent);
  }
  constexpr std::string_view kMapped = "::ffff:";
  if (address.starts_with(kMapped)) address.remove_prefix(kMapped.size());
  if (address.empty()) return {};
  for (const auto& [name, link] : facts.links) {
    if ((scope.empty() || scope == name) && Holds(link, address)) return name;
  }
  return {};
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  facts.session.address = reply.session_address;
  facts.host = ParseHost(reply);
  AddLinks(reply, facts);
  facts.network.carrier_downs = CollectNumbers(reply, kSysNet, kCarrierDowns);
  facts.network.rp_filter = CollectNumbers(reply, kSysctlIpv4, kRpFilter);
  for (const char* id : {"host.ports", "host.ethtool"}) {
    if (const auto ports = reply.commands.find(id); ports != reply.commands.end()) {
      StorePorts(ports->second, facts);
    }
  }
  facts.session.interface = FindSessionInterface(facts);
}

}  // namespace

Plugin Get() { return {.name = "host", .after = {}, .probe = Probe, .parse = Parse}; }

}  // namespace reconciler::plugins::host
