#include "plugins/netplan/adopted_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/claims.h"
#include "plugins/netplan/adopt/keyfile.h"
#include "plugins/netplan/adopt/owner_files.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/adopt/port_owner.h"
#include "plugins/netplan/intent.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr const char* kRemoveEntry = "remove it from adopt";

bool IsMeant(const OwnerFile& keyfile, const std::string& name) {
  const Profile profile = ReadProfile(keyfile);
  return profile.id == name || profile.uuid == name;
}

std::vector<OwnerFile> ListAdoptedKeyfiles(const NodeFacts& facts) {
  std::vector<OwnerFile> keyfiles;
  const Ledger* ledger = Known(facts.ledger);
  if (ledger == nullptr) return keyfiles;
  for (const LedgerEntry& entry : ledger->entries) {
    const Action* original = FindFileAction(entry.original);
    const auto* write = original == nullptr ? nullptr : std::get_if<WriteFile>(original);
    if (write == nullptr || !entry.name.starts_with(kKeyfiles)) continue;
    keyfiles.push_back({.path = entry.name, .state = &write->state});
  }
  return keyfiles;
}

// All files that may be meant by a profile's name, also those that are not adopted.
std::vector<std::string> ListPathsOf(const PluginInput& input, const std::string& name,
                                     const std::vector<std::string>& netdevs) {
  std::vector<std::string> paths;
  for (const OwnerFile& one : ListProfiles(input.facts)) {
    if (one.state != nullptr && IsMeant(one, name)) paths.push_back(one.path);
  }
  for (const Claim& claim : ReadForeignTree(input.facts, netdevs).claims) {
    if (claim.kind == ClaimKind::kProfile && claim.profile == name) paths.push_back(claim.path);
  }
  for (const OwnerFile& one : ListAdoptedKeyfiles(input.facts)) {
    if (IsMeant(one, name)) paths.push_back(one.path);
  }
  return paths;
}

bool HasPath(const std::vector<AdoptEntry>& entries, const std::string& path) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const AdoptEntry& one) { return one.path == path; });
}

