#include "reconciler/fabric/found/locate_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::string_view kDriver = "mlx5_core";

// "0000:03:00.0"; other buses have other names.
bool IsPciAddress(std::string_view text) {
  constexpr std::string_view kForm = "0000:00:00.0";
  return text.size() == kForm.size() &&
         std::equal(text.begin(), text.end(), kForm.begin(), [](unsigned char c, char form) {
           return form == '0' ? std::isxdigit(c) != 0 : static_cast<char>(c) == form;
         });
}

// What a manifest may call an interface or an RDMA device. The kernel takes other names too, which
// would have to be quoted in files.
bool IsPlainName(std::string_view name) {
  const auto is_alphanumeric = [](unsigned char c) { return std::isalnum(c) != 0; };
  return !name.empty() && is_alphanumeric(static_cast<unsigned char>(name.front())) &&
         std::all_of(name.begin(), name.end(), [&](unsigned char c) {
           return is_alphanumeric(c) || c == '_' || c == '.' || c == '-';
         });
}

std::string_view GetDomain(std::string_view pci) { return pci.substr(0, pci.find(':')); }

// A function of a ConnectX that has an interface.
struct Function {
  Twin twin = {};
  std::string port_name = {};
  std::string card = {};  // the GUID of the whole HCA; empty: not known
};

// Of a port of the profile: what was found, and how.
struct Place {
  std::string cage = {};
  Twin profile = {};
  const Function* function = nullptr;  // not for a port found by name that is no ConnectX
  bool found = false;
  FoundBy by = FoundBy::kName;
};

class Locator {
 public:
  Locator(const Hardware& hardware, const NodeFacts& facts) : facts_(facts) {
    for (const Cage& cage : hardware.cages) {
      for (const Twin& twin : cage.twins) places_.push_back({.cage = cage.name, .profile = twin});
    }
  }

  NodePorts Run() {
    FindByName();
    if (std::all_of(places_.begin(), places_.end(), [](const Place& one) { return one.found; })) {
      return List();
    }
    ListFunctions();
    FindByPciAddress();
    std::set<std::string> cages;
    for (const Place& place : places_) cages.insert(place.cage);
    for (const std::string& cage : cages) FindByPortName(cage);
    if (!unclear_.empty() || !AreOfOneCard()) GiveUp();
    return List();
  }

 private:
  void FindByName() {
    for (Place& place : places_) place.found = facts_.links.contains(place.profile.netdev);
  }

  void ListFunctions() {
    std::map<std::string, const std::pair<const std::string, HcaFact>*> hcas;  // by interface
    for (const auto& hca : facts_.hcas) hcas.emplace(hca.second.netdev, &hca);
    for (const auto& [pci, netdev] : facts_.network.pci) {
      const auto link = facts_.links.find(netdev);
      if (link == facts_.links.end() || link->second.driver != kDriver) continue;
      if (!IsPciAddress(pci) || !IsPlainName(netdev)) continue;
      Function function{.twin = {.netdev = netdev, .pci = pci},
                        .port_name = link->second.phys_port_name};
      if (const auto hca = hcas.find(netdev); hca != hcas.end()) {
        if (IsPlainName(hca->second->first)) function.twin.hca = hca->second->first;
        function.card = hca->second->second.system_guid;
      }
      functions_.push_back(std::move(function));
    }
    for (Place& place : places_) {
      if (place.found) place.function = FindFunction(place.profile.netdev);
    }
  }

  const Function* FindFunction(std::string_view netdev) const {
    const auto found = std::find_if(functions_.begin(), functions_.end(),
                                    [&](const Function& one) { return one.twin.netdev == netdev; });
    return found == functions_.end() ? nullptr : &*found;
  }

  bool IsTaken(const Function& function) const {
    return std::any_of(places_.begin(), places_.end(),
                       [&](const Place& place) { return place.function == &function; });
  }

  void FindByPciAddress() {
    for (Place& place : places_) {
      if (place.found) continue;
      const auto function =
          std::find_if(functions_.begin(), functions_.end(), [&](const Function& one) {
            return one.twin.pci == place.profile.pci &&
                   (one.port_name.empty() || one.port_name == place.cage) && !IsTaken(one);
          });
      if (function != functions_.end()) Take(*function, FoundBy::kPciAddress, place);
    }
  }

  static void Take(const Function& function, FoundBy by, Place& place) {
    place.function = &function;
    place.found = true;
    place.by = by;
  }

  // Of another card than a port that is found: a port of that name, and not this one.
  bool IsOfOtherCard(const Function& function) const {
    return std::any_of(places_.begin(), places_.end(), [&](const Place& place) {
      return place.function != nullptr && place.by != FoundBy::kPortName &&
             AreOfTwoCards(*place.function, function);
    });
  }

