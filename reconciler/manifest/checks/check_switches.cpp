#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/manifest/checks/cross_check.h"
#include "reconciler/manifest/read/cabling_view.h"
#include "reconciler/manifest/read/node_view.h"
#include "reconciler/manifest/read/switch_view.h"
#include "reconciler/model/switch_legs.h"
#include "reconciler/yaml/message_text.h"

namespace reconciler {
namespace {

constexpr int kFrameOverhead = 22;  // bytes: Ethernet header, VLAN tag and checksum

// Where a port or a cage is used, to name the other place when it is used again.
using Used = std::map<std::pair<std::string, std::string>, Position>;

class SwitchChecker {
 public:
  SwitchChecker(const Value& document, ManifestErrors& errors)
      : document_(document),
        errors_(errors),
        nodes_(ViewNodes(document)),
        switches_(ViewSwitches(document)) {}

  void Run() {
    CheckNames();
    for (const SwitchSpec& one : switches_) {
      for (const SwitchPort& port : one.ports) CheckPort(one, port);
      for (const SwitchPort& uplink : one.uplinks) CheckUplink(one, uplink);
      CheckBreakout(one);
      CheckFrames(one);
    }
    if (errors_.Empty()) CheckAllPluggedIn();
    if (errors_.Empty()) CheckConnected();
  }

 private:
  void CheckNames() {
    std::map<std::string, Position> seen;
    for (const NodeView& node : nodes_) seen.emplace(node.name, node.name_position);
    for (const SwitchSpec& one : switches_) {
      const auto [first, fresh] = seen.emplace(one.name, one.position);
      if (fresh) continue;
      errors_.Add("manifest-name-taken", one.position,
                  fmt::format("the name {} of a switch stands twice, first at {}", Quoted(one.name),
                              errors_.Mark(first->second)),
                  "give every node and every switch a name of its own");
    }
  }

  void UsePort(const std::string& device, const std::string& port, Position position) {
    const auto [first, fresh] = used_.emplace(std::pair(device, port), position);
    if (fresh) return;
    errors_.Add("manifest-cable-twice", position,
                fmt::format("port {} of switch {} has two cables, the other at {}", port,
                            Quoted(device), errors_.Mark(first->second)),
                "a cable between switches is written at one of its ends only");
  }

  void CheckPort(const SwitchSpec& one, const SwitchPort& port) {
    UsePort(one.name, port.port, port.position);
    const NodeView* node = FindNode(nodes_, port.peer.node);
    if (node == nullptr && HasEmptyEntry(document_)) return;
    if (node == nullptr) {
      return errors_.Add(
          "manifest-unknown-name", port.peer.position,
          fmt::format("unknown node {} in ports of switch {}{}", Quoted(port.peer.node),
                      Quoted(one.name), FormatGuess(port.peer.node, ListNodeNames(nodes_))),
          FormatKnownHint(ListNodeNames(nodes_)));
    }
    const std::string cage = FindCageName(document_, *node->entry);
    if (cage != port.peer.cage) {
      return errors_.Add(
          "manifest-wrong-cage", port.peer.position,
          fmt::format("wanted cage {} of node {}, found {}", cage, Quoted(node->name),
                      port.peer.cage),
          "the node's cage, or the fabric's, defines where the cable to the switch is");
    }
    const auto [first, fresh] = plugged_.emplace(node->name, port.peer.position);
    if (fresh) return;
    errors_.Add("manifest-cable-twice", port.peer.position,
                fmt::format("cage {} of node {} has two cables, the other at {}", cage,
                            Quoted(node->name), errors_.Mark(first->second)),
                "a cage takes one cable");
  }

  void CheckUplink(const SwitchSpec& one, const SwitchPort& uplink) {
    UsePort(one.name, uplink.port, uplink.position);
    if (uplink.peer.node == one.name) {
      return errors_.Add("manifest-cable-to-itself", uplink.peer.position,
                         fmt::format("this uplink joins switch {} to itself", Quoted(one.name)),
                         "an uplink leads to another switch: PORT: SWITCH.PORT");
    }
    const bool known =
        std::any_of(switches_.begin(), switches_.end(),
                    [&](const SwitchSpec& other) { return other.name == uplink.peer.node; });
    if (!known) {
      std::vector<std::string> names;
      for (const SwitchSpec& other : switches_) names.push_back(other.name);
      return errors_.Add(
          "manifest-unknown-name", uplink.peer.position,
          fmt::format("unknown switch {} in uplinks of switch {}{}", Quoted(uplink.peer.node),
                      Quoted(one.name), FormatGuess(uplink.peer.node, names)),
          FormatKnownHint(names));
    }
    UsePort(uplink.peer.node, uplink.peer.cage, uplink.peer.position);
    linked_.emplace(one.name, uplink.peer.node);
    linked_.emplace(uplink.peer.node, one.name);
  }

  // Its own, and those at the far end of other switches' uplinks.
  std::set<std::string> ListPorts(const SwitchSpec& one) const {
    std::set<std::string> ports;
    for (const SwitchPort& port : one.ports) ports.insert(port.port);
    for (const SwitchPort& uplink : one.uplinks) ports.insert(uplink.port);
    for (const SwitchSpec& other : switches_) {
      for (const SwitchPort& uplink : other.uplinks) {
        if (uplink.peer.node == one.name) ports.insert(uplink.peer.cage);
      }
    }
    return ports;
  }

