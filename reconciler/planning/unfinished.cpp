#include "reconciler/planning/unfinished.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reconciler/base/name_pattern.h"
#include "reconciler/base/text.h"
#include "reconciler/planning/plan_maker.h"

namespace reconciler {
namespace {

using NodesOf = std::map<std::string, std::vector<NodeName>>;  // by apply

}  // namespace

std::string NameApply(std::string_view apply_id) {
  constexpr std::size_t kTime = 14;  // YYYYMMDDhhmmss
  const std::size_t dash = apply_id.find('-');
  const std::string plan = MakePrintable(apply_id.substr(0, dash));
  const std::string_view word = dash == std::string_view::npos ? "" : apply_id.substr(dash + 1);
  const std::string_view time = word.substr(0, kTime);
  const bool dated = word.size() > kTime && std::all_of(time.begin(), time.end(), [](char sign) {
                       return sign >= '0' && sign <= '9';
                     });
  if (!dated) return fmt::format("apply {}", MakePrintable(apply_id));
  return fmt::format("apply {} of {}-{}-{} {}:{} UTC", plan, time.substr(0, 4), time.substr(4, 2),
                     time.substr(6, 2), time.substr(8, 2), time.substr(10, 2));
}

std::string FormatUnfinished(std::string_view apply_id) {
  return NameApply(apply_id) + " is unfinished; apply ends it first";
}

std::vector<std::string> ListUnfinished(const ClusterFacts& facts) {
  NodesOf nodes_of;
  for (const auto& [name, node] : facts.nodes) {
    for (const std::string& id : node.apply.undecided) nodes_of[id].push_back(name);
  }
  std::vector<std::string> lines;
  for (const auto& [id, nodes] : nodes_of) {
    lines.push_back(fmt::format("{}: {}", Join(nodes, ", "), FormatUnfinished(id)));
  }
  return lines;
}

std::vector<Diagnostic> DiagnoseUnfinished(const ClusterFacts& facts,
                                           const std::vector<NodeName>& selected) {
  NodesOf nodes_of;
  for (const auto& [name, node] : facts.nodes) {
    if (!IsNameSelected(selected, name) || Known(node.apply.lease) != nullptr) continue;
    for (const std::string& id : node.apply.undecided) nodes_of[id].push_back(name);
  }
  std::vector<Diagnostic> diagnostics;
  for (const auto& [id, nodes] : nodes_of) {
    diagnostics.push_back({.code = "plan-apply-unfinished",
                           .message = FormatUnfinished(id),
                           .subject = id,
                           .nodes = nodes});
  }
  return diagnostics;
}

}  // namespace reconciler
