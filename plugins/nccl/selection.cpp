#include "plugins/nccl/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "plugins/nccl/wanted.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kRemoveDerived = "remove it: the fabric defines it for each node";

std::vector<std::string> ListAllHcas(const PluginInput& input) {
  std::vector<std::string> hcas = ListHcas(input.facts);
  const Hardware* hardware = input.cluster.FindHardware(input.node.hardware);
  if (!hcas.empty() || hardware == nullptr) return hcas;
  for (const Cage& cage : hardware->cages) {
    for (const Twin& twin : cage.twins) hcas.push_back(twin.hca);
  }
  return hcas;
}

Mistake JudgeHcas(std::string_view list, const PluginInput& input) {
  const std::vector<std::string> all = ListAllHcas(input);
  if (SelectNames(list, all).empty()) {
    return {MistakeKind::kAgainstFabric,
            fmt::format("names no HCA that the node has: it has {}", Join(all, ", ")),
            kRemoveDerived};
  }
  std::vector<std::string> cabled;
  for (const RailPort& port : ListCollectivePorts(input.fabric, input.node.name)) {
    cabled.push_back(FindHcaName(port, input.facts));
  }
  const std::vector<std::string> selected = SelectNames(list, cabled);
  if (selected.empty()) {
    return {MistakeKind::kAgainstFabric,
            fmt::format("names no HCA of the node that leads to all others: those are {}",
                        Join(cabled, ", ")),
            kRemoveDerived};
  }
  if (selected.size() == cabled.size() || !CagesDiffer(input.fabric)) return {};
  std::erase_if(cabled, [&](const std::string& name) {
    return std::find(selected.begin(), selected.end(), name) != selected.end();
  });
  return {
      MistakeKind::kAgainstFabric,
      fmt::format("leaves out {}, and each cable leads to another neighbour", Join(cabled, ", ")),
      kRemoveDerived};
}

Mistake JudgeInterfaces(const std::string& list, const PluginInput& input) {
  std::vector<std::string> netdevs;
  for (const auto& [netdev, link] : input.facts.links) {
    if (netdev != "lo") netdevs.push_back(netdev);
  }
  if (netdevs.empty() || !SelectNames(list, netdevs).empty()) return {};
  return {MistakeKind::kAgainstFabric,
          fmt::format("names no interface that the node has: it has {}", Join(netdevs, ", ")),
          kRemoveDerived};
}

}  // namespace

bool SelectTheSame(const std::string& name, std::string_view a, std::string_view b,
                   const PluginInput& input) {
  std::vector<std::string> candidates;
  if (name == "NCCL_IB_HCA") {
    candidates = ListAllHcas(input);
  } else if (name == "NCCL_SOCKET_IFNAME" || name == "NCCL_OOB_NET_IFNAME") {
    for (const auto& [netdev, link] : input.facts.links) candidates.push_back(netdev);
  }
  const std::vector<std::string> selected = SelectNames(a, candidates);
  return !selected.empty() && selected == SelectNames(b, candidates);
}

std::vector<std::string> SelectNames(std::string_view list, const std::vector<std::string>& names) {
  const bool others = list.starts_with('^');
  if (others) list.remove_prefix(1);
  const bool exact = list.starts_with('=');
  if (exact) list.remove_prefix(1);
  std::vector<std::string> entries = Split(list, ',');
  for (std::string& entry : entries) entry = entry.substr(0, entry.find(':'));  // "mlx5_0:1"
  const auto named = [&](const std::string& name) {
    return std::any_of(entries.begin(), entries.end(), [&](const std::string& entry) {
      return exact ? name == entry : !entry.empty() && name.starts_with(entry);
    });
  };
  std::vector<std::string> selected;
  std::copy_if(names.begin(), names.end(), std::back_inserter(selected),
               [&](const std::string& name) { return named(name) != others; });
  return selected;
}

Mistake JudgeSelection(const ManifestVariable& variable, const PluginInput& input) {
  if (variable.name == "NCCL_IB_HCA") return JudgeHcas(variable.value, input);
  if (variable.name == "NCCL_SOCKET_IFNAME" || variable.name == "NCCL_OOB_NET_IFNAME") {
    return JudgeInterfaces(variable.value, input);
  }
  if (variable.name == "GLOO_SOCKET_IFNAME" || variable.name == "TP_SOCKET_IFNAME") {
    return JudgeInterfaces("=" + variable.value, input);  // whole names alone
  }
  return {};
}

}  // namespace reconciler::plugins::nccl
