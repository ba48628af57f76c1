#include "plugins/netplan/adopted_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/claims.h"
#include "plugins/netplan/adopt/kept_profile.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/adopt/port_owner.h"
#include "plugins/netplan/intent.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr const char* kRemoveEntry = "remove it from adopt";

bool IsMeant(const HeldProfile& held, const std::string& name) {
  return held.profile.id == name || held.profile.uuid == name;
}

// What the ledger has of profiles since they were adopted.
std::vector<HeldProfile> ListAdoptedProfiles(const NodeFacts& facts) {
  std::vector<HeldProfile> all;
  const Ledger* ledger = Known(facts.ledger);
  if (ledger == nullptr) return all;
  for (const LedgerEntry& entry : ledger->entries) {
    const Action* original = FindFileAction(entry.original);
    const auto* write = original == nullptr ? nullptr : std::get_if<WriteFile>(original);
    const bool may_hold = entry.name.starts_with(kKeyfiles) || entry.name.starts_with(kNetplan);
    if (write == nullptr || !may_hold || entry.name == kOwnFile) continue;
    auto held = ReadHeldProfile(entry.name, write->state.content);
    if (held) all.push_back(*std::move(held));
  }
  return all;
}

// All files that may be meant by a profile's name, also those that are not adopted.
std::vector<std::string> ListPathsOf(const PluginInput& input, const std::string& name) {
  std::vector<std::string> paths;
  for (const auto& profiles : {ListHeldProfiles(input.facts), ListAdoptedProfiles(input.facts)}) {
    for (const HeldProfile& one : profiles) {
      if (IsMeant(one, name)) paths.push_back(one.path);
    }
  }
  return paths;
}

bool HasPath(const std::vector<AdoptEntry>& entries, const std::string& path) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const AdoptEntry& one) { return one.path == path; });
}

bool HasNamesake(const NodeFacts& facts, const Profile& profile) {
  const std::vector<HeldProfile> all = ListHeldProfiles(facts);
  return std::any_of(all.begin(), all.end(), [&](const HeldProfile& one) {
    return one.profile.id == profile.id && one.profile.uuid != profile.uuid;
  });
}

// Of text that the manifest may hold without quotes; YAML reads some as a number or another value.
bool IsYamlText(const std::string& name) {
  static const std::set<std::string> kOthers = {"true", "false", "null"};
  return CanNameProfile(name) && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         !kOthers.contains(ToLower(name));
}

// As RFC 4122 writes it, which YAML reads as text.
bool IsUuid(const std::string& text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return text.size() == kForm.size() &&
         std::equal(text.begin(), text.end(), kForm.begin(), [](unsigned char c, char form) {
           return form == '-' ? c == '-' : std::isxdigit(c) != 0;
         });
}

// Its name, or its UUID where that does not mean this profile alone; empty: it cannot be named.
std::string ChooseName(const NodeFacts& facts, const Profile& profile) {
  if (IsYamlText(profile.id) && !HasNamesake(facts, profile)) return profile.id;
  return IsUuid(profile.uuid) ? profile.uuid : std::string();
}

std::string AdviseToSwitchOff(const std::string& profile) {
  return fmt::format("nmcli connection modify {} connection.autoconnect no, and {}", profile,
                     kRemoveEntry);
}

void SetPorts(const NodeFacts& facts, const HeldProfile& held,
              const std::vector<std::string>& netdevs, Adoption& adoption) {
  for (const auto& [netdev, link] : facts.links) {
    if (FindFit(held, netdev, &link) != ProfileFit::kNamed) continue;
    adoption.ports.push_back(held.says.port);
    adoption.ports.back().netdev = netdev;
    const bool is_ours = std::find(netdevs.begin(), netdevs.end(), netdev) != netdevs.end();
    (is_ours ? adoption.ours : adoption.others).push_back(netdev);
  }
}

bool IsForAnyPort(const NodeFacts& facts, const HeldProfile& held) {
  return std::any_of(facts.links.begin(), facts.links.end(), [&](const auto& one) {
    return FindFit(held, one.first, &one.second) == ProfileFit::kAnyPort;
  });
}

void CheckPorts(const NodeFacts& facts, const HeldProfile& held, Adoption& adoption) {
  if (!adoption.others.empty()) {
    const std::string names = Join(adoption.others, ", ");
    Refuse(fmt::format("it is for {} too, which is no port of the fabric", names),
           fmt::format("remove {} from it", names), adoption);
  }
  if (!adoption.ours.empty()) return;
  if (IsForAnyPort(facts, held)) {
    Refuse("it names no port, so that others may need it",
           AdviseToSwitchOff(NameProfile(held.profile)), adoption);
  } else {
    Refuse("it is for none of this node's ports of the fabric", kRemoveEntry, adoption);
  }
}

