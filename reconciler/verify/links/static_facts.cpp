#include "reconciler/verify/links/static_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/verify/links/check_outcome.h"
#include "reconciler/verify/links/device_facts.h"
#include "reconciler/verify/links/port_health.h"

namespace reconciler {
namespace {

Check MakePortCheck(const RailPort& port, std::string what, std::string expected) {
  return {.level = VerifyLevel::kFacts,
          .what = std::move(what),
          .from = port.node,
          .rail = port.rail,
          .expected = std::move(expected)};
}

// Of a cage's cable, in Gb/s. 0: no cable is known.
struct Rate {
  int expected = 0;
  int possible = 0;
};
using Rates = std::map<std::pair<NodeName, std::string>, Rate>;  // by node and cage

// Gb/s of the fastest port that uses one of those cages; 0: none reports its speed.
int FindFastest(const Fabric& fabric, const ClusterFacts& facts, const Rates& cages) {
  int fastest = 0;
  for (const auto& [node, ports] : fabric.ports) {
    const auto known = facts.nodes.find(node);
    if (known == facts.nodes.end()) continue;
    for (const RailPort& port : ports) {
      const auto link = known->second.links.find(port.netdev);
      if (link == known->second.links.end() || !cages.contains({node, port.cage})) continue;
      fastest = std::max(fastest, link->second.speed_mbps / 1000);
    }
  }
  return fastest;
}

// A switch that the manifest does not describe may be slower than the cages: 100 Gb/s is in use and
// works (https://forums.developer.nvidia.com/t/373146). The fastest of the fabric's ports on it
// shows its rate. Less than that is no rate of such a switch but a breakout that is set wrongly.
Rates ListRates(const Fabric& fabric, const ClusterFacts& facts) {
  constexpr int kSlowest = 100;
  Rates rates;
  Rates undescribed;
  for (const Wire& wire : fabric.wires) {
    for (const auto& [end, far] : {std::pair(&wire.a, &wire.b), std::pair(&wire.b, &wire.a)}) {
      if (end->on_switch) continue;
      const bool described = !far->on_switch || !far->port.empty();
      (described ? rates : undescribed)[{end->device, end->port}] = {wire.gbps, wire.gbps};
    }
  }
  const int fastest = std::max(kSlowest, FindFastest(fabric, facts, undescribed));
  for (const auto& [cage, rate] : undescribed) {
    rates[cage] = {std::min(rate.possible, fastest), rate.possible};
  }
  return rates;
}

Rate FindRate(const Rates& rates, const RailPort& port) {
  const auto found = rates.find({port.node, port.cage});
  return found != rates.end() ? found->second : Rate{};
}

// Only a card with cages runs at its cable's rate: others (a namespace's) have no port name.
void JudgeSpeed(Check& check, const Rate& rate, const LinkFact& link) {
  if (link.speed_mbps <= 0) return SetSkipped(check, "the driver reports no speed");
  check.measured = fmt::format("{} Mb/s", link.speed_mbps);
  if (!link.phys_port_name.empty() && link.speed_mbps < rate.expected * 1000) {
    SetFailed(check, Symptom::kSpeedLow, check.measured);
  }
  if (rate.expected < rate.possible) {
    check.evidence.push_back(fmt::format(
        "the cage can have {} Mb/s; `switches` in the manifest says what the switch has",
        rate.possible * 1000));
  }
}

std::vector<Check> ListPortChecks(const RailPort& port, const Rate& rate) {
  return {
      MakePortCheck(port, "port", fmt::format("{} exists", port.netdev)),
      MakePortCheck(port, "link", fmt::format("{} is up", port.netdev)),
      MakePortCheck(port, "carrier", fmt::format("{} has carrier", port.netdev)),
      MakePortCheck(port, "address",
                    fmt::format("{} on {}",
                                IsLinkLocal(port) ? "a link-local address" : ToString(port.address),
                                port.netdev)),
      MakePortCheck(port, "mtu", fmt::format("mtu {} on {}", port.mtu, port.netdev)),
      MakePortCheck(port, "speed",
                    rate.expected > 0
                        ? fmt::format("{} Mb/s on {}", rate.expected * 1000, port.netdev)
                        : "")};
}

std::string FormatAddresses(const LinkFact& link) {
  std::vector<std::string> texts;
  for (const Ipv4Prefix& prefix : link.ipv4) texts.push_back(ToString(prefix));
  return texts.empty() ? "no address" : Join(texts, ", ");
}

void JudgeAddress(Check& check, const RailPort& port, const LinkFact& link,
                  const NodeFacts& facts) {
  const auto find = [&port](const LinkFact& fact) {
    return std::find_if(fact.ipv4.begin(), fact.ipv4.end(),
                        [&](const Ipv4Prefix& one) { return Accepts(port, one); });
  };
  const auto has = [&find](const LinkFact& fact) { return find(fact) != fact.ipv4.end(); };
  if (has(link)) {
    check.measured = ToString(*find(link));
    return;
  }
  SetFailed(check, Symptom::kAddressMissing, FormatAddresses(link));
  if (IsLinkLocal(port)) return;
  for (const auto& [netdev, other] : facts.links) {
    if (!has(other)) continue;
    check.evidence.push_back(
        MakePrintable(fmt::format("{} is on {} instead", ToString(port.address), netdev)));
  }
}

// The driver's name for the cage and the place of the PCI function, against the profile's.
void JudgePlace(Check& check, const RailPort& port, const Hardware* hardware, const LinkFact& link,
                const NodeFacts& facts) {
  const Cage* cage = hardware != nullptr ? hardware->FindCage(port.cage) : nullptr;
  if (cage == nullptr || static_cast<std::size_t>(port.twin) >= cage->twins.size()) return;
  if (!link.phys_port_name.empty() && link.phys_port_name != port.cage) {
    return SetFailed(check, Symptom::kPortElsewhere,
                     fmt::format("{} is {}, and {} in profile {}", port.netdev,
                                 MakePrintable(link.phys_port_name), port.cage, hardware->name));
  }
  const std::string& wanted = cage->twins[static_cast<std::size_t>(port.twin)].pci;
  for (const auto& [found, netdev] : facts.network.pci) {
    if (netdev != port.netdev) continue;
    if (found == wanted) return;
    if (found.find(':') == std::string::npos) continue;  // a device on another bus
    return SetFailed(check, Symptom::kPortElsewhere,
                     fmt::format("{} is PCI function {}, and {} in profile {}", port.netdev,
                                 MakePrintable(found), wanted, hardware->name));
  }
}

// Precondition: the six checks of ListPortChecks, in that order.
void JudgePort(std::vector<Check>& checks, const RailPort& port, const Rate& rate,
               const Hardware* hardware, const NodeFacts& facts) {
  const auto found = facts.links.find(port.netdev);
  if (found == facts.links.end()) {
    SetFailed(checks[0], Symptom::kPortMissing, fmt::format("no {}", port.netdev));
    for (std::size_t i = 1; i < checks.size(); ++i) SetSkipped(checks[i], "there is no such port");
    return;
  }
  const LinkFact& link = found->second;
  checks[0].measured = "there";
  JudgePlace(checks[0], port, hardware, link, facts);
  checks[1].measured = "up";
  checks[2].measured = "carrier";
  if (!link.admin_up) {
    SetFailed(checks[1], Symptom::kLinkDown, "set down");
    checks[2].measured = "";
    SetSkipped(checks[2], "the port is set down");
  } else if (!link.carrier) {
    SetFailed(checks[2], Symptom::kNoCarrier, "no carrier");
  }
  JudgeAddress(checks[3], port, link, facts);
  checks[4].measured = fmt::format("mtu {}", link.mtu);
  if (link.mtu != port.mtu) SetFailed(checks[4], Symptom::kMtuWrong, checks[4].measured);
  JudgeSpeed(checks[5], rate, link);
}

// nullopt: the manifest does not require it. Its numbers count KiB.
std::optional<MemoryLimit> ReadWantedMemlock(const ClusterSpec& cluster, const NodeSpec& node) {
  const Member* section = cluster.FindSection(node.name, "memlock");
  if (section == nullptr || section->value.IsNull()) return std::nullopt;
  const std::int64_t* kib = section->value.AsInteger();
  if (kib == nullptr || *kib > MemoryLimit::kUnlimited / 1024) {
    return MemoryLimit{MemoryLimit::kUnlimited};
  }
  return MemoryLimit{*kib * 1024};
}

Check MakeMemlockCheck(const NodeName& node, std::string_view what, const MemoryLimit& wanted) {
  return {.what = std::string(what), .from = node, .expected = FormatLimit(wanted)};
}

// A process has the soft limit until it raises it.
Observed<MemoryLimit> GetSoftLimit(const Observed<MemlockLimits>& fact) {
  return AndThen(fact,
                 [](const MemlockLimits& limits) { return Observed<MemoryLimit>(limits.soft); });
}

void JudgeMemlock(Check& check, const MemoryLimit& wanted, const Observed<MemoryLimit>& fact) {
  if (const auto* unknown = std::get_if<Unknown>(&fact)) {
    return SetCouldNotMeasure(check, Symptom::kFactUnknown, MakePrintable(unknown->why));
  }
  if (const auto* unsupported = std::get_if<Unsupported>(&fact)) {
    return SetCouldNotMeasure(check, Symptom::kFactUnknown, MakePrintable(unsupported->why));
  }
  const MemoryLimit* limit = Known(fact);
  if (limit == nullptr) {
    return SetCouldNotMeasure(check, Symptom::kFactUnknown,
                              "the session's limit for locked memory was not found");
  }
  check.measured = FormatLimit(*limit);
  // Half of a Spark's memory: DGX OS sets about all of it, which is as good as no limit.
  constexpr std::int64_t kAmple = std::int64_t{64} << 30;
  if (wanted.IsUnlimited() && limit->bytes >= kAmple) return;
  if (*limit < wanted) SetFailed(check, Symptom::kMemlockLow, check.measured);
}

// A user's manager keeps the limit that it was started with, so that a low one is reported and
// fails nothing: an apply has done all that it can.
void JudgeUserManager(Check& check, const MemoryLimit& wanted,
                      const Observed<MemlockLimits>& fact) {
  if (std::holds_alternative<Absent>(fact))
    return SetSkipped(check, "no manager of the user's runs");
  JudgeMemlock(check, wanted, GetSoftLimit(fact));
  if (check.outcome != Outcome::kFail) return;
  check.symptom = Symptom::kNone;
  SetSkipped(check, fmt::format("the user's manager has {} until it is restarted", check.measured));
}

void AddMemlock(std::vector<Check>& checks, const NodeName& node, const MemoryLimit& wanted,
                const NodeFacts* facts) {
  Check& session = checks.emplace_back(MakeMemlockCheck(node, "memlock", wanted));
  if (facts == nullptr) {
    return SetCouldNotMeasure(session, Symptom::kNodeUnreachable,
                              fmt::format("{} could not be reached", node));
  }
  const MemlockFacts& memlock = facts->memlock;
  JudgeMemlock(session, wanted, Answer(memlock.session));
  if (memlock.service) {
    Check& service = checks.emplace_back(MakeMemlockCheck(node, "memlock-service", wanted));
    JudgeMemlock(service, wanted, GetSoftLimit(*memlock.service));
  }
  if (memlock.user_service) {
    Check& user = checks.emplace_back(MakeMemlockCheck(node, "memlock-user-service", wanted));
    JudgeUserManager(user, wanted, *memlock.user_service);
  }
}

}  // namespace

std::vector<Check> CheckFacts(const ClusterSpec& cluster, const Fabric& fabric,
                              const ClusterFacts& facts, VerifyLevel up_to) {
  std::vector<Check> checks;
  const Rates rates = ListRates(fabric, facts);
  const CableLanes cable_lanes = FindCableLanes(fabric, facts);
  for (const NodeSpec& node : cluster.nodes) {
    const auto known = facts.nodes.find(node.name);
    const NodeFacts* node_facts = known == facts.nodes.end() ? nullptr : &known->second;
    const auto unknown = [&](Check& check) {
      SetCouldNotMeasure(check, Symptom::kNodeUnreachable,
                         fmt::format("{} could not be reached", node.name));
    };
    if (const auto ports = fabric.ports.find(node.name); ports != fabric.ports.end()) {
      for (const RailPort& port : ports->second) {
        std::vector<Check> port_checks = ListPortChecks(port, FindRate(rates, port));
        if (node_facts != nullptr) {
          JudgePort(port_checks, port, FindRate(rates, port), cluster.FindHardware(node),
                    *node_facts);
          JudgeEthtool(cluster, cable_lanes, port, *node_facts, port_checks);
        } else {
          std::for_each(port_checks.begin(), port_checks.end(), unknown);
        }
        checks.insert(checks.end(), port_checks.begin(), port_checks.end());
      }
      if (node_facts != nullptr) {
        const std::vector<Check> devices = CheckDevices(cluster.FindHardware(node), ports->second,
                                                        *node_facts, up_to >= VerifyLevel::kRdma);
        checks.insert(checks.end(), devices.begin(), devices.end());
      }
    }
    if (const auto memlock = ReadWantedMemlock(cluster, node)) {
      AddMemlock(checks, node.name, *memlock, node_facts);
    }
  }
  return checks;
}

}  // namespace reconciler
