#include "plugins/netplan/adopted_unit.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/claims.h"
#include "plugins/netplan/adopt/owner_files.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/adopt/port_owner.h"
#include "plugins/netplan/adopt/unit.h"
#include "plugins/netplan/intent.h"
#include "plugins/netplan/link_resources.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr const char* kNotInAdopt = "remove it from adopt";

void SetMatched(const PluginInput& input, const std::string& text,
                const std::vector<std::string>& netdevs, Adoption& adoption) {
  const PortDefinition definition = ReadUnit(text).port;
  for (const std::string& netdev : ListPortsOfUnit(input, text)) {
    adoption.ports.push_back(definition);
    adoption.ports.back().netdev = netdev;
    const bool is_ours = std::find(netdevs.begin(), netdevs.end(), netdev) != netdevs.end();
    (is_ours ? adoption.ours : adoption.others).push_back(netdev);
  }
}

// "take eth0 out of its [Match], as with Name=enp1s0f1np1".
std::string AdviseToNarrow(const std::string& netdevs, const Adoption& adoption) {
  return fmt::format("take {} out of its [Match], as with Name={}", netdevs,
                     MakePrintable(Join(adoption.ours, " ")));
}

void CheckMatched(Adoption& adoption) {
  if (!adoption.others.empty()) {
    const std::string names = MakePrintable(Join(adoption.others, ", "));
    Refuse(fmt::format("it matches {} too, which is no port of the fabric", names),
           AdviseToNarrow(names, adoption), adoption);
  }
  if (adoption.ours.empty()) {
    Refuse("it matches none of this node's ports of the fabric", kNotInAdopt, adoption);
  }
}

// What else networkd would take for it: a file of its name elsewhere that it hides, and its
// drop-ins.
void CheckBesides(const NodeFacts& facts, Adoption& adoption) {
  const std::string name = GetBasename(adoption.entry.path);
  for (const std::string& path : ListDropInsOf(facts, name)) {
    Refuse(fmt::format("{} adds settings of its own to it", path),
           fmt::format("write into it what {} says, and remove that file", path), adoption);
  }
  for (const std::string& path : ListHiddenUnits(facts, adoption.entry.path)) {
    Refuse(fmt::format("{} is there too", path), fmt::format("move {} away", path), adoption);
  }
}

void CheckUnit(const PluginInput& input, const FileState& unit, Adoption& adoption) {
  // The last word counts: what leads to the node comes before all else.
  const auto decides = [&](const std::string& netdev) {
    return IsReadBeforeOurs(adoption.entry.path, netdev);
  };
  if (std::none_of(adoption.ours.begin(), adoption.ours.end(), decides)) {
    Refuse("networkd reads our file before it", kNotInAdopt, adoption);
  }
  if (const std::string master = ReadUnit(unit.content).master; !master.empty()) {
    Refuse(fmt::format("it makes its ports members of {}", MakePrintable(master)),
           fmt::format("take that out of it, and remove what makes {}", MakePrintable(master)),
           adoption);
  }
  if (IsUnmanaging(unit.content)) {
    Refuse("it says Unmanaged=yes, so that another program configures its ports",
           "find that program and stop it, then remove the file", adoption);
  }
  CheckMatched(adoption);
  if (ReadForeignTree(input.facts, {}).renderer != Renderer::kNetworkd) {
    Refuse("the node's ports of the fabric are NetworkManager's, which reads no unit of networkd",
           kNotInAdopt, adoption);
  }
  CheckBesides(input.facts, adoption);
}

// What leads to the node stays with whoever configures it.
void CheckLeadingLink(const Protection& protection, Adoption& adoption) {
  for (const PortDefinition& port : adoption.ports) {
    const auto carries = protection.carries.find(port.netdev);
    if (carries == protection.carries.end()) continue;
    Refuse(fmt::format("it matches {} too, which {}", port.netdev, carries->second),
           adoption.ours.empty()
               ? kNotInAdopt
               : fmt::format("{}, and leave another file in effect that configures {}",
                             AdviseToNarrow(port.netdev, adoption), port.netdev),
           adoption);
    return;
  }
}

}  // namespace

Adoption JudgeUnit(const PluginInput& input, const AdoptEntry& entry,
                   const std::vector<std::string>& netdevs, const Protection& protection) {
  Adoption adoption{.entry = entry};
  const Observed<FileState> observed = FindFile(input.facts, entry.path);
  const FileState* file = Known(observed);
  if (file == nullptr) return adoption;
  adoption.is_there = true;
  SetMatched(input, file->content, netdevs, adoption);
  CheckUnit(input, *file, adoption);
  CheckDigest(*file, adoption);
  CheckLeadingLink(protection, adoption);
  return adoption;
}

std::vector<AdoptEntry> ListClaimingUnits(const PluginInput& input,
                                          const std::vector<std::string>& netdevs) {
  const Renderer renderer = ReadForeignTree(input.facts, {}).renderer;
  std::vector<AdoptEntry> entries;
  if (renderer != Renderer::kNetworkd) return entries;
  for (const Claim& claim : FindManagerClaims(input.facts, renderer, netdevs, {}).claims) {
    const Observed<FileState> file = FindFile(input.facts, claim.path);
    if (Known(file) == nullptr || !CanNameUnit(claim.path)) continue;
    entries.push_back({claim.path, ComputeSha256Hex(Known(file)->content)});
  }
  return entries;
}

std::vector<Action> RevertToUnit(const PluginInput& input, const Adoption& adoption) {
  std::vector<Action> revert = {ReloadFiles(Renderer::kNetworkd)};
  for (const std::string& netdev : adoption.ours) {
    const LinkFact* link = FindLink(input, netdev);
    if (link == nullptr || link->mtu == 0) continue;
    for (RunCommand& command : MakeLinkRevertCommands(input.facts, netdev, *link)) {
      revert.emplace_back(std::move(command));
    }
  }
  return revert;
}

std::vector<std::string> ListPortsOfUnit(const PluginInput& input, const std::string& text) {
  std::vector<std::string> netdevs;
  for (const auto& [netdev, link] : input.facts.links) {
    if (IsUnitAbout(text, netdev, link)) netdevs.push_back(netdev);
  }
  for (const std::string& netdev : ListCageNetdevs(input)) {
    const bool is_gone = FindLink(input, netdev) == nullptr;
    if (is_gone && IsUnitAbout(text, netdev, {})) netdevs.push_back(netdev);
  }
  return netdevs;
}

std::vector<RunCommand> ActivateUnit(const PluginInput& input, const std::string& text) {
  std::vector<RunCommand> commands = {ReloadFiles(Renderer::kNetworkd)};
  for (const std::string& netdev : ListPortsOfUnit(input, text)) {
    if (FindLink(input, netdev) == nullptr) continue;
    const PortOwner owner = FindForeignOwner(input.facts, netdev);
    if (!owner.path.empty() || !owner.unclear.empty()) continue;
    RunCommand activate = Reconfigure(Renderer::kNetworkd, netdev);
    activate.id.clear();  // each prune has its own ports
    activate.sets = "/sys/class/net/" + netdev;
    commands.push_back(std::move(activate));
  }
  return commands;
}

}  // namespace reconciler::plugins::netplan