  // A breakout of a cage without ports would be a setting without effect.
  void CheckBreakout(const SwitchSpec& one) {
    const std::set<std::string> ports = ListPorts(one);
    for (const auto& [cage, text] : one.breakout) {
      std::vector<std::string> legs;
      std::copy_if(ports.begin(), ports.end(), std::back_inserter(legs),
                   [&name = cage](const std::string& port) { return IsLeg(port, name); });
      if (legs.empty()) {
        errors_.Add("manifest-no-effect", one.position,
                    fmt::format("breakout {} of switch {} has no effect: no cable is in a leg "
                                "of it",
                                Quoted(cage), Quoted(one.name)),
                    fmt::format("a leg's name begins with the cage's and goes on with no digit, "
                                "such as {0}-1 or {0}s0",
                                cage));
      } else if (const int most = ListLegs(text).count;
                 most > 0 && legs.size() > static_cast<std::size_t>(most)) {
        errors_.Add("manifest-breakout-too-small", one.position,
                    fmt::format("breakout {} of switch {} has {} ({}), and cables are in {}: {}",
                                Quoted(cage), Quoted(one.name),
                                FormatPlural(static_cast<std::size_t>(most), "leg", "legs"), text,
                                legs.size(), Join(legs, ", ")));
      }
    }
  }

  void CheckFrames(const SwitchSpec& one) {
    const Value* mtu = document_.At({"fabric", "mtu"});
    const std::int64_t packet =
        mtu != nullptr && mtu->AsInteger() != nullptr ? *mtu->AsInteger() : FabricSpec().mtu;
    if (one.l2mtu >= packet + kFrameOverhead) return;
    errors_.Add("manifest-frames-too-small", one.position,
                fmt::format("l2mtu {} of switch {} is too small: packets of {} bytes need at "
                            "least {}",
                            one.l2mtu, Quoted(one.name), packet, packet + kFrameOverhead),
                "9216 suits every mtu up to 9194");
  }

  void CheckAllPluggedIn() {
    const bool leaf_spine = ViewTopology(document_) == Topology::kLeafSpine;
    if (plugged_.empty() && !leaf_spine) return;  // only what the switch must have is said
    for (const NodeView& node : nodes_) {
      if (plugged_.contains(node.name)) continue;
      errors_.Add("manifest-not-connected", node.name_position,
                  fmt::format("node {} is in no port of any switch", Quoted(node.name)),
                  fmt::format("add its cable to a switch's ports, such as PORT: {}.{}", node.name,
                              FindCageName(document_, *node.entry)));
    }
  }

  void CheckConnected() {
    if (switches_.empty()) return;
    std::set<std::string> reached = {switches_.front().name};
    for (bool grew = true; grew;) {
      grew = false;
      for (const auto& [from, to] : linked_) {
        if (reached.contains(from)) grew |= reached.insert(to).second;
      }
    }
    for (const SwitchSpec& one : switches_) {
      if (reached.contains(one.name)) continue;
      return errors_.Add("manifest-not-connected", one.position,
                         fmt::format("no cable leads from switch {} to switch {}",
                                     Quoted(switches_.front().name), Quoted(one.name)),
                         "list the cables between the switches in uplinks");
    }
  }

  const Value& document_;
  ManifestErrors& errors_;
  std::vector<NodeView> nodes_;
  std::vector<SwitchSpec> switches_;
  Used used_;                                             // ports of switches
  std::map<std::string, Position> plugged_;               // nodes
  std::set<std::pair<std::string, std::string>> linked_;  // switches
};

}  // namespace

void CheckSwitches(const Value& document, ManifestErrors& errors) {
  const auto topology = ViewTopology(document);
  if (!topology) return;
  const Value* list = document.Find("switches");
  const std::size_t count = list != nullptr ? list->List().size() : 0;
  const Value* word = document.At({"fabric", "topology"});
  switch (*topology) {
    case Topology::kDirect:
    case Topology::kRing:
    case Topology::kLinks:
      if (list == nullptr) return;
      return errors.Add(
          "manifest-no-effect", list->position,
          *topology == Topology::kLinks
              ? "switches have no effect: the fabric is cables by links alone"
              : fmt::format("switches have no effect: topology {} has none", ToString(*topology)),
          "write topology: switch or topology: leaf-spine, or leave them out");
    case Topology::kSwitch:
      if (count > 1) {
        return errors.Add("manifest-switch-count", list->position,
                          fmt::format("wanted 1 switch for topology switch, found {}", count),
                          "several switches are topology: leaf-spine");
      }
      break;
    case Topology::kLeafSpine:
      if (count < 2) {
        return errors.Add(
            "manifest-switch-count", list != nullptr ? list->position : word->position,
            fmt::format("wanted at least 2 switches for topology leaf-spine, found {}", count),
            "describe them in switches: which node is in which port, and the cables between them");
      }
      break;
  }
  ManifestErrors own = errors.MakeEmpty();
  SwitchChecker(document, own).Run();
  errors.Add(own.TakeErrors());
}

}  // namespace reconciler
