#include "reconciler/discovery/hosts.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "reconciler/base/ipv4.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// Of a resolved record of avahi-browse: =;interface;protocol;service;type;domain;host;address;port
constexpr std::size_t kInterfaceField = 1;
constexpr std::size_t kHostField = 6;
constexpr std::size_t kAddressField = 7;

bool IsIn(const std::string& network, const std::string& address) {
  const auto prefix = ParseIpv4Prefix(network);
  const auto parsed = ParseIpv4(address);
  return prefix && parsed && prefix->Contains(*parsed);
}
bool IsLinkLocal(const std::string& address) { return IsIn("169.254.0.0/16", address); }
bool IsLoopback(const std::string& address) { return IsIn("127.0.0.0/8", address); }

bool HasAddress(const HostRecord& record, const std::string& address) {
  return std::any_of(record.addresses.begin(), record.addresses.end(),
                     [&](const HostAddress& own) { return own.address == address; });
}
bool HasName(const HostRecord& record, const std::string& name) {
  return std::find(record.names.begin(), record.names.end(), name) != record.names.end();
}

std::vector<std::string> SplitWords(std::string_view line) {
  std::vector<std::string> words;
  for (std::string& word : Split(line, ' ')) {
    if (!word.empty()) words.push_back(std::move(word));
  }
  return words;
}

// "[spark-1]:22" is the same as "spark-1"; another port is another server.
std::optional<std::string> ReadName(const std::string& text) {
  if (text.find_first_of("*?!") != std::string::npos) return std::nullopt;
  if (!text.starts_with('[')) return text;
  if (!text.ends_with("]:22")) return std::nullopt;
  return text.substr(1, text.size() - 5);
}

bool IsSame(const HostRecord& a, const HostRecord& b) {
  return a.machine == b.machine ||
         std::any_of(a.names.begin(), a.names.end(),
                     [&](const std::string& name) { return HasName(b, name); }) ||
         std::any_of(a.addresses.begin(), a.addresses.end(),
                     [&](const HostAddress& own) { return HasAddress(b, own.address); });
}

HostRecord JoinRecords(const std::vector<HostRecord>& records) {
  HostRecord joined;
  for (const HostRecord& record : records) {
    for (const std::string& name : record.names) {
      if (!HasName(joined, name)) joined.names.push_back(name);
    }
    for (const HostAddress& own : record.addresses) {
      if (!HasAddress(joined, own.address)) joined.addresses.push_back(own);
    }
  }
  return joined;
}

// One record per machine: a machine has a key of each type, and an address in each network.
std::vector<HostRecord> MergeMachines(const std::vector<HostRecord>& records) {
  std::vector<std::vector<HostRecord>> machines;
  for (const HostRecord& record : records) {
    const auto is_other = [&](const std::vector<HostRecord>& machine) {
      return std::none_of(machine.begin(), machine.end(),
                          [&](const HostRecord& member) { return IsSame(member, record); });
    };
    const auto same = std::stable_partition(machines.begin(), machines.end(), is_other);
    std::vector<HostRecord> machine;
    for (auto part = same; part != machines.end(); ++part) {
      machine.insert(machine.end(), part->begin(), part->end());
    }
    machine.push_back(record);
    machines.erase(same, machines.end());
    machines.push_back(std::move(machine));
  }
  std::vector<HostRecord> merged;
  for (const auto& machine : machines) merged.push_back(JoinRecords(machine));
  return merged;
}

