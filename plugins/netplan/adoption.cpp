#include "plugins/netplan/adoption.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "plugins/netplan/adopt/claims.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/adopt/references.h"
#include "plugins/netplan/adopted_profile.h"
#include "plugins/netplan/adopted_unit.h"
#include "plugins/netplan/intent.h"
#include "plugins/netplan/live_master.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/link_local.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr const char* kDropEntry = "remove it from adopt";

bool IsIn(const std::string& word, const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view NameRenderer(Renderer renderer) {
  return renderer == Renderer::kNetworkd ? "networkd" : "NetworkManager";
}

// A file that NetworkManager writes is adopted by the name of the profile in it.
std::string AdviseToNameProfile(const PluginInput& input, const std::string& path,
                                const std::string& content) {
  const auto held = ReadHeldProfile(path, content);
  const bool is_used = ReadForeignTree(input.facts, {}).renderer == Renderer::kNetworkManager;
  if (!held || !held->besides.empty() || !is_used) return {};
  return fmt::format("name it in adopt as `nm_profile: {}`", NameProfile(held->profile));
}

void CheckText(const PluginInput& input, const std::optional<NetplanDefinitions>& text,
               const std::string& content, Adoption& adoption) {
  const std::string profile = AdviseToNameProfile(input, adoption.entry.path, content);
  if (!text) {
    Refuse("it is no netplan file", kDropEntry, adoption);
  } else if (!profile.empty()) {
    Refuse("it keeps a profile of NetworkManager", profile, adoption);
  } else if (!text->unsupported.empty()) {
    Refuse(fmt::format("it has {}, which our file cannot express", text->unsupported),
           "move that to another file, or remove it from adopt", adoption);
  }
}

void CheckMasters(const PluginInput& input, const NetplanDefinitions& text, const Masters& masters,
                  const std::vector<std::string>& netdevs, Adoption& adoption) {
  for (const MasterDefinition& master : text.masters) {
    const std::string name = MakePrintable(master.name);
    if (!masters.contains(master.name)) {
      Refuse(fmt::format("it has '{}', which our file cannot express", master.type),
             CanNameMaster(master.name)
                 ? fmt::format("add {{master: {}, nodes: [{}]}} to adopt, which dissolves it, or "
                               "remove the file from adopt",
                               name, input.node.name)
                 : std::string(kDropEntry),
             adoption);
      continue;
    }
    adoption.masters.push_back(master.name);
    const std::string in_use = ExplainMasterInUse(input, master, netdevs);
    if (!in_use.empty()) {
      Refuse(in_use, fmt::format("take that from {}, or remove {} from adopt", name, name),
             adoption);
    }
    const std::string_view manager = NameRenderer(ReadForeignTree(input.facts, {}).renderer);
    if (!master.renderer.empty() && master.renderer != manager) {
      Refuse(fmt::format("{} is {}'s, and the ports of the fabric are {}'s", name,
                         MakePrintable(master.renderer), manager),
             kDropEntry, adoption);
    }
  }
}

// What leads to the node stays with whoever configures it.
void CheckLeading(const Protection& protection, Adoption& adoption) {
  std::vector<std::string> netdevs = adoption.masters;
  for (const PortDefinition& port : adoption.ports) netdevs.push_back(port.netdev);
  for (const std::string& netdev : netdevs) {
    const auto carries = protection.carries.find(netdev);
    if (carries == protection.carries.end()) continue;
    Refuse(fmt::format("it configures {} too, which {}", netdev, carries->second),
           fmt::format("move what it says of {} to another file and leave it in effect", netdev),
           adoption);
    return;
  }
}

// What leads to the node, and what is no plain definition, has a reason of its own.
void CheckPorts(const PluginInput& input, const Protection& protection, Adoption& adoption) {
  const std::vector<std::string> of_cages = ListCageNetdevs(input);
  std::vector<std::string> foreign;
  bool all_plain = true;
  for (const PortDefinition& port : adoption.ports) {
    const bool known = IsIn(port.netdev, adoption.ours) || IsIn(port.netdev, of_cages);
    const bool has_reason = !port.is_plain || protection.carries.contains(port.netdev);
    if (!known && !has_reason) foreign.push_back(MakePrintable(port.netdev));
    all_plain &= port.is_plain;
  }
  if (!foreign.empty()) {
    const std::string names = Join(foreign, ", ");
    Refuse(fmt::format("it configures {} too, which is no port of a cage", names),
           fmt::format("move what it says of {} to another file", names), adoption);
  } else if (adoption.ours.empty() && all_plain) {
    Refuse("it configures none of this node's ports of the fabric", kDropEntry, adoption);
  }
}

void SetPorts(const std::vector<PortDefinition>& ports, const std::vector<std::string>& netdevs,
              Adoption& adoption) {
  adoption.ports = ports;
  for (const PortDefinition& port : ports) {
    (IsIn(port.netdev, netdevs) ? adoption.ours : adoption.others).push_back(port.netdev);
  }
}

Adoption JudgeFile(const PluginInput& input, const AdoptEntry& entry, const Masters& masters,
                   const std::vector<std::string>& netdevs, const Protection& protection) {
  Adoption adoption{.entry = entry};
  const Observed<FileState> observed = FindFile(input.facts, entry.path);
  const FileState* file = Known(observed);
  if (file == nullptr) return adoption;
  adoption.is_there = true;
  const std::optional<NetplanDefinitions> text = ReadDefinitions(file->content, entry.path);
  if (text) SetPorts(text->ports, netdevs, adoption);
  // The last word counts: what leads to the node comes before all else.
  if (text) CheckPorts(input, protection, adoption);
  CheckText(input, text, file->content, adoption);
  if (text) CheckMasters(input, *text, masters, netdevs, adoption);
  CheckOtherFolders(input.facts, adoption);
  CheckDigest(*file, adoption);
  CheckLeading(protection, adoption);
  return adoption;
}

// Behind what was said before.
void RefuseLast(std::string why, std::string next_step, Adoption& adoption) {
  if (adoption.why_not.empty()) {
    Refuse(std::move(why), std::move(next_step), adoption);
  } else {
    adoption.besides.push_back(std::move(why));
  }
}

// Why `renderer` of its own keeps a file from being adopted, where no other file says the same:
// interfaces of others, the way to the node among them, would get another manager at the next boot,
// and so would our ports.
void CheckRendererOf(const NetplanDefinitions& text, Renderer now, Renderer then,
                     Adoption& adoption) {
  const auto own =
      std::find_if(adoption.ports.begin(), adoption.ports.end(), [&](const PortDefinition& port) {
        return !port.renderer.empty() && port.renderer != NameRenderer(then);
      });
  const bool decides = now != then && !text.renderer.empty();
  if (!decides && own == adoption.ports.end()) return;
  const std::string renderer =
      MakePrintable(decides ? std::string(NameRenderer(now)) : own->renderer);
  // That of some ports must not become that of all interfaces.
  const std::string advice =
      decides ? fmt::format(
                    "write `network: {{version: 2, renderer: {}}}` to a file of its own, "
                    "such as /etc/netplan/90-renderer.yaml",
                    renderer)
              : fmt::format("take 'renderer: {}' of {} out of it", renderer,
                            MakePrintable(own->renderer_of));
  RefuseLast(fmt::format("no other netplan file says 'renderer: {}' as it does", renderer), advice,
             adoption);
}

void CheckRenderer(const PluginInput& input, std::vector<Adoption>& adoptions) {
  const Renderer now = ReadForeignTree(input.facts, {}).renderer;
  const std::set<std::string> adopted = ListAdopted(adoptions);
  for (Adoption& adoption : adoptions) {
    const AdoptKind kind = GetKind(adoption.entry);
    const bool is_file = kind == AdoptKind::kFile || kind == AdoptKind::kKeptProfile;
    if (!is_file || !adoption.is_there) continue;
    std::set<std::string> gone = adopted;
    gone.insert(adoption.entry.path);
    const Renderer then = ReadForeignTree(input.facts, {}, {}, gone).renderer;
    const FileState file = *Known(FindFile(input.facts, adoption.entry.path));
    const auto text = ReadDefinitions(file.content, adoption.entry.path);
    if (text) CheckRendererOf(*text, now, then, adoption);
  }
}

bool IsLinkLocalPort(const PluginInput& input, const std::string& netdev) {
  const std::vector<RailPort>& ports = GetPorts(input.fabric, input.node.name);
  return std::any_of(ports.begin(), ports.end(), [&](const RailPort& port) {
    return IsLinkLocal(port) && port.netdev == netdev;
  });
}

// Our file has it too: that of IPv6 under NetworkManager, and both on a link-local rail.
void KeepLinkLocal(const PluginInput& input, std::vector<Adoption>& adoptions) {
  const bool by_network_manager =
      ReadForeignTree(input.facts, {}).renderer == Renderer::kNetworkManager;
  for (Adoption& adoption : adoptions) {
    for (PortDefinition& port : adoption.ports) {
      const bool link_local = IsLinkLocalPort(input, port.netdev);
      if (by_network_manager || link_local) std::erase(port.lost, kIpv6LinkLocal);
      if (link_local) port.ipv4_link_local = std::erase(port.lost, "IPv4 link-local") > 0;
    }
  }
}

// netplan would refuse all files where nothing defines what a VLAN of one of them is on.
void CheckReferences(const PluginInput& input, const std::set<std::string>& left,
                     const std::set<std::string>& adopted, Adoption& adoption) {
  const auto needed = FindDanglingReference(input.facts, left, adopted);
  if (!needed) return;
  const std::string name = MakePrintable(needed->name);
  const std::string netdev = MakePrintable(needed->netdev);
  Refuse(fmt::format("{} puts {} on {}, which no other file defines", needed->path, name, netdev),
         fmt::format("take {} out of {}, or remove {} from adopt", name, needed->path,
                     adoption.entry.path),
         adoption);
}

// Its ports that nothing defines without it. Under NetworkManager our file does not have those that
// stay down.
std::set<std::string> ListLeftUndefined(const PluginInput& input, Renderer renderer,
                                        const Adoption& adoption) {
  std::set<std::string> left(adoption.others.begin(), adoption.others.end());
  left.insert(adoption.masters.begin(), adoption.masters.end());
  if (renderer != Renderer::kNetworkManager) return left;
  for (const std::string& netdev : ListDownNetdevs(input)) {
    if (IsIn(netdev, adoption.ours)) left.insert(netdev);
  }
  return left;
}

// What another file configures as well would be that file's alone.
void CheckOtherFiles(const PluginInput& input, std::vector<Adoption>& adoptions) {
  const std::set<std::string> adopted = ListAdopted(adoptions);
  for (Adoption& adoption : adoptions) {
    if (!adopted.contains(adoption.entry.path)) continue;
    std::vector<std::string> left = adoption.others;
    left.insert(left.end(), adoption.masters.begin(), adoption.masters.end());
    const ForeignTree rest = ReadForeignTree(input.facts, left, {}, adopted);
    if (rest.claims.empty()) {
      CheckReferences(input, ListLeftUndefined(input, rest.renderer, adoption), adopted, adoption);
      continue;
    }
    const Claim& claim = rest.claims.front();
    Refuse(fmt::format("{} configures {} as well", claim.path, Join(claim.netdevs, ", ")),
           fmt::format("adopt {} too, or remove {} from it", claim.path, Join(claim.netdevs, ", ")),
           adoption);
  }
}

bool SaysTheSame(const PortDefinition& definition, const RailPort& port) {
  if (IsLinkLocal(port)) {
    return definition.mtu == fmt::format("{}", port.mtu) && definition.addresses.empty() &&
           definition.ipv4_link_local;
  }
  return definition.mtu == fmt::format("{}", port.mtu) &&
         definition.addresses == std::vector<std::string>{ToString(port.address)};
}

void AddNew(const std::vector<std::string>& words, std::vector<std::string>& list) {
  for (const std::string& word : words) {
    if (!IsIn(word, list)) list.push_back(word);
  }
}

// All that must be changed in a file comes at once, and not one thing with each plan.
void NameAllReasons(std::vector<Adoption>& adoptions) {
  for (Adoption& adoption : adoptions) {
    const bool is_file = GetKind(adoption.entry) == AdoptKind::kFile;
    std::vector<std::string> others;
    AddNew(adoption.besides, others);
    std::erase(others, adoption.why_not);
    if (!is_file || others.empty() || adoption.next_step == kDropEntry) continue;
    adoption.next_step += "; also: " + Join(others, "; ");
  }
}

std::vector<AdoptEntry> ListClaimingFiles(const PluginInput& input,
                                          const std::vector<std::string>& netdevs) {
  std::vector<AdoptEntry> entries;
  for (const Claim& claim : ReadForeignTree(input.facts, netdevs).claims) {
    const Observed<FileState> file = FindFile(input.facts, claim.path);
    const bool is_file = claim.kind == ClaimKind::kNetplan;
    if (!is_file || Known(file) == nullptr || !CanBeNamed(claim.path)) continue;
    entries.push_back({claim.path, ComputeSha256Hex(Known(file)->content)});
  }
  return entries;
}

// The bonds and bridges of these files.
Masters ListNameable(const PluginInput& input, const std::vector<AdoptEntry>& entries) {
  Masters masters;
  for (const AdoptEntry& entry : entries) {
    const Observed<FileState> file = FindFile(input.facts, entry.path);
    if (GetKind(entry) != AdoptKind::kFile || Known(file) == nullptr) continue;
    const auto text = ReadDefinitions(Known(file)->content, entry.path);
    for (const MasterDefinition& one : text ? text->masters : std::vector<MasterDefinition>()) {
      if (CanNameMaster(one.name)) masters.insert(one.name);
    }
  }
  return masters;
}

std::string FormatEntry(const AdoptEntry& entry) {
  switch (GetKind(entry)) {
    case AdoptKind::kFile:
      return "file: " + entry.path;
    case AdoptKind::kProfile:
    case AdoptKind::kKeptProfile:
      return "nm_profile: " + entry.profile;
    case AdoptKind::kUnit:
      return "networkd_unit: " + entry.path;
  }
  return {};
}

// What a person may do instead of adopting it.
std::string AdviseInstead(const Claim& claim) {
  switch (claim.kind) {
    case ClaimKind::kProfile:
      return fmt::format("or: nmcli connection modify {} connection.autoconnect no", claim.profile);
    case ClaimKind::kUnit:
      return "or " + AdviseOnUnit(claim);
    case ClaimKind::kMaster:
      return "or: " + AdviseOnMaster(claim);
    case ClaimKind::kNetplan:
      break;
  }
  return "or move it away or remove them from it";
}

Adoption Judge(const PluginInput& input, const AdoptEntry& entry, const Masters& masters,
               const std::vector<std::string>& netdevs, const Protection& protection) {
  switch (GetKind(entry)) {
    case AdoptKind::kFile:
      return JudgeFile(input, entry, masters, netdevs, protection);
    case AdoptKind::kProfile:
    case AdoptKind::kKeptProfile:
      return JudgeProfile(input, entry, netdevs, protection);
    case AdoptKind::kUnit:
      return JudgeUnit(input, entry, netdevs, protection);
  }
  return {.entry = entry};
}

}  // namespace