bool HasNamesake(const NodeFacts& facts, const Profile& profile) {
  const std::vector<OwnerFile> all = ListProfiles(facts);
  return std::any_of(all.begin(), all.end(), [&](const OwnerFile& one) {
    if (one.state == nullptr) return false;
    const Profile other = ReadProfile(one);
    return other.id == profile.id && other.uuid != profile.uuid;
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

void SetPorts(const NodeFacts& facts, const std::string& text,
              const std::vector<std::string>& netdevs, Adoption& adoption) {
  const PortDefinition definition = ReadKeyfile(text).port;
  for (const auto& [netdev, link] : facts.links) {
    if (!IsProfileAbout(text, netdev, link)) continue;
    adoption.ports.push_back(definition);
    adoption.ports.back().netdev = netdev;
    const bool is_ours = std::find(netdevs.begin(), netdevs.end(), netdev) != netdevs.end();
    (is_ours ? adoption.ours : adoption.others).push_back(netdev);
  }
}

bool IsForAnyPort(const NodeFacts& facts, const std::string& text) {
  return std::any_of(facts.links.begin(), facts.links.end(), [&](const auto& one) {
    return FindProfileFit(text, one.first, one.second) == ProfileFit::kAnyPort;
  });
}

void CheckPorts(const NodeFacts& facts, const std::string& text, const Profile& profile,
                Adoption& adoption) {
  if (!adoption.others.empty()) {
    const std::string names = Join(adoption.others, ", ");
    Refuse(fmt::format("it is for {} too, which is no port of the fabric", names),
           fmt::format("remove {} from it", names), adoption);
  }
  if (!adoption.ours.empty()) return;
  if (IsForAnyPort(facts, text)) {
    Refuse("it names no port, so that others may need it", AdviseToSwitchOff(NameProfile(profile)),
           adoption);
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

void CheckKeyfile(const PluginInput& input, const FileState& keyfile, Adoption& adoption) {
  const Profile profile = ReadProfile({.path = adoption.entry.path, .state = &keyfile});
  // The last word counts: what leads to the node comes before all else.
  if (!MayWin(profile, ProfileFit::kNamed)) {
    Refuse("NetworkManager never uses it instead of ours", kRemoveEntry, adoption);
  }
  if (const std::string master = ReadKeyfile(keyfile.content).master; !master.empty()) {
    Refuse(fmt::format("it makes its port a member of {}", MakePrintable(master)),
           AdviseToSwitchOff(NameProfile(profile)), adoption);
  }
  CheckPorts(input.facts, keyfile.content, profile, adoption);
  if (ReadForeignTree(input.facts, {}).renderer != Renderer::kNetworkManager) {
    Refuse("the node's ports of the fabric are networkd's, which reads no profile", kRemoveEntry,
           adoption);
  }
  CheckPath(adoption);
  CheckName(input.facts, profile, adoption);
}

// So that activating the profile sets these values and no others.
bool IsInEffect(const PortDefinition& definition, const LinkFact& link) {
  std::vector<std::string> live;
  for (const Ipv4Prefix& address : link.ipv4) live.push_back(ToString(address));
  return !live.empty() && definition.mtu == fmt::format("{}", link.mtu) &&
         std::is_permutation(live.begin(), live.end(), definition.addresses.begin(),
                             definition.addresses.end());
}

RunCommand Activate(const std::string& path, const FileState& keyfile, const std::string& netdev) {
  const Profile profile = ReadProfile({.path = path, .state = &keyfile});
  return ActivateProfile(path, profile.uuid, profile.id, netdev);
}

// Both are written back, and NetworkManager prefers the higher priority.
bool IsOtherPreferred(const NodeFacts& facts, const Profile& profile, const std::string& path,
                      const std::string& netdev, const LinkFact& link) {
  const std::vector<OwnerFile> adopted = ListAdoptedKeyfiles(facts);
  return std::any_of(adopted.begin(), adopted.end(), [&](const OwnerFile& other) {
    return other.path != path && IsProfileAbout(other.state->content, netdev, link) &&
           ReadProfile(other).priority > profile.priority;
  });
}

}  // namespace

std::vector<AdoptEntry> FindKeyfiles(const PluginInput& input,
                                     const std::vector<AdoptEntry>& entries,
                                     const std::vector<std::string>& netdevs) {
  std::vector<AdoptEntry> found;
  for (const AdoptEntry& entry : entries) {
    if (!entry.path.empty()) found.push_back(entry);
  }
  for (const AdoptEntry& entry : entries) {
    if (!entry.path.empty()) continue;
    for (const std::string& path : ListPathsOf(input, entry.profile, netdevs)) {
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
  if (!entry.path.starts_with(kKeyfiles)) {
    Refuse(fmt::format("it is no keyfile in {}", kKeyfiles.substr(0, kKeyfiles.size() - 1)),
           AdviseToSwitchOff(entry.profile), adoption);
    return adoption;
  }
  SetPorts(input.facts, file->content, netdevs, adoption);
  CheckKeyfile(input, *file, adoption);
  CheckDigest(*file, adoption);
  RefuseLeading(protection, adoption);
  return adoption;
}

std::vector<AdoptEntry> ListClaimingProfiles(const PluginInput& input,
                                             const std::vector<std::string>& netdevs) {
  const Renderer renderer = ReadForeignTree(input.facts, {}).renderer;
  std::vector<AdoptEntry> entries;
  if (renderer != Renderer::kNetworkManager) return entries;
  for (const Claim& claim : FindManagerClaims(input.facts, renderer, netdevs, {}).claims) {
    const Observed<FileState> observed = FindFile(input.facts, claim.path);
    const FileState* file = Known(observed);
    if (file == nullptr) continue;
    const std::string name =
        ChooseName(input.facts, ReadProfile({.path = claim.path, .state = file}));
    if (!name.empty()) entries.push_back({claim.path, ComputeSha256Hex(file->content), {}, name});
  }
  return entries;
}

std::vector<Action> RevertToProfile(const PluginInput& input, const Adoption& adoption) {
  std::vector<Action> revert = {ReloadFiles(Renderer::kNetworkManager)};
  const std::string& path = adoption.entry.path;
  const FileState keyfile = *Known(FindFile(input.facts, path));
  for (const PortDefinition& port : adoption.ports) {
    const LinkFact* link = FindLink(input, port.netdev);
    if (link == nullptr || !IsInEffect(port, *link)) continue;
    revert.emplace_back(Activate(path, keyfile, port.netdev));
  }
  return revert;
}

std::vector<std::string> ListPortsOfKeyfile(const PluginInput& input, const std::string& text) {
  std::vector<std::string> netdevs;
  for (const auto& [netdev, link] : input.facts.links) {
    if (IsProfileAbout(text, netdev, link)) netdevs.push_back(netdev);
  }
  for (const RailPort& port : GetPorts(input.fabric, input.node.name)) {
    const bool is_gone = FindLink(input, port.netdev) == nullptr;
    if (is_gone && IsProfileAbout(text, port.netdev, {})) netdevs.push_back(port.netdev);
  }
  return netdevs;
}

std::vector<RunCommand> ActivateKeyfile(const NodeFacts& facts, const std::string& path,
                                        const FileState& keyfile) {
  std::vector<RunCommand> commands = {ReloadFiles(Renderer::kNetworkManager)};
  const Profile profile = ReadProfile({.path = path, .state = &keyfile});
  for (const auto& [netdev, link] : facts.links) {
    if (!IsProfileAbout(keyfile.content, netdev, link)) continue;
    if (IsOtherPreferred(facts, profile, path, netdev, link)) continue;
    const PortOwner owner = FindForeignOwner(facts, netdev);
    if (!owner.path.empty() || !owner.unclear.empty()) continue;
    commands.push_back(Activate(path, keyfile, netdev));
  }
  return commands;
}

}  // namespace reconciler::plugins::netplan