  static bool AreOfTwoCards(const Function& a, const Function& b) {
    return !a.card.empty() && !b.card.empty() && a.card != b.card;
  }

  std::vector<Place*> ListMissing(const std::string& cage) {
    std::vector<Place*> missing;
    for (Place& place : places_) {
      if (!place.found && place.cage == cage) missing.push_back(&place);
    }
    return missing;
  }

  // Profile and functions are both in the order of their PCI addresses.
  void FindByPortName(const std::string& cage) {
    const std::vector<Place*> missing = ListMissing(cage);
    std::vector<const Function*> candidates;
    for (const Function& one : functions_) {
      if (one.port_name == cage && !IsTaken(one) && !IsOfOtherCard(one)) candidates.push_back(&one);
    }
    if (missing.empty() || candidates.empty()) return;
    if (candidates.size() != missing.size()) return AddUnclear(cage, missing, candidates);
    for (std::size_t i = 0; i < missing.size(); ++i) {
      Take(*candidates[i], FoundBy::kPortName, *missing[i]);
    }
  }

  void AddUnclear(const std::string& cage, const std::vector<Place*>& missing,
                  const std::vector<const Function*>& candidates) {
    UnclearPorts unclear{.cage = cage};
    for (const Place* place : missing) unclear.missing.push_back(place->profile);
    for (const Function* function : candidates) unclear.candidates.push_back(function->twin);
    unclear_.push_back(std::move(unclear));
  }

  // Functions share a PCI device exactly where the profile's do, and twins are in different
  // domains.
  static bool FitTogether(const Place& a, const Place& b) {
    const Twin& one = a.function->twin;
    const Twin& other = b.function->twin;
    const bool share = one.PciDevice() == other.PciDevice();
    if (share != (a.profile.PciDevice() == b.profile.PciDevice())) return false;
    if (a.cage == b.cage && GetDomain(one.pci) == GetDomain(other.pci)) return false;
    return !AreOfTwoCards(*a.function, *b.function);
  }

  // Whether what only a port's name found fits to all that was found.
  bool AreOfOneCard() const {
    for (const Place& place : places_) {
      if (place.function == nullptr || place.by != FoundBy::kPortName) continue;
      for (const Place& other : places_) {
        if (other.function == nullptr || &other == &place) continue;
        if (!FitTogether(place, other)) return false;
      }
    }
    return true;
  }

  // What only a port's name found is unclear: where one cage shows that there are two cards, a port
  // that seems to be the only one may be of the other.
  void GiveUp() {
    std::map<std::string, std::vector<Place*>> cages;
    for (Place& place : places_) {
      if (place.function == nullptr || place.by != FoundBy::kPortName) continue;
      cages[place.cage].push_back(&place);
    }
    for (const auto& [cage, places] : cages) {
      std::vector<const Function*> candidates;
      for (const Place* place : places) candidates.push_back(place->function);
      AddUnclear(cage, places, candidates);
      for (Place* place : places) {
        place->function = nullptr;
        place->found = false;
      }
    }
  }

  NodePorts List() {
    NodePorts ports;
    for (const Place& place : places_) {
      if (!place.found) continue;
      LocatedPort located{
          .cage = place.cage, .profile = place.profile, .found = place.profile, .by = place.by};
      if (place.by != FoundBy::kName) {
        located.found = place.function->twin;
        if (located.found.hca.empty()) located.found.hca = place.profile.hca;
      }
      ports.located.push_back(std::move(located));
    }
    std::sort(unclear_.begin(), unclear_.end(),
              [](const UnclearPorts& a, const UnclearPorts& b) { return a.cage < b.cage; });
    ports.unclear = std::move(unclear_);
    return ports;
  }

  const NodeFacts& facts_;
  std::vector<Place> places_;
  std::vector<Function> functions_ = {};  // by PCI address
  std::vector<UnclearPorts> unclear_ = {};
};

// The profile with what was found in place of its ports; nullopt: all have its names.
std::optional<Hardware> FindOwnHardware(const Hardware& profile, const NodeFacts& facts) {
  std::optional<Hardware> own;
  for (const LocatedPort& port : LocatePorts(profile, facts).located) {
    if (port.by == FoundBy::kName) continue;
    if (!own) own = profile;
    for (Cage& cage : own->cages) {
      std::replace(cage.twins.begin(), cage.twins.end(), port.profile, port.found);
    }
  }
  return own;
}

