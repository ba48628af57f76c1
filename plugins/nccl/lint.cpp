#include "plugins/nccl/lint.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kRemoveIt = "remove it";

// `otherwise`: what it is where no name is near.
Mistake MakeNameMistake(const std::string& name, std::string what,
                        const std::vector<std::string>& candidates, MistakeKind otherwise) {
  const auto close = FindClosestMatch(name, candidates);
  if (!close) return {otherwise, std::move(what), kRemoveIt};
  return {MistakeKind::kMisspelled, std::move(what), fmt::format("did you mean '{}'?", *close)};
}

Mistake JudgeUnknownName(const std::string& name, const LintContext& context) {
  if (context.library != nullptr) {
    if (context.library->Knows(name)) return {};
    return MakeNameMistake(
        name, fmt::format("{} has no such variable", FormatLabel(*context.library)),
        {context.library->names.begin(), context.library->names.end()}, MistakeKind::kUnread);
  }
  Mistake wrong = MakeNameMistake(name, "no NCCL that is known here has such a variable",
                                  ListKnownVariables(), MistakeKind::kUnknown);
  // A node's library may know it.
  return wrong.kind == MistakeKind::kUnknown && !context.on_node ? Mistake{} : wrong;
}

Mistake JudgePatched(const std::string& name, const LintContext& context) {
  if (context.library != nullptr) {
    if (context.library->Knows(name)) return {};
    return {MistakeKind::kUnread,
            fmt::format("only private patches read it, and {} has none of them",
                        FormatLabel(*context.library)),
            kRemoveIt};
  }
  if (!context.on_node) return {};
  return {MistakeKind::kUnknown, "only private patches read it, and no libnccl was found to check",
          kRemoveIt};
}

Mistake JudgeAgainstFabric(const std::string& name, std::string_view value,
                           const LintContext& context) {
  if (name == "NCCL_IB_DISABLE" && value != "0") {
    return {MistakeKind::kAgainstFabric, "turns RDMA off: all traffic would go over TCP",
            kRemoveIt};
  }
  if (name == "NCCL_NET" && ToLower(value) == "socket") {
    return {MistakeKind::kAgainstFabric, "chooses TCP: RDMA would not be used", kRemoveIt};
  }
  for (const EnvVariable& need : context.needed) {
    const bool same = MeanTheSame(name, need.value, value) || ToLower(need.value) == ToLower(value);
    if (need.name != name || same) continue;
    return {MistakeKind::kAgainstFabric,
            fmt::format("wanted {} on this fabric, found {}: {}", need.value, MakePrintable(value),
                        need.why),
            kRemoveIt};
  }
  return {};
}

// Only all_reduce has a tree (https://github.com/NVIDIA/nccl/issues/1473).
Mistake JudgeTree(std::string_view value, const LintContext& context) {
  if (context.gathers.empty() || ToLower(value) != "tree") return {};
  return {MistakeKind::kMisread,
          fmt::format("only all_reduce can use a tree: {} ends with an error, or ignores this",
                      context.gathers),
          "write 'allreduce:tree'"};
}

// What depends on the fabric and on the other settings.
Mistake JudgeUse(const std::string& name, std::string_view value, const LintContext& context) {
  if (name == "NCCL_ALGO") return JudgeTree(value, context);
  if (name == "NCCL_IB_MERGE_NICS" && !context.two_cages) {
    return {MistakeKind::kNoEffect,
            "has no effect here: NCCL fuses the two cages of one PCI domain, and one has a cable",
            kRemoveIt};
  }
  if (context.gid_pinned && (name == "NCCL_IB_ROCE_VERSION_NUM" || name == "NCCL_IB_ADDR_FAMILY" ||
                             name == "NCCL_IB_ADDR_RANGE")) {
    return {MistakeKind::kNoEffect,
            "has no effect here: nccl.gid_index pins the index that it would choose", kRemoveIt};
  }
  return {};
}

}  // namespace

Mistake JudgeSetting(const std::string& name, std::string_view value, const LintContext& context) {
  if (!name.starts_with("NCCL_") || name.starts_with("NCCL_TESTS_")) return {};
  const Rule* rule = FindRule(name);
  if (rule == nullptr && !IsKnownName(name)) return JudgeUnknownName(name, context);
  if (rule != nullptr && rule->standing == Standing::kNever) {
    return {MistakeKind::kUnread, "no NCCL reads it", std::string(rule->note)};
  }
  if (rule != nullptr && rule->standing == Standing::kPatched) return JudgePatched(name, context);
  if (context.library != nullptr && !context.library->Knows(name)) {
    return {MistakeKind::kUnread,
            fmt::format("{} has no such variable and ignores it", FormatLabel(*context.library)),
            rule != nullptr && !rule->since.empty() ? fmt::format("it came with {}", rule->since)
                                                    : std::string(kRemoveIt)};
  }
  static constexpr Rule kAnyText = {.name = {}};
  if (Mistake wrong = JudgeValue(rule == nullptr ? kAnyText : *rule, value); !wrong.Empty()) {
    return wrong;
  }
  if (rule != nullptr && rule->standing == Standing::kNoEffect && context.sparks) {
    return {MistakeKind::kNoEffect, fmt::format("has no effect here: {}", rule->note), kRemoveIt};
  }
  if (Mistake wrong = JudgeAgainstFabric(name, value, context); !wrong.Empty()) return wrong;
  return JudgeUse(name, value, context);
}

}  // namespace reconciler::plugins::nccl