// Its path stands in lists of one path per line, and in a pattern of find.
void CheckPath(Adoption& adoption) {
  const std::string name = GetBasename(adoption.entry.path);
  const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == ' ' || c == '.' || c == '_' || c == '-';
  });
  if (is_plain) return;
  Refuse("its file name holds more than letters, digits, blanks, '.', '_' and '-'",
         "rename the file, then: nmcli connection reload", adoption);
}

void CheckName(const NodeFacts& facts, const Profile& profile, Adoption& adoption) {
  if (adoption.entry.profile == profile.uuid || !HasNamesake(facts, profile)) return;
  Refuse("another profile has its name",
         fmt::format("name it in adopt by its UUID, {}", MakePrintable(profile.uuid)), adoption);
}

// What leads to the node stays with whoever configures it.
void RefuseLeading(const Protection& protection, Adoption& adoption) {
  for (const PortDefinition& port : adoption.ports) {
    const auto carries = protection.carries.find(port.netdev);
    if (carries == protection.carries.end()) continue;
    Refuse(fmt::format("it is for {} too, which {}", port.netdev, carries->second),
           fmt::format("leave it in effect there, and {}", kRemoveEntry), adoption);
    return;
  }
}

// A netplan file of Ubuntu's NetworkManager holds one profile and nothing else.
void CheckKept(const PluginInput& input, const HeldProfile& held, Adoption& adoption) {
  if (!held.besides.empty()) {
    Refuse(fmt::format("its file has {} too", held.besides),
           "move that to another file, or " + AdviseToSwitchOff(NameProfile(held.profile)),
           adoption);
  }
  CheckOtherFolders(input.facts, adoption);
}

void CheckProfile(const PluginInput& input, const HeldProfile& held, Adoption& adoption) {
  // The last word counts: what leads to the node comes before all else.
  if (!MayWin(held.profile, ProfileFit::kNamed)) {
    Refuse("NetworkManager never uses it instead of ours", kRemoveEntry, adoption);
  }
  if (const std::string& master = held.says.master; !master.empty()) {
    Refuse(fmt::format("it makes its port a member of {}", MakePrintable(master)),
           AdviseToSwitchOff(NameProfile(held.profile)), adoption);
  }
  CheckPorts(input.facts, held, adoption);
  if (ReadForeignTree(input.facts, {}).renderer != Renderer::kNetworkManager) {
    Refuse("the node's ports of the fabric are networkd's, which reads no profile", kRemoveEntry,
           adoption);
  }
  CheckPath(adoption);
  CheckName(input.facts, held.profile, adoption);
  if (held.keyfile.empty()) CheckKept(input, held, adoption);
}

// So that activating the profile sets these values and no others.
bool IsInEffect(const PortDefinition& definition, const LinkFact& link) {
  std::vector<std::string> live;
  for (const Ipv4Prefix& address : link.ipv4) live.push_back(ToString(address));
  return !live.empty() && definition.mtu == fmt::format("{}", link.mtu) &&
         std::is_permutation(live.begin(), live.end(), definition.addresses.begin(),
                             definition.addresses.end());
}

RunCommand Activate(const HeldProfile& held, const std::string& netdev) {
  const auto& [id, uuid, autoconnect, priority] = held.profile;
  return held.keyfile.empty() ? ActivateKeptProfile(held.definition.key, uuid, netdev)
                              : ActivateProfile(held.path, uuid, id, netdev);
}

// Both are written back, and NetworkManager prefers the higher priority.
bool IsOtherPreferred(const NodeFacts& facts, const HeldProfile& held, const std::string& netdev,
                      const LinkFact& link) {
  const std::vector<HeldProfile> adopted = ListAdoptedProfiles(facts);
  return std::any_of(adopted.begin(), adopted.end(), [&](const HeldProfile& other) {
    return other.path != held.path && FindFit(other, netdev, &link) == ProfileFit::kNamed &&
           other.profile.priority > held.profile.priority;
  });
}

// What netplan makes of a definition is made again; NetworkManager reads keyfiles itself.
std::vector<RunCommand> ReadAgain(const NodeFacts& facts, const HeldProfile& held) {
  if (!held.keyfile.empty()) return {ReloadFiles(Renderer::kNetworkManager)};
  const ForeignTree tree = ReadForeignTree(facts, {});
  // Without NetworkManager netplan makes no profile of it.
  if (!held.by_networkmanager && tree.renderer != Renderer::kNetworkManager) return {};
  std::vector<RunCommand> commands =
      Regenerate(Renderer::kNetworkManager, tree.files, {held.definition.key});
  for (RunCommand& command : commands) command.id.clear();  // each prune has its own
  return commands;
}

}  // namespace