void Refuse(std::string why, std::string next_step, Adoption& adoption) {
  if (!adoption.why_not.empty()) {
    adoption.besides.insert(adoption.besides.begin(), std::move(adoption.why_not));
  }
  adoption.why_not = std::move(why);
  adoption.next_step = std::move(next_step);
}

// A removal in /etc has the effect of a removal only where no other folder has the name. An empty
// file is the trial of an unfinished apply.
void CheckOtherFolders(const NodeFacts& facts, Adoption& adoption) {
  for (const char* folder : {"/run/netplan/", "/lib/netplan/"}) {
    const std::string other = folder + GetBasename(adoption.entry.path);
    const auto found = facts.files.find(other);
    if (found == facts.files.end() || std::holds_alternative<Absent>(found->second)) continue;
    const FileState* file = Known(found->second);
    if (file != nullptr && file->content.empty()) continue;
    Refuse(fmt::format("{} is there too", other), fmt::format("move {} away", other), adoption);
  }
}

std::string ExplainMasterInUse(const PluginInput& input, const MasterDefinition& master,
                               const std::vector<std::string>& netdevs) {
  for (const std::string& member : master.members) {
    if (!IsIn(member, netdevs)) {
      return fmt::format("{} has the member {}, which is no port of the fabric",
                         MakePrintable(master.name), MakePrintable(member));
    }
  }
  for (const auto& [netdev, link] : input.facts.links) {
    const bool is_other = link.master == master.name && !IsIn(netdev, master.members);
    if (is_other) return fmt::format("{} is a member of {} by now", netdev, link.master);
    if (link.below == master.name) return fmt::format("{} is on top of {}", netdev, link.below);
  }
  const auto found = input.facts.links.find(master.name);
  if (found != input.facts.links.end() && !found->second.master.empty()) {
    return fmt::format("{} is a member of {}", master.name, found->second.master);
  }
  return {};
}

