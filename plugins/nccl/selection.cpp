#include "plugins/nccl/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "plugins/nccl/leftovers/unknown_devices.h"
#include "plugins/nccl/wanted.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kRemoveDerived = "remove it: the fabric defines it for each node";

std::vector<std::string> ListAllHcas(const PluginInput& input) {
  std::vector<std::string> hcas = ListHcas(input.facts);
  const Hardware* hardware = input.cluster.FindHardware(input.node);
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

bool IsInterfaceList(std::string_view name) {
  return name == "NCCL_SOCKET_IFNAME" || name == "NCCL_OOB_NET_IFNAME";
}

// The names among which NCCL selects by that variable; empty: not known, or it is no such list.
std::vector<std::string> ListCandidates(const std::string& name, const PluginInput& input) {
  if (name == "NCCL_IB_HCA") return ListAllHcas(input);
  std::vector<std::string> netdevs;
  if (!IsInterfaceList(name)) return netdevs;
  for (const auto& [netdev, link] : input.facts.links) netdevs.push_back(netdev);
  return netdevs;
}

// "enp1s0f1np1,mlx5_0:1" as the names alone; nothing where the list is exact.
std::vector<std::string> ListPrefixes(std::string_view value) {
  if (value.starts_with('^')) value.remove_prefix(1);
  if (value.starts_with('=')) return {};
  std::vector<std::string> entries = Split(value, ',');
  for (std::string& entry : entries) entry = entry.substr(0, entry.find(':'));
  std::erase(entries, "");
  return entries;
}

std::vector<std::string> ListBeginning(const std::vector<std::string>& names,
                                       const std::string& prefix) {
  std::vector<std::string> found;
  std::copy_if(names.begin(), names.end(), std::back_inserter(found),
               [&](const std::string& name) { return name.starts_with(prefix); });
  return found;
}

Mistake MakePrefixMistake(MistakeKind kind, std::string what, std::string_view value) {
  const bool others = value.starts_with('^');
  if (others) value.remove_prefix(1);
  return {kind, std::move(what),
          fmt::format("write '{}={}'", others ? "^" : "", MakePrintable(value))};
}

// An entry that begins several of `names`. To leave out all interfaces that begin so ("^docker") is
// what such a list is for.
Mistake FindAmbiguous(std::string_view variable, std::string_view value,
                      const std::vector<std::string>& names) {
  if (value.starts_with('^') && IsInterfaceList(variable)) return {};
  for (const std::string& prefix : ListPrefixes(value)) {
    const std::vector<std::string> begun = ListBeginning(names, prefix);
    if (begun.size() < 2) continue;
    return MakePrefixMistake(MistakeKind::kMisread,
                             fmt::format("'{}' matches by prefix: it takes {}",
                                         MakePrintable(prefix), MakePrintable(Join(begun, ", "))),
                             value);
  }
  return {};
}

// What a list of Open MPI or UCX names and the node has not.
Mistake JudgeLauncher(const ManifestVariable& variable, const PluginInput& input) {
  const std::vector<std::string> unknown = ListUnknownDevices(input, variable.value);
  if (unknown.empty()) return {};
  return {MistakeKind::kAgainstFabric,
          fmt::format("the node has no interface or HCA called {}", Join(unknown, ", ")),
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
  const std::vector<std::string> candidates = ListCandidates(name, input);
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
  if (IsInterfaceList(variable.name)) return JudgeInterfaces(variable.value, input);
  if (variable.name == "GLOO_SOCKET_IFNAME" || variable.name == "TP_SOCKET_IFNAME") {
    return JudgeInterfaces("=" + variable.value, input);  // whole names alone
  }
  if (variable.name == "UCX_NET_DEVICES" || variable.name == "OMPI_MCA_btl_tcp_if_include" ||
      variable.name == "OMPI_MCA_oob_tcp_if_include") {
    return JudgeLauncher(variable, input);
  }
  return {};
}

Mistake JudgeByProfiles(const ManifestVariable& variable, const ClusterSpec& cluster) {
  const bool is_hcas = variable.name == "NCCL_IB_HCA";
  if (!is_hcas && !IsInterfaceList(variable.name)) return {};
  for (const NodeSpec& node : cluster.nodes) {
    const Hardware* hardware = cluster.FindHardware(node);
    if (hardware == nullptr) continue;
    std::vector<std::string> names;
    for (const Cage& cage : hardware->cages) {
      for (const Twin& twin : cage.twins) names.push_back(is_hcas ? twin.hca : twin.netdev);
    }
    if (Mistake wrong = FindAmbiguous(variable.name, variable.value, names); !wrong.Empty()) {
      return wrong;
    }
  }
  return {};
}

Mistake JudgePrefixes(const std::string& name, std::string_view value, const PluginInput& input) {
  const std::vector<std::string> names = ListCandidates(name, input);
  if (names.empty() || ListPrefixes(value).empty()) return {};
  if (Mistake wrong = FindAmbiguous(name, value, names); !wrong.Empty()) return wrong;
  for (const std::string& prefix : ListPrefixes(value)) {
    if (ListBeginning(names, prefix).empty()) return {};  // JudgeSelection's to judge
  }
  return MakePrefixMistake(MistakeKind::kReadAsMeant,
                           "matches by prefix, which is clear among the names of this node", value);
}

}  // namespace reconciler::plugins::nccl
