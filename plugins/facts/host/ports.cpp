#include "plugins/facts/host/ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/common/commands/in_place.h"
#include "plugins/facts/host/ethtool.sh.h"
#include "plugins/facts/host/ports.sh.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::host {
namespace {

template <class Number>
Observed<Number> ParseEthtoolCount(std::string_view text) {
  const auto number = ParseNumber<Number>(text);
  if (!number || *number < 0) return Unknown{fmt::format("ethtool wrote '{}' for a number", text)};
  return *number;
}

Observed<std::vector<std::string>> ParseFec(const std::string& text) {
  std::vector<std::string> words = Split(text, ' ');
  std::erase(words, "");
  if (words.empty()) return Unknown{"ethtool names no FEC encoding"};
  return words;
}

// "3 rx_crc_errors_phy"
void StoreErrors(std::string_view text, PortFacts& port) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  const std::string_view name = Trim(text.substr(blank));
  const Observed<std::int64_t> count = ParseEthtoolCount<std::int64_t>(text.substr(0, blank));
  if (name == "rx_crc_errors_phy") port.rx_crc_errors = count;
  if (name == "link_down_events_phy") port.link_down_events = count;
}

// "p0": the interface of a port. What stands for a virtual function beside it is called "pf0vf1".
bool IsPort(const NodeFacts& facts, const std::string& netdev) {
  const auto link = facts.links.find(netdev);
  return link != facts.links.end() && link->second.phys_port_name.starts_with('p') &&
         ParseNumber<int>(std::string_view(link->second.phys_port_name).substr(1));
}

// Of several interfaces of one function, the port itself counts.
void StoreFunction(const std::string& pci, const std::string& netdev, NodeFacts& facts) {
  std::string& stored = facts.network.pci[pci];
  if (!IsPort(facts, stored)) stored = netdev;
}

}  // namespace

RunProbe MakePortsProbe(const ClusterSpec& cluster, const NodeSpec& node) {
  RunProbe probe = MakeInPlaceProbe("host.ports", kPortsSh);
  const Hardware* hardware = cluster.FindHardware(node);
  if (hardware == nullptr) return probe;
  for (const Cage& cage : hardware->cages) {
    for (const Twin& twin : cage.twins) probe.argv.push_back(twin.netdev + "=" + twin.pci);
  }
  return probe;
}

// Two or three processes for each port.
RunProbe MakeEthtoolProbe(const ClusterSpec& cluster, const NodeSpec& node) {
  RunProbe probe = MakeInPlaceProbe("host.ethtool", kEthtoolSh);
  probe.only_for_verification = true;
  const Hardware* hardware = cluster.FindHardware(node);
  if (hardware == nullptr) return probe;
  for (const Cage& cage : hardware->cages) {
    for (const Twin& twin : cage.twins) probe.argv.push_back(twin.netdev);
  }
  return probe;
}

void StorePorts(const CommandReply& reply, NodeFacts& facts) {
  for (const std::string& line : SplitLines(reply.out)) {
    const std::size_t first = line.find(' ');
    if (first == std::string::npos) continue;
    const std::string kind = line.substr(0, first);
    const std::size_t second = line.find(' ', first + 1);
    const std::string subject = MakePrintable(line.substr(first + 1, second - first - 1));
    if (kind == "function") {
      facts.network.pci.try_emplace(subject, std::string());
      continue;
    }
    if (second == std::string::npos) continue;
    const std::string text = MakePrintable(Trim(line.substr(second + 1)));
    if (kind == "pci") {
      StoreFunction(subject, text, facts);
    } else if (kind == "driver") {
      if (const auto link = facts.links.find(subject); link != facts.links.end()) {
        link->second.driver = text;
      }
    } else if (kind == "fec") {
      facts.network.ports[subject].fec = ParseFec(text);
    } else if (kind == "lanes") {
      facts.network.ports[subject].lanes = ParseEthtoolCount<int>(text);
    } else if (kind == "errors") {
      StoreErrors(text, facts.network.ports[subject]);
    }
  }
}

}  // namespace reconciler::plugins::host