void CheckDigest(const FileState& file, Adoption& adoption) {
  const std::string digest = ComputeSha256Hex(file.content);
  const std::string& wanted = adoption.entry.digest;
  if (digest.starts_with(wanted)) return;
  Refuse(fmt::format("its SHA-256 begins with {}, and the manifest has {}",
                     digest.substr(0, kShownDigits), wanted.substr(0, kShownDigits)),
         fmt::format("read what it says now; to adopt that, write {} into the manifest",
                     digest.substr(0, kShownDigits)),
         adoption);
}

std::vector<Adoption> FindAdoptions(const PluginInput& input,
                                    const std::vector<AdoptEntry>& entries, const Masters& masters,
                                    const std::vector<std::string>& netdevs,
                                    const Protection& protection) {
  std::vector<Adoption> adoptions;
  for (const AdoptEntry& entry : FindKeyfiles(input, entries)) {
    adoptions.push_back(Judge(input, entry, masters, netdevs, protection));
  }
  CheckRenderer(input, adoptions);
  CheckOtherFiles(input, adoptions);
  KeepLinkLocal(input, adoptions);
  NameAllReasons(adoptions);
  return adoptions;
}

std::set<std::string> ListAdopted(const std::vector<Adoption>& adoptions) {
  std::set<std::string> paths;
  for (const Adoption& one : adoptions) {
    if (one.is_there && one.why_not.empty()) paths.insert(one.entry.path);
  }
  return paths;
}

