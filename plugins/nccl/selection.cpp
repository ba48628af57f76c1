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
  for (const auto& [netdev, link] : input.facts.links) {
    if (netdev != "lo") netdevs.push_back(netdev);
  }
  return netdevs;
}

// A list as it is written: "^mlx5_0:1,mlx5_1" leaves out what begins so.
struct List {
  bool leaves_out = false;
  bool is_exact = false;
  std::vector<std::string> entries = {};  // with their ports
};

List ParseList(std::string_view value) {
  List list;
  list.leaves_out = value.starts_with('^');
  if (list.leaves_out) value.remove_prefix(1);
  list.is_exact = value.starts_with('=');
  if (list.is_exact) value.remove_prefix(1);
  list.entries = Split(value, ',');
  std::erase(list.entries, "");
  return list;
}

std::string FindName(const std::string& entry) { return entry.substr(0, entry.find(':')); }

std::vector<std::string> ListBeginning(const std::vector<std::string>& names,
                                       const std::string& prefix) {
  std::vector<std::string> found;
  std::copy_if(names.begin(), names.end(), std::back_inserter(found),
               [&](const std::string& name) { return name.starts_with(prefix); });
  return found;
}

// The same list by whole names: an entry that is none stands for all that begin so.
std::string WriteExact(const List& list, const std::vector<std::string>& names) {
  std::vector<std::string> entries;
  for (const std::string& entry : list.entries) {
    const std::string name = FindName(entry);
    const std::vector<std::string> begun = ListBeginning(names, name);
    if (begun.empty() || std::find(begun.begin(), begun.end(), name) != begun.end()) {
      entries.push_back(entry);
      continue;
    }
    for (const std::string& one : begun) entries.push_back(one + entry.substr(name.size()));
  }
  return fmt::format("{}={}", list.leaves_out ? "^" : "", Join(entries, ","));
}

Mistake MakePrefixMistake(MistakeKind kind, std::string what, const List& list,
                          const std::vector<std::string>& names) {
  return {kind, std::move(what), fmt::format("write '{}'", MakePrintable(WriteExact(list, names)))};
}

// To leave out all interfaces that begin so ("^docker") is what such a list is for.
bool MayMatchByPrefix(std::string_view variable, const List& list) {
  return !list.is_exact && !(list.leaves_out && IsInterfaceList(variable));
}

// An entry that begins several of `names`.
Mistake FindAmbiguous(const List& list, const std::vector<std::string>& names) {
  for (const std::string& entry : list.entries) {
    const std::string prefix = FindName(entry);
    const std::vector<std::string> begun = ListBeginning(names, prefix);
    if (begun.size() < 2) continue;
    return MakePrefixMistake(MistakeKind::kMisread,
                             fmt::format("'{}' matches by prefix: it takes {}",
                                         MakePrintable(prefix), MakePrintable(Join(begun, ", "))),
                             list, names);
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

std::vector<std::string> SelectNames(std::string_view value,
                                     const std::vector<std::string>& names) {
  const List list = ParseList(value);
  const auto is_named = [&](const std::string& name) {
    return std::any_of(list.entries.begin(), list.entries.end(), [&](const std::string& entry) {
      const std::string wanted = FindName(entry);
      return list.is_exact ? name == wanted : !wanted.empty() && name.starts_with(wanted);
    });
  };
  std::vector<std::string> selected;
  std::copy_if(names.begin(), names.end(), std::back_inserter(selected),
               [&](const std::string& name) { return is_named(name) != list.leaves_out; });
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
  const List list = ParseList(variable.value);
  if (!MayMatchByPrefix(variable.name, list)) return {};
  for (const NodeSpec& node : cluster.nodes) {
    const Hardware* hardware = cluster.FindHardware(node);
    if (hardware == nullptr) continue;
    std::vector<std::string> names;
    for (const Cage& cage : hardware->cages) {
      for (const Twin& twin : cage.twins) names.push_back(is_hcas ? twin.hca : twin.netdev);
    }
    if (Mistake wrong = FindAmbiguous(list, names); !wrong.Empty()) {
      return wrong;
    }
  }
  return {};
}

Mistake JudgePrefixes(const std::string& name, std::string_view value, const PluginInput& input) {
  const std::vector<std::string> names = ListCandidates(name, input);
  const List list = ParseList(value);
  if (names.empty() || list.entries.empty() || !MayMatchByPrefix(name, list)) return {};
  if (Mistake wrong = FindAmbiguous(list, names); !wrong.Empty()) return wrong;
  for (const std::string& entry : list.entries) {
    if (ListBeginning(names, FindName(entry)).empty()) return {};  // JudgeEntries' to judge
  }
  return MakePrefixMistake(MistakeKind::kReadAsMeant,
                           "matches by prefix, which is clear among the names of this node", list,
                           names);
}

Mistake JudgeEntries(const std::string& name, std::string_view value, const PluginInput& input) {
  const std::vector<std::string> names = ListCandidates(name, input);
  const List list = ParseList(value);
  if (list.leaves_out || SelectNames(value, names).empty()) return {};  // JudgeSelection's to judge
  std::vector<std::string> unknown;
  for (const std::string& entry : list.entries) {
    const std::string wanted = FindName(entry);
    const bool is_known = std::any_of(names.begin(), names.end(), [&](const std::string& one) {
      return list.is_exact ? one == wanted : one.starts_with(wanted);
    });
    if (!is_known) unknown.push_back(wanted);
  }
  if (unknown.empty()) return {};
  return {MistakeKind::kReadAsMeant,
          fmt::format("no name of this node is, or begins with, {}: it has {}",
                      MakePrintable(Join(unknown, " or ")), MakePrintable(Join(names, ", "))),
          "correct it, or remove it"};
}

}  // namespace reconciler::plugins::nccl