bool MatchesText(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

bool Matches(const HostRecord& machine, const std::string& pattern) {
  return std::any_of(machine.names.begin(), machine.names.end(),
                     [&](const std::string& name) { return MatchesText(pattern, name); }) ||
         std::any_of(machine.addresses.begin(), machine.addresses.end(),
                     [&](const HostAddress& own) { return MatchesText(pattern, own.address); });
}

std::string FindSubnet(const std::string& address) { return address.substr(0, address.rfind('.')); }

// How many of the machines were seen on each network, and in each /24.
struct Counts {
  std::map<std::string, int> networks = {};
  std::map<std::string, int> subnets = {};
};

Counts CountMachines(const std::vector<HostRecord>& machines) {
  Counts counts;
  for (const HostRecord& machine : machines) {
    std::set<std::string> networks;
    std::set<std::string> subnets;
    for (const HostAddress& own : machine.addresses) {
      networks.insert(own.network);
      subnets.insert(FindSubnet(own.address));
    }
    for (const std::string& network : networks) ++counts.networks[network];
    for (const std::string& subnet : subnets) ++counts.subnets[subnet];
  }
  return counts;
}

std::string ChooseName(const HostRecord& machine, const std::string& pattern) {
  for (const std::string& name : machine.names) {
    if (MatchesText(pattern, name)) return name;
  }
  return machine.names.empty() ? "" : machine.names.front();
}

FoundHost MakeHost(HostRecord machine, const std::string& pattern, const std::string& preferred,
                   Counts& counts) {
  FoundHost host{.name = ChooseName(machine, pattern)};
  host.address = host.name;
  if (machine.addresses.empty()) return host;
  const auto rank = [&](const HostAddress& own) {
    return std::tuple(IsLinkLocal(own.address), own.network != preferred,
                      -counts.networks[own.network], -counts.subnets[FindSubnet(own.address)]);
  };
  std::stable_sort(machine.addresses.begin(), machine.addresses.end(),
                   [&](const HostAddress& a, const HostAddress& b) { return rank(a) < rank(b); });
  host.address = machine.addresses.front().address;
  for (std::size_t i = 1; i < machine.addresses.size(); ++i) {
    host.others.push_back(machine.addresses[i].address);
  }
  return host;
}

// Addresses by their numbers, and names after them: a name may begin with a digit.
void SortByAddress(std::vector<FoundHost>& hosts) {
  const auto key = [](const FoundHost& host) {
    const auto ipv4 = ParseIpv4(host.address);
    return std::tuple(!ipv4, ipv4.value_or(Ipv4Address{}), host.address);
  };
  std::sort(hosts.begin(), hosts.end(),
            [&](const FoundHost& a, const FoundHost& b) { return key(a) < key(b); });
}

}  // namespace

HostRecords ParseMdns(std::string_view output) {
  HostRecords found;
  for (const std::string& line : SplitLines(output)) {
    const std::vector<std::string> fields = Split(line, ';');
    if (fields.size() <= kAddressField || fields[0] != "=") continue;
    const std::string& address = fields[kAddressField];
    if (!ParseIpv4(address) || IsLoopback(address) || fields[kHostField].empty()) continue;
    const std::string name = FirstLabel(fields[kHostField]);
    found.records.push_back({name, {name}, {{address, fields[kInterfaceField]}}});
  }
  return found;
}

HostRecords ParseKnownHosts(std::string_view text) {
  HostRecords found;
  for (const std::string& line : SplitLines(text)) {
    const std::vector<std::string> words = SplitWords(line);  // names, type, key
    if (words.size() < 3 || words[0].starts_with('#') || words[0].starts_with('@')) continue;
    if (words[0].starts_with('|')) {
      ++found.hashed;
      continue;
    }
    HostRecord record{.machine = words[2]};
    for (const std::string& part : Split(words[0], ',')) {
      const auto name = ReadName(part);
      if (!name || name->empty() || name->find(':') != std::string::npos) continue;
      if (ParseIpv4(*name)) {
        record.addresses.push_back({*name, {}});
      } else {
        record.names.push_back(*name);
      }
    }
    if (!record.names.empty() || !record.addresses.empty()) found.records.push_back(record);
  }
  return found;
}

std::string ParseDefaultInterface(std::string_view routes) {
  for (const std::string& line : SplitLines(routes)) {
    const std::vector<std::string> fields = Split(line, '\t');
    if (fields.size() > 1 && fields[1] == "00000000") return fields[0];
  }
  return {};
}

FoundHosts ChooseHosts(const HostRecords& found, const std::string& pattern,
                       const std::string& preferred) {
  std::vector<HostRecord> machines = MergeMachines(found.records);
  const auto matches = [&](const HostRecord& machine) { return Matches(machine, pattern); };
  const auto rest = std::stable_partition(machines.begin(), machines.end(), matches);
  Counts counts = CountMachines({machines.begin(), rest});
  FoundHosts hosts;
  for (auto machine = machines.begin(); machine != machines.end(); ++machine) {
    (machine < rest ? hosts.chosen : hosts.left_out)
        .push_back(MakeHost(*machine, pattern, preferred, counts));
  }
  SortByAddress(hosts.chosen);
  SortByAddress(hosts.left_out);
  return hosts;
}

std::string FormatHosts(const std::vector<FoundHost>& hosts) {
  std::vector<std::vector<std::string>> rows;
  for (const FoundHost& host : hosts) {
    std::vector<std::string> row = {MakePrintable(host.name.empty() ? "-" : host.name),
                                    MakePrintable(host.address)};
    if (!host.others.empty()) {
      row.push_back(MakePrintable("(also " + Join(host.others, ", ") + ")"));
    }
    rows.push_back(std::move(row));
  }
  return FormatTable(rows, "  ");
}

}  // namespace reconciler
