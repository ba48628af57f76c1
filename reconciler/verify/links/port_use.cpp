#include "reconciler/verify/links/port_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/verify/links/device_facts.h"

namespace reconciler {
namespace {

Check MakeUseWarning(const RailPort& port, std::string what, Symptom symptom, std::string expected,
                     std::string measured) {
  return {.level = VerifyLevel::kFacts,
          .what = std::move(what),
          .from = port.node,
          .rail = port.rail,
          .outcome = Outcome::kWarn,
          .symptom = symptom,
          .expected = std::move(expected),
          .measured = std::move(measured)};
}

void CheckRoute(const RailPort& port, const NodeFacts& facts, std::vector<Check>& checks) {
  const auto* routes = Known(facts.network.default_route);
  if (routes == nullptr ||
      std::find(routes->begin(), routes->end(), port.netdev) == routes->end()) {
    return;
  }
  checks.push_back(MakeUseWarning(port, "default-route", Symptom::kDefaultRoute,
                                  "no default route over the fabric",
                                  fmt::format("a default route leads over {}", port.netdev)));
}

void CheckLease(const RailPort& port, const NodeFacts& facts, std::vector<Check>& checks) {
  const auto leases = facts.network.leases.find(port.netdev);
  if (leases == facts.network.leases.end()) return;
  checks.push_back(MakeUseWarning(
      port, "dhcp", Symptom::kLease, "no DHCP client on a port of the fabric",
      fmt::format("{} has {} from a DHCP server", port.netdev, Join(leases->second, ", "))));
}

// Where the rail's own address is missing, that check shows all that are there.
void CheckOthers(const RailPort& port, const LinkFact& link, const NodeFacts& facts,
                 std::vector<Check>& checks) {
  const auto own = std::find_if(link.ipv4.begin(), link.ipv4.end(),
                                [&](const Ipv4Prefix& one) { return Accepts(port, one); });
  if (own == link.ipv4.end()) return;
  const auto leases = facts.network.leases.find(port.netdev);
  std::vector<std::string> others;
  for (auto one = link.ipv4.begin(); one != link.ipv4.end(); ++one) {
    const bool is_lease = leases != facts.network.leases.end() &&
                          std::find(leases->second.begin(), leases->second.end(),
                                    ToString(one->address)) != leases->second.end();
    if (one != own && !is_lease) others.push_back(ToString(*one));
  }
  if (others.empty()) return;
  checks.push_back(
      MakeUseWarning(port, "other-addresses", Symptom::kAddressExtra,
                     fmt::format("{} has {} and no other address", port.netdev, ToString(*own)),
                     fmt::format("{} has {} too", port.netdev, Join(others, ", "))));
}

void CheckMaster(const RailPort& port, const LinkFact& link, const NodeFacts& facts,
                 std::vector<Check>& checks) {
  if (link.master.empty()) return;
  Check check =
      MakeUseWarning(port, "member", Symptom::kPortInBond, "ports that are on their own",
                     fmt::format("{} is a member of {}", port.netdev, MakePrintable(link.master)));
  for (const auto& [name, hca] : facts.hcas) {
    if (name.find("bond") == std::string::npos) continue;
    check.evidence.push_back(
        MakePrintable(fmt::format("{} stands for several ports (RoCE LAG)", name)));
  }
  checks.push_back(std::move(check));
}

int FindRpFilter(const NodeFacts& facts, const std::string& netdev) {
  int value = 0;
  for (const std::string& name : {std::string("all"), netdev}) {
    const auto found = facts.network.rp_filter.find(name);
    if (found != facts.network.rp_filter.end()) value = std::max(value, found->second);
  }
  return value;
}

// Ports of the fabric have subnets of their own, so that only what others set up is found.
void CheckSubnet(const RailPort& port, const NodeFacts& facts, std::vector<Check>& checks) {
  constexpr int kStrict = 1;
  if (!HasAddress(port)) return;
  for (const auto& [netdev, link] : facts.links) {
    if (netdev == port.netdev) continue;
    for (const Ipv4Prefix& prefix : link.ipv4) {
      if (!prefix.Overlaps(port.address) || prefix.address == port.address.address) continue;
      Check check = MakeUseWarning(
          port, "subnet", Symptom::kSubnetTwice, "one interface in each subnet of the fabric",
          fmt::format("{} has {}, and {} has {}", port.netdev, ToString(port.address),
                      MakePrintable(netdev), ToString(prefix)));
      if (FindRpFilter(facts, port.netdev) == kStrict) {
        check.evidence.push_back(
            fmt::format("rp_filter of {} is 1: what comes in over the other interface is dropped",
                        port.netdev));
      }
      checks.push_back(std::move(check));
      return;
    }
  }
}

// The port's place on the PCI bus, by the hardware profile; empty: the profile does not say.
std::string FindPciAddress(const Hardware* hardware, const RailPort& port) {
  const Cage* cage = hardware == nullptr ? nullptr : hardware->FindCage(port.cage);
  const auto twin = static_cast<std::size_t>(port.twin);
  return cage == nullptr || twin >= cage->twins.size() ? "" : cage->twins[twin].pci;
}

// Without an interface of its own an HCA is found by its place: rdma-core calls one that speaks
// InfiniBand ibp1s0f1
// (https://github.com/linux-rdma/rdma-core/blob/master/kernel-boot/rdma_rename.c).
const std::pair<const std::string, HcaFact>* FindHcaOfPort(const RailPort& port,
                                                           const Hardware* hardware,
                                                           const NodeFacts& facts) {
  if (const auto* hca = FindHca(facts, port.netdev)) return hca;
  const std::string pci = FindPciAddress(hardware, port);
  for (const auto& hca : facts.hcas) {
    const bool in_place = !pci.empty() && hca.second.device.slot == pci;
    if (hca.first == port.hca || in_place) return &hca;
  }
  return nullptr;
}

// RoCE alone is configured and measured here.
void CheckLinkLayer(const RailPort& port, const Hardware* hardware, const NodeFacts& facts,
                    std::vector<Check>& checks) {
  const auto* hca = FindHcaOfPort(port, hardware, facts);
  if (hca == nullptr || hca->second.link_layer != "InfiniBand") return;
  Check check = MakeUseWarning(port, "link-layer", Symptom::kInfiniBand, "Ethernet",
                               fmt::format("{}: InfiniBand", MakePrintable(hca->first)));
  check.outcome = Outcome::kFail;
  checks.push_back(std::move(check));
}

bool IsNamedByService(const NodeFacts& facts, const std::string& netdev) {
  const bool by_hook =
      std::any_of(facts.network.boot_hooks.begin(), facts.network.boot_hooks.end(),
                  [&](const BootHook& hook) { return hook.lines.contains(netdev); });
  if (by_hook) return true;
  const auto* services = Known(facts.network.boot_services);
  if (services == nullptr) return false;
  return std::any_of(services->begin(), services->end(), [&](const BootService& service) {
    return std::any_of(service.files.begin(), service.files.end(), [&](const BootFile& file) {
      return std::find(file.netdevs.begin(), file.netdevs.end(), netdev) != file.netdevs.end();
    });
  });
}

// What an apply of ours has set up has its file.
void CheckKept(const RailPort& port, const LinkFact& link, const NodeFacts& facts,
               std::vector<Check>& checks) {
  const Ledger* ledger = Known(facts.ledger);
  const bool is_ours = ledger != nullptr && !ledger->entries.empty();
  const auto* profiles = Known(facts.health.runtime_profiles);
  const bool* ifupdown = Known(facts.health.ifupdown);
  if (is_ours || !facts.network.managers_unclear.empty() || profiles == nullptr ||
      ifupdown == nullptr || *ifupdown ||
      std::find(link.ipv4.begin(), link.ipv4.end(), port.address) == link.ipv4.end() ||
      facts.network.leases.contains(port.netdev) || IsNamedByService(facts, port.netdev)) {
    return;
  }
  std::string measured;
  if (link.manager == LinkManager::kNone) {
    measured = fmt::format("neither networkd nor NetworkManager has {}", port.netdev);
  } else if (link.manager == LinkManager::kNetworkManager) {
    const auto found = std::find_if(profiles->begin(), profiles->end(), [&](const auto& profile) {
      return profile.netdev == port.netdev;
    });
    if (found == profiles->end()) return;
    measured = fmt::format("{} is set up by {}", port.netdev, found->path);
  } else {
    return;
  }
  checks.push_back(MakeUseWarning(
      port, "after-restart", Symptom::kNotKept,
      fmt::format("a file that sets {} at boot", ToString(port.address)), std::move(measured)));
}

}  // namespace

std::vector<Check> CheckPortUse(const ClusterSpec& cluster, const Fabric& fabric,
                                const ClusterFacts& facts) {
  std::vector<Check> checks;
  for (const NodeSpec& node : cluster.nodes) {
    const auto known = facts.nodes.find(node.name);
    const auto ports = fabric.ports.find(node.name);
    if (known == facts.nodes.end() || ports == fabric.ports.end()) continue;
    for (const RailPort& port : ports->second) {
      CheckLinkLayer(port, cluster.FindHardware(node), known->second, checks);
      const auto link = known->second.links.find(port.netdev);
      if (link == known->second.links.end()) continue;
      CheckRoute(port, known->second, checks);
      CheckLease(port, known->second, checks);
      CheckOthers(port, link->second, known->second, checks);
      CheckMaster(port, link->second, known->second, checks);
      CheckSubnet(port, known->second, checks);
      CheckKept(port, link->second, known->second, checks);
    }
  }
  return checks;
}

}  // namespace reconciler