std::vector<AdoptEntry> FindKeyfiles(const PluginInput& input,
                                     const std::vector<AdoptEntry>& entries) {
  std::vector<AdoptEntry> found;
  for (const AdoptEntry& entry : entries) {
    if (!entry.path.empty()) found.push_back(entry);
  }
  for (const AdoptEntry& entry : entries) {
    if (!entry.path.empty()) continue;
    for (const std::string& path : ListPathsOf(input, entry.profile)) {
      if (HasPath(found, path)) continue;
      found.push_back(entry);
      found.back().path = path;
    }
  }
  return found;
}

Adoption JudgeProfile(const PluginInput& input, const AdoptEntry& entry,
                      const std::vector<std::string>& netdevs, const Protection& protection) {
  Adoption adoption{.entry = entry};
  const Observed<FileState> observed = FindFile(input.facts, entry.path);
  const FileState* file = Known(observed);
  if (file == nullptr) return adoption;
  adoption.is_there = true;
  const auto held = ReadHeldProfile(entry.path, file->content);
  if (!held || (!entry.path.starts_with(kKeyfiles) && !CanBeNamed(entry.path))) {
    Refuse(fmt::format("it is neither a keyfile in {} nor kept by NetworkManager in {}",
                       kKeyfiles.substr(0, kKeyfiles.size() - 1),
                       kNetplan.substr(0, kNetplan.size() - 1)),
           AdviseToSwitchOff(entry.profile), adoption);
    return adoption;
  }
  SetPorts(input.facts, *held, netdevs, adoption);
  CheckProfile(input, *held, adoption);
  CheckDigest(*file, adoption);
  RefuseLeading(protection, adoption);
  return adoption;
}

std::vector<AdoptEntry> ListClaimingProfiles(const PluginInput& input,
                                             const std::vector<std::string>& netdevs) {
  const ForeignTree tree = ReadForeignTree(input.facts, netdevs);
  std::vector<AdoptEntry> entries;
  if (tree.renderer != Renderer::kNetworkManager) return entries;
  std::vector<Claim> claims = FindManagerClaims(input.facts, tree.renderer, netdevs, {}).claims;
  claims.insert(claims.end(), tree.claims.begin(), tree.claims.end());
  for (const Claim& claim : claims) {
    const Observed<FileState> observed = FindFile(input.facts, claim.path);
    const FileState* file = Known(observed);
    if (file == nullptr || claim.kind != ClaimKind::kProfile) continue;
    const auto held = ReadHeldProfile(claim.path, file->content);
    const std::string name = held ? ChooseName(input.facts, held->profile) : "";
    if (!name.empty()) entries.push_back({claim.path, ComputeSha256Hex(file->content), {}, name});
  }
  return entries;
}

std::vector<Action> RevertToProfile(const PluginInput& input, const Adoption& adoption) {
  std::vector<Action> revert = {ReloadFiles(Renderer::kNetworkManager)};
  const std::string& path = adoption.entry.path;
  const FileState file = *Known(FindFile(input.facts, path));
  const auto held = ReadHeldProfile(path, file.content);
  for (const PortDefinition& port : adoption.ports) {
    const LinkFact* link = FindLink(input, port.netdev);
    if (!held || link == nullptr || !IsInEffect(port, *link)) continue;
    revert.emplace_back(Activate(*held, port.netdev));
  }
  return revert;
}

std::vector<std::string> ListPortsOfProfile(const PluginInput& input, const HeldProfile& held) {
  std::vector<std::string> netdevs;
  for (const auto& [netdev, link] : input.facts.links) {
    if (FindFit(held, netdev, &link) == ProfileFit::kNamed) netdevs.push_back(netdev);
  }
  const LinkFact gone;
  for (const RailPort& port : GetPorts(input.fabric, input.node.name)) {
    if (FindLink(input, port.netdev) != nullptr) continue;
    if (FindFit(held, port.netdev, &gone) == ProfileFit::kNamed) netdevs.push_back(port.netdev);
  }
  return netdevs;
}

std::vector<RunCommand> BringBackProfile(const NodeFacts& facts, const HeldProfile& held) {
  std::vector<RunCommand> commands = ReadAgain(facts, held);
  for (const auto& [netdev, link] : facts.links) {
    if (FindFit(held, netdev, &link) != ProfileFit::kNamed) continue;
    if (IsOtherPreferred(facts, held, netdev, link)) continue;
    const PortOwner owner = FindForeignOwner(facts, netdev);
    if (!owner.path.empty() || !owner.unclear.empty()) continue;
    commands.push_back(Activate(held, netdev));
  }
  return commands;
}

}  // namespace reconciler::plugins::netplan
