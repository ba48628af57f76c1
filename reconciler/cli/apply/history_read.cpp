#include "reconciler/cli/apply/history_read.h"

#include <fmt/format.h>

#include <mutex>
#include <set>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/dial.h"

namespace reconciler::cli {
namespace {

Error MakeUsageError(std::string message, std::string hint) {
  return {.kind = ErrorKind::kUsage, .message = std::move(message), .hint = std::move(hint)};
}

std::set<int> ListNumbers(const Histories& histories) {
  std::set<int> numbers;
  for (const auto& [node, generations] : histories.nodes) {
    for (const Generation& generation : generations) numbers.insert(generation.number);
  }
  return numbers;
}

std::string ListKnown(const std::set<int>& numbers) {
  std::vector<std::string> texts;
  for (const int number : numbers) texts.push_back(std::to_string(number));
  return texts.empty() ? "nothing was applied to these nodes yet" : "known: " + Join(texts, ", ");
}

}  // namespace

Histories ReadHistories(const Cluster& cluster, const std::vector<NodeName>& nodes) {
  NodePool pool(DialNode);
  Histories histories;
  std::mutex mutex;
  ForEachNode(SelectNodes(cluster.spec, nodes), [&](const NodeSpec& node) {
    auto history = ReadHistory(node, pool);
    const std::lock_guard lock(mutex);
    if (history) {
      histories.nodes[node.name] = std::move(*history);
    } else {
      histories.errors.push_back(std::move(history).error());
    }
  });
  return histories;
}

Result<ChosenGeneration> ChooseGeneration(const Histories& histories, int number) {
  const std::set<int> numbers = ListNumbers(histories);
  if (number < 0 && numbers.size() < 2) {
    return Fail(MakeUsageError("no generation stands before the newest one",
                               ListKnown(numbers) + "; `rollback --to 0` takes everything back"));
  }
  if (number < 0) number = *std::next(numbers.rbegin());
  ChosenGeneration chosen{.number = number};
  std::vector<std::string> said;
  bool agree = true;
  for (const auto& [node, generations] : histories.nodes) {
    for (const Generation& generation : generations) {
      if (generation.number != number) continue;
      auto info = ParseGeneration(generation.document);
      if (!info) return Fail(AddContext(std::move(info).error(), node));
      agree &= said.empty() || info->manifest_text == chosen.info.manifest_text;
      said.push_back(fmt::format("{} has {}", node, info->manifest_digest.substr(0, 12)));
      if (said.size() == 1) chosen.info = std::move(*info);
    }
  }
  if (said.empty()) {
    return Fail(
        MakeUsageError(fmt::format("no node knows generation {}", number), ListKnown(numbers)));
  }
  if (!agree) {
    return Fail(
        MakeUsageError(fmt::format("the nodes' manifests of generation {} are not the same: {}",
                                   number, Join(said, ", ")),
                       "choose another one, or apply the manifest that you want"));
  }
  if (chosen.info.manifest_text.empty()) {
    return Fail(
        MakeUsageError(fmt::format("generation {} holds no manifest", number), ListKnown(numbers)));
  }
  return chosen;
}

}  // namespace reconciler::cli