Masters ListDissolved(const std::vector<Adoption>& adoptions) {
  Masters masters;
  for (const Adoption& one : adoptions) {
    if (one.is_there && one.why_not.empty()) {
      masters.insert(one.masters.begin(), one.masters.end());
    }
  }
  return masters;
}

void ExplainNotAdopted(const std::vector<Adoption>& adoptions, std::vector<Claim>& claims) {
  for (const Adoption& adoption : adoptions) {
    for (Claim& claim : claims) {
      if (claim.path != adoption.entry.path) continue;
      claim.not_adopted = adoption.why_not;
      claim.to_adopt = adoption.next_step;
    }
  }
}

std::vector<AdoptableFile> ListAdoptable(const PluginInput& input) {
  std::vector<std::string> netdevs;
  for (const RailPort& port : GetPorts(input.fabric, input.node.name)) {
    netdevs.push_back(port.netdev);
  }
  std::vector<AdoptEntry> entries = ListClaimingFiles(input, netdevs);
  for (AdoptEntry& profile : ListClaimingProfiles(input, netdevs)) {
    entries.push_back(std::move(profile));
  }
  for (AdoptEntry& unit : ListClaimingUnits(input, netdevs)) entries.push_back(std::move(unit));
  std::vector<AdoptableFile> files;
  for (const Adoption& one : FindAdoptions(input, entries, ListNameable(input, entries), netdevs,
                                           FindProtection(input.node, input.facts))) {
    if (!one.why_not.empty()) continue;
    files.push_back({one.entry.path, FormatEntry(one.entry), one.entry.digest,
                     DescribeOwner(input.facts, one.entry.path)});
    for (const std::string& master : one.masters) {
      files.push_back({one.entry.path, "master: " + master, "", ""});
    }
  }
  for (AdoptableFile& master : ListAdoptableMasters(input, netdevs)) {
    files.push_back(std::move(master));
  }
  return files;
}

