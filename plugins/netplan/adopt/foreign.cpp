#include "plugins/netplan/adopt/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "plugins/netplan/adopt/definitions.h"
#include "plugins/netplan/adopt/kept_profile.h"
#include "plugins/netplan/adopt/paths.h"
#include "reconciler/base/text.h"
#include "reconciler/yaml/yaml_document.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::string_view kFileOfSync = "99-nvidia-sync-cluster.yaml";

bool IsAbsent(const NodeFacts& facts, const std::string& path) {
  const auto found = facts.files.find(path);
  return found == facts.files.end() || std::holds_alternative<Absent>(found->second);
}

// The path of each file name that counts; later folders hide earlier ones.
std::map<std::string, std::string> ListEffectiveFiles(const NodeFacts& facts) {
  std::map<std::string, std::string> effective;
  for (const std::string_view folder : {"/lib/netplan/", "/etc/netplan/", "/run/netplan/"}) {
    for (const auto& [path, file] : facts.files) {
      if (path.starts_with(folder) && path.ends_with(".yaml") && !IsAbsent(facts, path)) {
        effective[GetBasename(path)] = path;
      }
    }
  }
  return effective;
}

bool HasEntry(const Value* list, const std::string& netdev) {
  if (list == nullptr) return false;
  return std::any_of(list->List().begin(), list->List().end(),
                     [&](const Value& one) { return one.ScalarText() == netdev; });
}

// Definitions of NetworkManager's for any port that it manages, and for none by name: Ubuntu keeps
// a profile without an interface as `match: {}`. Where networkd has our ports, NetworkManager does
// not manage them; where it has them itself, a profile of the same priority that names the port
// wins.
bool IsForAnyManagedPort(const Value& definition, const std::string& of_type, Renderer ours) {
  const std::string said = definition.GetText("renderer");
  const std::string& own = said.empty() ? of_type : said;
  const bool by_manager = own.empty() ? ours == Renderer::kNetworkManager : own == "NetworkManager";
  const Value* match = definition.Find("match");
  if (!by_manager || match == nullptr) return false;
  return match->Find("name") == nullptr && match->Find("macaddress") == nullptr &&
         match->Find("driver") == nullptr;
}

const LinkFact* FindLinkOf(const NodeFacts& facts, const std::string& netdev) {
  const auto link = facts.links.find(netdev);
  return link == facts.links.end() ? nullptr : &link->second;
}

bool IsAbout(const Value& network, const std::string& netdev, const NodeFacts& facts,
             Renderer ours) {
  const bool skips = ours == Renderer::kNetworkManager;  // see AddKeptProfiles
  for (const Member& type : network.Members()) {
    std::string renderer;
    for (const Member& definition : type.value.Members()) {
      if (IsRendererOfType(definition)) renderer = definition.value.ScalarText();
      if (skips && type.key == "ethernets" && ReadKeptProfile(definition)) continue;
      if (definition.key == netdev) return true;
      if (HasEntry(definition.value.Find("interfaces"), netdev)) return true;  // bond, bridge, vrf
      const Value* match = definition.value.Find("match");
      if (type.key != "ethernets" || match == nullptr) continue;
      if (IsForAnyManagedPort(definition.value, renderer, ours)) continue;
      if (MatchesPort(*match, netdev, FindLinkOf(facts, netdev))) return true;
    }
  }
  return false;
}

// Where NetworkManager gets our file too, only what may win over it at the next boot or re-plug.
void AddKeptProfiles(const std::string& path, const Value& network, const NodeFacts& facts,
                     const std::vector<std::string>& netdevs,
                     const std::vector<std::string>& leading, std::vector<Claim>& claims) {
  const Value* ethernets = network.Find("ethernets");
  if (ethernets == nullptr) return;
  for (const Member& definition : ethernets->Members()) {
    const auto profile = ReadKeptProfile(definition);
    if (!profile) continue;
    Claim claim{.path = path,
                .kind = ClaimKind::kProfile,
                .profile = NameProfile(*profile),
                .priority = profile->priority};
    const auto wins = [&](const std::string& netdev) {
      return MayWin(*profile, FindKeptFit(definition.value, netdev, FindLinkOf(facts, netdev)));
    };
    std::copy_if(netdevs.begin(), netdevs.end(), std::back_inserter(claim.netdevs), wins);
    std::copy_if(leading.begin(), leading.end(), std::back_inserter(claim.leading), wins);
    if (!claim.netdevs.empty()) claims.push_back(std::move(claim));
  }
}

