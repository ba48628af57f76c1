#include "reconciler/verify/links/static_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"
#include "reconciler/verify/links/check_outcome.h"
#include "reconciler/verify/links/device_facts.h"
#include "reconciler/verify/links/port_health.h"

namespace reconciler {
namespace {

constexpr std::string_view kPciKey = "host.pci.";  // and the address: the netdev that is there

Check MakePortCheck(const RailPort& port, std::string what, std::string expected) {
  return {.level = VerifyLevel::kFacts,
          .what = std::move(what),
          .from = port.node,
          .rail = port.rail,
          .expected = std::move(expected)};
}

// Line rates in Gb/s by node and cage.
using Rates = std::map<std::pair<NodeName, std::string>, int>;

Rates ListRates(const Fabric& fabric) {
  Rates rates;
  for (const Wire& wire : fabric.wires) {
    for (const PlugEnd* end : {&wire.a, &wire.b}) {
      if (!end->on_switch) rates[{end->device, end->port}] = wire.gbps;
    }
  }
  return rates;
}

int FindRate(const Rates& rates, const RailPort& port) {
  const auto found = rates.find({port.node, port.cage});
  return found != rates.end() ? found->second : 0;
}

// Only a card with cages runs at its cable's rate: others (a namespace's) have no port name.
void JudgeSpeed(Check& check, int gbps, const LinkFact& link) {
  if (link.speed_mbps <= 0) return SetSkipped(check, "the driver tells no speed");
  check.measured = fmt::format("{} Mb/s", link.speed_mbps);
  if (!link.phys_port_name.empty() && link.speed_mbps < gbps * 1000) {
    SetFailed(check, Symptom::kSpeedLow, check.measured);
  }
}

std::vector<Check> ListPortChecks(const RailPort& port, int gbps) {
  return {
      MakePortCheck(port, "port", fmt::format("{} exists", port.netdev)),
      MakePortCheck(port, "link", fmt::format("{} is up", port.netdev)),
      MakePortCheck(port, "carrier", fmt::format("{} has carrier", port.netdev)),
      MakePortCheck(port, "address", fmt::format("{} on {}", ToString(port.address), port.netdev)),
      MakePortCheck(port, "mtu", fmt::format("mtu {} on {}", port.mtu, port.netdev)),
      MakePortCheck(port, "speed",
                    gbps > 0 ? fmt::format("{} Mb/s on {}", gbps * 1000, port.netdev) : "")};
}

std::string FormatAddresses(const LinkFact& link) {
  std::vector<std::string> texts;
  for (const Ipv4Prefix& prefix : link.ipv4) texts.push_back(ToString(prefix));
  return texts.empty() ? "no address" : Join(texts, ", ");
}

void JudgeAddress(Check& check, const RailPort& port, const LinkFact& link,
                  const NodeFacts& facts) {
  const auto has = [&port](const LinkFact& fact) {
    return std::find(fact.ipv4.begin(), fact.ipv4.end(), port.address) != fact.ipv4.end();
  };
  if (has(link)) {
    check.measured = ToString(port.address);
    return;
  }
  SetFailed(check, Symptom::kAddressMissing, FormatAddresses(link));
  for (const auto& [netdev, other] : facts.links) {
    if (!has(other)) continue;
    check.evidence.push_back(
        MakePrintable(fmt::format("{} is on {} instead", ToString(port.address), netdev)));
  }
}

// The driver's word for the cage and the place of the PCI function, against the profile's.
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
  for (const auto& [key, netdev] : facts.values) {
    if (!key.starts_with(kPciKey) || Known(netdev) == nullptr || *Known(netdev) != port.netdev) {
      continue;
    }
    const std::string found = key.substr(kPciKey.size());
    if (found == wanted) return;
    if (found.find(':') == std::string::npos) continue;  // a device on another bus
    return SetFailed(check, Symptom::kPortElsewhere,
                     fmt::format("{} is PCI function {}, and {} in profile {}", port.netdev,
                                 MakePrintable(found), wanted, hardware->name));
  }
}

// Wants the six questions of ListPortChecks, in that order.
void JudgePort(std::vector<Check>& checks, const RailPort& port, int gbps, const Hardware* hardware,
               const NodeFacts& facts) {
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
  JudgeSpeed(checks[5], gbps, link);
}

constexpr std::uint64_t kUnlimited = UINT64_MAX;

// The fact's form: bytes, or "unlimited".
std::optional<std::uint64_t> ParseLimit(std::string_view text) {
  if (text == "unlimited") return kUnlimited;
  return ParseNumber<std::uint64_t>(text);
}

std::string FormatLimit(std::uint64_t bytes) {
  if (bytes == kUnlimited) return "unlimited";
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} bytes", bytes);
}

// nullopt: the manifest does not ask. Its numbers count KiB.
std::optional<std::uint64_t> ReadWantedMemlock(const ClusterSpec& cluster) {
  const Value* value = cluster.settings.Find("memlock");
  if (value == nullptr || value->IsNull()) return std::nullopt;
  const std::int64_t* kib = value->AsInteger();
  return kib != nullptr ? static_cast<std::uint64_t>(*kib) * 1024 : kUnlimited;
}