void OfferAdoption(const PluginInput& input, std::vector<Claim>& claims) {
  for (Claim& claim : claims) {
    if (!claim.to_adopt.empty()) continue;
    const std::string advice = input.AdviseToAdopt(claim.path);
    if (advice.empty()) continue;
    claim.to_adopt = fmt::format("{}, {}, then plan again", advice, AdviseInstead(claim));
  }
}

std::string NameTrial(const std::string& path) { return "/run/netplan/" + GetBasename(path); }

OtherOwner NameOwner(const Adoption& adoption) {
  OtherOwner owner{.name = adoption.entry.path};
  for (const PortDefinition& definition : adoption.ports) {
    AddNew({definition.netdev}, owner.claims);
    if (IsIn(definition.netdev, adoption.ours)) AddNew(definition.lost, owner.settings_lost);
  }
  return owner;
}

std::string FormatAdoption(const Adoption& adoption, const std::vector<RailPort>& ports) {
  bool same = true;
  for (const PortDefinition& definition : adoption.ports) {
    if (!IsIn(definition.netdev, adoption.ours)) continue;
    const auto port = std::find_if(ports.begin(), ports.end(), [&](const RailPort& one) {
      return one.netdev == definition.netdev;
    });
    same &= port != ports.end() && SaysTheSame(definition, *port);
  }
  std::string text =
      fmt::format("into {}, {}, {} addresses and MTU", GetBasename(kOwnFile),
                  FormatPlural(adoption.ours.size(), "port", "ports"), same ? "same" : "other");
  if (!adoption.masters.empty()) text += "; dissolves " + Join(adoption.masters, ", ");
  const std::vector<std::string> lost = NameOwner(adoption).settings_lost;
  if (!lost.empty()) text += "; not carried over: " + Join(lost, ", ");
  if (!adoption.others.empty()) {
    text += "; no longer configured: " + Join(adoption.others, ", ");
  }
  return text;
}

}  // namespace reconciler::plugins::netplan
