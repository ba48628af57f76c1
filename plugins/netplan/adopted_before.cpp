#include "plugins/netplan/adopted_before.h"

#include <algorithm>
#include <optional>

#include "plugins/common/ports/links.h"
#include "plugins/netplan/adopt/definitions.h"
#include "plugins/netplan/adopt/foreign.h"
#include "plugins/netplan/adopt/kept_profile.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/adopt/section.h"
#include "plugins/netplan/adopted_profile.h"
#include "plugins/netplan/adopted_unit.h"
#include "plugins/netplan/boot_unit.h"
#include "plugins/netplan/live_master.h"
#include "reconciler/base/digest.h"

namespace reconciler::plugins::netplan {
namespace {

// A file as `adopt` names it, and the ports that it configures.
struct NamedFile {
  std::vector<std::string> entries = {};  // "file: PATH"; and "master: NAME" of what it makes
  std::vector<std::string> netdevs = {};
};

NamedFile NameNetplanFile(const FileState& file, const std::string& path) {
  NamedFile named;
  const auto text = ReadDefinitions(file.content, path);
  if (!text || !CanBeNamed(path)) return named;
  named.entries.push_back("file: " + path);
  for (const PortDefinition& port : text->ports) named.netdevs.push_back(port.netdev);
  for (const MasterDefinition& master : text->masters) {
    if (CanNameMaster(master.name)) named.entries.push_back("master: " + master.name);
  }
  return named;
}

// Without entries: it is none that can be adopted.
NamedFile NameFile(const PluginInput& input, const FileState& file, const std::string& path) {
  if (path.starts_with(kUnits)) {
    if (!CanNameUnit(path)) return {};
    return {{"networkd_unit: " + path}, ListPortsOfUnit(input, file.content)};
  }
  const auto held = ReadHeldProfile(path, file.content);
  const bool is_used =
      held && (path.starts_with(kKeyfiles) || held->by_networkmanager ||
               ReadForeignTree(input.facts, {}).renderer == Renderer::kNetworkManager);
  if (is_used && held->besides.empty()) {
    const std::string name = NameProfile(held->profile);
    if (!CanNameProfile(name)) return {};
    return {{"nm_profile: " + name}, ListPortsOfProfile(input, *held)};
  }
  return path.starts_with(kNetplan) ? NameNetplanFile(file, path) : NamedFile{};
}

// The text that comes back when it is pruned; nullptr: it is there, or was never another owner's.
const WriteFile* FindTextBefore(const PluginInput& input, const LedgerEntry& entry) {
  const bool may_be_adopted = entry.name.starts_with(kNetplan) ||
                              entry.name.starts_with(kKeyfiles) || entry.name.starts_with(kUnits);
  if (!may_be_adopted || entry.name == kOwnFile) return nullptr;
  if (Known(FindFile(input.facts, entry.name)) != nullptr) return nullptr;
  const Action* original = FindFileAction(entry.original);
  return original == nullptr ? nullptr : std::get_if<WriteFile>(original);
}

bool HasAny(const std::vector<std::string>& words, const std::vector<std::string>& of) {
  return std::find_first_of(words.begin(), words.end(), of.begin(), of.end()) != words.end();
}

void AddFileBefore(const PluginInput& input, const LedgerEntry& entry,
                   const std::vector<std::string>& netdevs, std::vector<AdoptableFile>& files) {
  const WriteFile* text = FindTextBefore(input, entry);
  if (text == nullptr) return;
  const NamedFile named = NameFile(input, text->state, entry.name);
  if (!HasAny(named.netdevs, netdevs)) return;
  for (const std::string& name : named.entries) {
    const bool is_master = name.starts_with("master: ");
    files.push_back({entry.name, name, is_master ? "" : ComputeSha256Hex(text->state.content),
                     is_master ? "" : DescribeOwner(input.facts, entry.name)});
  }
}

// Live only, and dissolved.
void AddMasterBefore(const PluginInput& input, const Change& prune,
                     const std::vector<std::string>& netdevs, std::vector<AdoptableFile>& files) {
  if (FindLink(input, prune.name) != nullptr || !CanNameMaster(prune.name)) return;
  if (!HasAny(ListMembersOf(prune), netdevs)) return;
  files.push_back({prune.name, "master: " + prune.name, "", ""});
}

// Still there, and disabled.
void AddServiceBefore(const PluginInput& input, const std::string& name,
                      const std::vector<std::string>& netdevs, std::vector<AdoptableFile>& files) {
  const auto* services = Known(input.facts.network.boot_services);
  if (services == nullptr) return;
  for (const BootService& service : *services) {
    const bool is_about_ours =
        std::any_of(service.files.begin(), service.files.end(),
                    [&](const BootFile& file) { return HasAny(file.netdevs, netdevs); });
    if (service.name != name || !service.wanted_by.empty() || !is_about_ours) continue;
    files.push_back({"/etc/systemd/system/" + name, "unit: " + name, ComputeDigest(service), ""});
  }
}

}  // namespace

std::vector<AdoptableFile> ListAdoptedBefore(const PluginInput& input) {
  std::vector<AdoptableFile> files;
  const Ledger* ledger = Known(input.facts.ledger);
  if (ledger == nullptr) return files;
  std::vector<std::string> netdevs;
  for (const RailPort& port : GetPorts(input.fabric, input.node.name)) {
    netdevs.push_back(port.netdev);
  }
  for (const LedgerEntry& entry : ledger->entries) {
    if (entry.plugin != "netplan") continue;
    const Change prune{.kind = entry.kind, .name = entry.name, .triggers = entry.triggers};
    if (IsLiveMaster(prune)) {
      AddMasterBefore(input, prune, netdevs, files);
    } else if (IsAdoptedService(prune)) {
      AddServiceBefore(input, entry.name, netdevs, files);
    } else {
      AddFileBefore(input, entry, netdevs, files);
    }
  }
  return files;
}

}  // namespace reconciler::plugins::netplan