// One kind of process that may lock memory.
struct LockContext {
  std::string_view what;
  std::string_view fact;
};
constexpr LockContext kSession = {"memlock", "memlock.session"};
constexpr LockContext kService = {"memlock-service", "memlock.service"};
constexpr LockContext kUserService = {"memlock-user-service", "memlock.user_service"};

Check MakeMemlockCheck(const NodeName& node, const LockContext& context, std::uint64_t wanted) {
  return {.what = std::string(context.what), .from = node, .expected = FormatLimit(wanted)};
}

// "soft A, hard B" counts as A.
std::string SoftLimit(const std::string& text) {
  constexpr std::string_view kSoft = "soft ";
  if (!text.starts_with(kSoft)) return text;
  return text.substr(kSoft.size(), text.find(',') - kSoft.size());
}

void JudgeMemlock(Check& check, std::uint64_t wanted, const Observed<std::string>& fact) {
  if (const auto* unknown = std::get_if<Unknown>(&fact)) {
    return SetCouldNotMeasure(check, Symptom::kFactUnknown, MakePrintable(unknown->why));
  }
  if (const auto* unsupported = std::get_if<Unsupported>(&fact)) {
    return SetCouldNotMeasure(check, Symptom::kFactUnknown, MakePrintable(unsupported->why));
  }
  const std::string* text = Known(fact);
  const auto limit = text != nullptr ? ParseLimit(SoftLimit(*text)) : std::nullopt;
  if (!limit) {
    return SetCouldNotMeasure(
        check, Symptom::kFactUnknown,
        text == nullptr ? "the session's limit for locked memory was not found"
                        : fmt::format("wanted a limit in bytes, found '{}'", MakePrintable(*text)));
  }
  check.measured = FormatLimit(*limit);
  if (*limit < wanted) SetFailed(check, Symptom::kMemlockLow, check.measured);
}

// A user's manager keeps the limit that it was started with, so that a low one is told and fails
// nothing: an apply has done all that it can.
void JudgeUserManager(Check& check, std::uint64_t wanted, const Observed<std::string>& fact) {
  if (std::holds_alternative<Absent>(fact))
    return SetSkipped(check, "no manager of the user's runs");
  JudgeMemlock(check, wanted, fact);
  if (check.outcome != Outcome::kFail) return;
  check.symptom = Symptom::kNone;
  SetSkipped(check,
             fmt::format("the user's manager gives {} until it is started anew", check.measured));
}

void AddMemlock(std::vector<Check>& checks, const NodeName& node, std::uint64_t wanted,
                const NodeFacts* facts) {
  Check& session = checks.emplace_back(MakeMemlockCheck(node, kSession, wanted));
  if (facts == nullptr) {
    return SetCouldNotMeasure(session, Symptom::kNodeUnreachable,
                              fmt::format("{} could not be reached", node));
  }
  JudgeMemlock(session, wanted, FindValue(*facts, std::string(kSession.fact)));
  for (const LockContext& context : {kService, kUserService}) {
    const auto fact = facts->values.find(std::string(context.fact));
    if (fact == facts->values.end()) continue;  // not asked for
    Check& check = checks.emplace_back(MakeMemlockCheck(node, context, wanted));
    if (context.what == kUserService.what) {
      JudgeUserManager(check, wanted, fact->second);
    } else {
      JudgeMemlock(check, wanted, fact->second);
    }
  }
}

}  // namespace

std::vector<Check> CheckFacts(const ClusterSpec& cluster, const Fabric& fabric,
                              const ClusterFacts& facts, VerifyLevel up_to) {
  std::vector<Check> checks;
  const auto wanted_memlock = ReadWantedMemlock(cluster);
  const Rates rates = ListRates(fabric);
  const UsualLanes usual_lanes = FindUsualLanes(cluster, fabric, facts);
  for (const NodeSpec& node : cluster.nodes) {
    const auto known = facts.nodes.find(node.name);
    const NodeFacts* node_facts = known == facts.nodes.end() ? nullptr : &known->second;
    const auto unknown = [&](Check& check) {
      SetCouldNotMeasure(check, Symptom::kNodeUnreachable,
                         fmt::format("{} could not be reached", node.name));
    };
    if (const auto ports = fabric.ports.find(node.name); ports != fabric.ports.end()) {
      for (const RailPort& port : ports->second) {
        std::vector<Check> questions = ListPortChecks(port, FindRate(rates, port));
        if (node_facts != nullptr) {
          JudgePort(questions, port, FindRate(rates, port), cluster.FindHardware(node.hardware),
                    *node_facts);
          AskEthtool(cluster, usual_lanes, port, *node_facts, questions);
        } else {
          std::for_each(questions.begin(), questions.end(), unknown);
        }
        checks.insert(checks.end(), questions.begin(), questions.end());
      }
      if (node_facts != nullptr) {
        const std::vector<Check> devices =
            CheckDevices(cluster.FindHardware(node.hardware), ports->second, *node_facts,
                         up_to >= VerifyLevel::kRdma);
        checks.insert(checks.end(), devices.begin(), devices.end());
      }
    }
    if (wanted_memlock) AddMemlock(checks, node.name, *wanted_memlock, node_facts);
  }
  return checks;
}

}  // namespace reconciler
