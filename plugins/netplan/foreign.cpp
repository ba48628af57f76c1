#include "plugins/netplan/foreign.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "plugins/netplan/paths.h"
#include "reconciler/base/text.h"
#include "reconciler/yaml/yaml_document.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::size_t kLongestPattern = 256;  // bytes; interface names have at most 15

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

// netplan joins the conditions of a `match` with "and"; a driver that we do not know may match.
bool Matches(const Value& match, const std::string& netdev, const NodeFacts& facts) {
  if (const Value* name = match.Find("name"); name != nullptr) {
    const std::string pattern = name->ScalarText();
    if (pattern.size() <= kLongestPattern && fnmatch(pattern.c_str(), netdev.c_str(), 0) != 0) {
      return false;
    }
  }
  if (const Value* mac = match.Find("macaddress"); mac != nullptr) {
    const auto link = facts.links.find(netdev);
    if (link != facts.links.end() && ToLower(link->second.mac) != ToLower(mac->ScalarText()))
      return false;
  }
  return true;
}

bool HasEntry(const Value* list, const std::string& netdev) {
  if (list == nullptr) return false;
  return std::any_of(list->List().begin(), list->List().end(),
                     [&](const Value& one) { return one.ScalarText() == netdev; });
}

bool IsAbout(const Value& network, const std::string& netdev, const NodeFacts& facts) {
  for (const Member& type : network.Members()) {
    for (const Member& definition : type.value.Members()) {
      if (definition.key == netdev) return true;
      if (HasEntry(definition.value.Find("interfaces"), netdev)) return true;  // bond, bridge, vrf
      const Value* match = definition.value.Find("match");
      if (type.key == "ethernets" && match != nullptr && Matches(*match, netdev, facts))
        return true;
    }
  }
  return false;
}

void AddFile(const std::string& path, const NodeFacts& facts,
             const std::vector<std::string>& netdevs, const std::vector<std::string>& leading,
             ForeignTree& tree) {
  const Observed<FileState> file = FindFile(facts, path);
  const auto* state = Known(file);
  if (state == nullptr) {
    const auto* unknown = std::get_if<Unknown>(&file);
    tree.unclear = fmt::format("{} cannot be read: {}", path,
                               unknown != nullptr ? unknown->why : "it is not a file");
    return;
  }
  const Result<Value> document = ParseYaml(state->content, path);
  if (!document) {
    const Error& error = document.error();
    const int line = error.where ? error.where->position.line : 0;
    tree.unclear = fmt::format("{}:{} is not valid: {}; netplan would refuse it as well", path,
                               line, error.message);
    return;
  }
  const Value* network = document->Find("network");
  if (network == nullptr) return;
  if (const Value* renderer = network->Find("renderer"); renderer != nullptr) {
    const std::string name = renderer->ScalarText();
    if (name == "NetworkManager") tree.renderer = Renderer::kNetworkManager;
    if (name == "networkd") tree.renderer = Renderer::kNetworkd;
  }
  Claim claim{.path = path};
  for (const std::string& netdev : netdevs) {
    if (IsAbout(*network, netdev, facts)) claim.netdevs.push_back(netdev);
  }
  for (const std::string& netdev : leading) {
    if (IsAbout(*network, netdev, facts)) claim.leading.push_back(netdev);
  }
  if (!claim.netdevs.empty()) tree.claims.push_back(std::move(claim));
}

}  // namespace

ForeignTree ReadForeignTree(const NodeFacts& facts, const std::vector<std::string>& netdevs,
                            const std::vector<std::string>& leading) {
  ForeignTree tree;
  for (const auto& [name, path] : ListEffectiveFiles(facts)) {
    if (name == GetBasename(kOwnFile)) {
      if (path.starts_with("/run/")) {
        tree.unclear = fmt::format("{} hides {}: remove it", path, kOwnFile);
      }
      continue;
    }
    tree.files.push_back(path);
    AddFile(path, facts, netdevs, leading, tree);
    if (!tree.unclear.empty()) break;
  }
  return tree;
}

std::string GuessOwner(const std::string& path) {
  const std::string name = GetBasename(path);
  if (name == "99-nvidia-sync-cluster.yaml") return "NVIDIA Sync";
  if (name == "40-cx7.yaml") return "NVIDIA's spark_cluster_setup or sparkrun";
  if (name.starts_with("90-NM-")) return "NetworkManager, for nmcli or the desktop";
  if (name == "50-cloud-init.yaml") return "cloud-init";
  if (name == "00-installer-config.yaml") return "the installer";
  return {};
}

}  // namespace reconciler::plugins::netplan