void RenamePort(const ClusterSpec& spec, RailPort& port) {
  const auto own = spec.own_hardware.find(port.node);
  const Cage* cage = own == spec.own_hardware.end() ? nullptr : own->second.FindCage(port.cage);
  const auto twin = static_cast<std::size_t>(port.twin);
  if (cage == nullptr || twin >= cage->twins.size()) return;
  port.netdev = cage->twins[twin].netdev;
  port.hca = cage->twins[twin].hca;
}

// The places of ports by name, since both have the same ones in the same order.
void RenameNetdevs(const Hardware& profile, const Hardware& own,
                   std::vector<std::string>& netdevs) {
  std::map<std::string, std::string> names;
  for (std::size_t i = 0; i < profile.cages.size(); ++i) {
    for (std::size_t k = 0; k < profile.cages[i].twins.size(); ++k) {
      names[profile.cages[i].twins[k].netdev] = own.cages[i].twins[k].netdev;
    }
  }
  for (std::string& netdev : netdevs) {
    if (const auto name = names.find(netdev); name != names.end()) netdev = name->second;
  }
}

std::string FormatPlace(const LocatedPort& port) {
  return port.by == FoundBy::kPciAddress
             ? fmt::format("{} is {} here (PCI address {})", port.profile.netdev, port.found.netdev,
                           port.found.pci)
             : fmt::format("{} is {} here (driver {}, port {})", port.profile.netdev,
                           port.found.netdev, kDriver, port.cage);
}

std::set<std::string> ListUsed(const ClusterSpec& spec, const Fabric& fabric,
                               const NodeName& node) {
  std::set<std::string> used;
  if (const auto ports = fabric.ports.find(node); ports != fabric.ports.end()) {
    for (const RailPort& port : ports->second) used.insert(port.netdev);
  }
  const auto unused = fabric.unused_netdevs.find(node);
  if (spec.fabric.unused_cages == UnusedCages::kDown && unused != fabric.unused_netdevs.end()) {
    used.insert(unused->second.begin(), unused->second.end());
  }
  return used;
}

}  // namespace

NodePorts LocatePorts(const Hardware& hardware, const NodeFacts& facts) {
  return Locator(hardware, facts).Run();
}

bool AreElsewhere(const NodePorts& ports) {
  return std::any_of(ports.located.begin(), ports.located.end(),
                     [](const LocatedPort& port) { return port.by != FoundBy::kName; });
}

LocatedCluster::LocatedCluster(const ClusterSpec& spec, const Fabric& fabric,
                               const ClusterFacts& facts)
    : spec_(&spec), fabric_(&fabric) {
  std::map<NodeName, Hardware> found;
  for (const NodeSpec& node : spec.nodes) {
    const auto read = facts.nodes.find(node.name);
    const Hardware* profile = spec.FindHardware(node);
    if (read == facts.nodes.end() || profile == nullptr) continue;
    auto own = FindOwnHardware(*profile, read->second);
    if (own) found[node.name] = std::move(*own);
  }
  if (found.empty()) return;
  own_ = Own{spec, fabric};
  for (auto& [node, hardware] : found) {
    RenameNetdevs(*spec.FindHardware(*spec.FindNode(node)), hardware,
                  own_->fabric.unused_netdevs[node]);
    own_->spec.own_hardware[node] = std::move(hardware);
  }
  for (auto& [node, ports] : own_->fabric.ports) {
    for (RailPort& port : ports) RenamePort(own_->spec, port);
  }
  for (Segment& segment : own_->fabric.segments) {
    for (RailPort& port : segment.ports) RenamePort(own_->spec, port);
  }
}

std::vector<Diagnostic> DiagnoseLocated(const ClusterSpec& spec, const Fabric& fabric,
                                        const ClusterFacts& facts) {
  std::vector<Diagnostic> diagnostics;
  for (const NodeSpec& node : spec.nodes) {
    const auto read = facts.nodes.find(node.name);
    const Hardware* profile = spec.FindHardware(node);
    if (read == facts.nodes.end() || profile == nullptr) continue;
    const std::set<std::string> used = ListUsed(spec, fabric, node.name);
    std::vector<std::string> places;
    for (const LocatedPort& port : LocatePorts(*profile, read->second).located) {
      if (port.by == FoundBy::kName || !used.contains(port.profile.netdev)) continue;
      places.push_back(FormatPlace(port));
    }
    if (places.empty()) continue;
    diagnostics.push_back({.code = "fabric-ports-elsewhere",
                           .message = Join(places, "; "),
                           .where = spec.Mark(node.position),
                           .subject = profile->name,
                           .nodes = {node.name}});
  }
  return diagnostics;
}

}  // namespace reconciler
