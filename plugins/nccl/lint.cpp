#include "plugins/nccl/lint.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kRemoveIt = "remove it";

std::string MakeNameHint(const std::string& name, const std::vector<std::string>& candidates) {
  const auto close = FindClosestMatch(name, candidates);
  return close ? fmt::format("did you mean '{}'?", *close) : kRemoveIt;
}

Mistake JudgeUnknownName(const std::string& name, const LintContext& context) {
  if (context.library != nullptr) {
    if (context.library->Knows(name)) return {};
    return {fmt::format("{} has no such variable", FormatLabel(*context.library)),
            MakeNameHint(name, {context.library->names.begin(), context.library->names.end()})};
  }
  const auto close = FindClosestMatch(name, ListKnownVariables());
  if (!context.on_node && !close) return {};  // a node's library may know it
  return {"no NCCL that is known here has such a variable",
          MakeNameHint(name, ListKnownVariables())};
}

Mistake JudgePatched(const std::string& name, const LintContext& context) {
  if (context.library != nullptr) {
    if (context.library->Knows(name)) return {};
    return {fmt::format("only private patches read it, and {} has none of them",
                        FormatLabel(*context.library)),
            kRemoveIt};
  }
  if (!context.on_node) return {};
  return {"only private patches read it, and no libnccl was found to check", kRemoveIt};
}

Mistake JudgeAgainstFabric(const std::string& name, std::string_view value,
                           const LintContext& context) {
  if (name == "NCCL_IB_DISABLE" && value != "0") {
    return {"turns RDMA off: all traffic would go over TCP", kRemoveIt};
  }
  if (name == "NCCL_NET" && ToLower(value) == "socket") {
    return {"chooses TCP: RDMA would not be used", kRemoveIt};
  }
  for (const EnvVariable& need : context.needed) {
    if (need.name != name || ToLower(need.value) == ToLower(value)) continue;
    return {fmt::format("wanted {} on this fabric, found {}: {}", need.value, MakePrintable(value),
                        need.why),
            kRemoveIt};
  }
  return {};
}

// What depends on the fabric and on the other settings.
Mistake JudgeUse(const std::string& name, const LintContext& context) {
  if (name == "NCCL_IB_MERGE_NICS" && !context.two_cages) {
    return {"has no effect here: NCCL fuses the two cages of one PCI domain, and one has a cable",
            kRemoveIt};
  }
  if (context.gid_pinned && (name == "NCCL_IB_ROCE_VERSION_NUM" || name == "NCCL_IB_ADDR_FAMILY" ||
                             name == "NCCL_IB_ADDR_RANGE")) {
    return {"has no effect here: nccl.gid_index pins the index that it would choose", kRemoveIt};
  }
  return {};
}

}  // namespace

Mistake JudgeSetting(const std::string& name, std::string_view value, const LintContext& context) {
  if (!name.starts_with("NCCL_") || name.starts_with("NCCL_TESTS_")) return {};
  const Rule* rule = FindRule(name);
  if (rule == nullptr && !IsKnownName(name)) return JudgeUnknownName(name, context);
  if (rule != nullptr && rule->standing == Standing::kNever) {
    return {"no NCCL reads it", std::string(rule->note)};
  }
  if (rule != nullptr && rule->standing == Standing::kPatched) return JudgePatched(name, context);
  if (context.library != nullptr && !context.library->Knows(name)) {
    return {fmt::format("{} has no such variable and ignores it", FormatLabel(*context.library)),
            rule != nullptr && !rule->since.empty() ? fmt::format("it came with {}", rule->since)
                                                    : std::string(kRemoveIt)};
  }
  static constexpr Rule kAnyText = {.name = {}};
  if (Mistake wrong = JudgeValue(rule == nullptr ? kAnyText : *rule, value); !wrong.Empty()) {
    return wrong;
  }
  if (rule != nullptr && rule->standing == Standing::kNoEffect && context.sparks) {
    return {fmt::format("has no effect here: {}", rule->note), kRemoveIt};
  }
  if (Mistake wrong = JudgeAgainstFabric(name, value, context); !wrong.Empty()) return wrong;
  return JudgeUse(name, context);
}

}  // namespace reconciler::plugins::nccl