// nullopt: it cannot be used, and tree.unclear says why, or it has no network.
std::optional<Value> ReadNetwork(const std::string& path, const NodeFacts& facts,
                                 ForeignTree& tree) {
  const Observed<FileState> file = FindFile(facts, path);
  const auto* state = Known(file);
  if (state == nullptr) {
    const auto* unknown = std::get_if<Unknown>(&file);
    tree.unclear = fmt::format("{} cannot be read: {}", path,
                               unknown != nullptr ? unknown->why : "it is not a file");
    return std::nullopt;
  }
  const Result<Value> document = ParseYaml(state->content, path);
  if (!document) {
    const Error& error = document.error();
    const int line = error.where ? error.where->position.line : 0;
    tree.unclear = fmt::format("{}:{} is not valid: {}; netplan would refuse it as well", path,
                               line, error.message);
    return std::nullopt;
  }
  const Value* network = document->Find("network");
  return network == nullptr ? std::nullopt : std::optional(*network);
}

void ReadRenderer(const Value& network, ForeignTree& tree) {
  const Value* renderer = network.Find("renderer");
  const std::string name = renderer == nullptr ? "" : renderer->ScalarText();
  if (name == "NetworkManager") tree.renderer = Renderer::kNetworkManager;
  if (name == "networkd") tree.renderer = Renderer::kNetworkd;
}

void AddClaims(const std::string& path, const Value& network, const NodeFacts& facts,
               const std::vector<std::string>& netdevs, const std::vector<std::string>& leading,
               ForeignTree& tree) {
  Claim claim{.path = path};
  const auto is_about = [&](const std::string& netdev) {
    return IsAbout(network, netdev, facts, tree.renderer);
  };
  std::copy_if(netdevs.begin(), netdevs.end(), std::back_inserter(claim.netdevs), is_about);
  std::copy_if(leading.begin(), leading.end(), std::back_inserter(claim.leading), is_about);
  if (!claim.netdevs.empty()) tree.claims.push_back(std::move(claim));
  if (tree.renderer != Renderer::kNetworkManager) return;
  AddKeptProfiles(path, network, facts, netdevs, leading, tree.claims);
}

}  // namespace

ForeignTree ReadForeignTree(const NodeFacts& facts, const std::vector<std::string>& netdevs,
                            const std::vector<std::string>& leading,
                            const std::set<std::string>& without) {
  ForeignTree tree;
  std::vector<std::pair<std::string, Value>> networks;  // by path; the last renderer counts for all
  for (const auto& [name, path] : ListEffectiveFiles(facts)) {
    if (name == GetBasename(kOwnFile)) {
      if (path.starts_with("/run/")) {
        tree.unclear = fmt::format("{} hides {}: remove it", path, kOwnFile);
      }
      continue;
    }
    if (without.contains(path)) continue;
    tree.files.push_back(path);
    if (auto network = ReadNetwork(path, facts, tree)) {
      ReadRenderer(*network, tree);
      networks.emplace_back(path, *std::move(network));
    }
    if (!tree.unclear.empty()) break;
  }
  for (const auto& [path, network] : networks) {
    AddClaims(path, network, facts, netdevs, leading, tree);
  }
  return tree;
}

std::string GuessOwner(const std::string& path) {
  const std::string name = GetBasename(path);
  if (name == kFileOfSync) return "NVIDIA Sync";
  if (name == "40-cx7.yaml") return "NVIDIA's spark_cluster_setup or sparkrun";
  if (name.starts_with("90-NM-")) return "NetworkManager, for nmcli or the desktop";
  if (name == "50-cloud-init.yaml") return "cloud-init";
  if (name == "00-installer-config.yaml") return "the installer";
  return {};
}

std::string DescribeOwner(const NodeFacts& facts, const std::string& path) {
  const std::string owner = GuessOwner(path);
  if (GetBasename(path) != kFileOfSync) return owner;
  std::vector<std::string> renamed;
  for (const auto& [other, file] : facts.files) {
    const bool is_disabled =
        other.starts_with("/etc/netplan/") && other.find(".sync-disabled-") != std::string::npos;
    if (is_disabled) renamed.push_back(MakePrintable(GetBasename(other)));
  }
  return renamed.empty()
             ? owner
             : fmt::format("{}, which made {} of a file in its way", owner, Join(renamed, " and "));
}

}  // namespace reconciler::plugins::netplan
