#include "reconciler/apply/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "reconciler/apply/keep_generations.sh.h"
#include "reconciler/apply/list_generations.sh.h"
#include "reconciler/apply/record_verification.sh.h"
#include "reconciler/apply/remove_state.sh.h"
#include "reconciler/apply/write_ledger.sh.h"
#include "reconciler/base/json/json_reader.h"
#include "reconciler/base/number.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/model/json/json.h"
#include "reconciler/model/ledger.h"
#include "reconciler/node/frames.h"

namespace reconciler {
namespace {

constexpr Milliseconds kScriptLimit{30000};
constexpr std::string_view kFormat = "spark-reconcile/generation/1";

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

std::string ListKnown(const Histories& histories) {
  std::vector<std::string> texts;
  for (const int number : ListNumbers(histories)) texts.push_back(std::to_string(number));
  const std::string known =
      texts.empty() ? "nothing was applied to these nodes yet" : "known: " + Join(texts, ", ");
  return histories.errors.empty() ? known : known + ", as far as nodes could be read";
}

const Generation* FindGeneration(const std::vector<Generation>& generations, int number) {
  for (const Generation& generation : generations) {
    if (generation.number == number) return &generation;
  }
  return nullptr;
}

// Numbers that every node has.
std::set<int> ListCommonNumbers(const Histories& histories) {
  std::set<int> numbers = ListNumbers(histories);
  for (const auto& [node, generations] : histories.nodes) {
    const std::vector<Generation>& own = generations;
    std::erase_if(numbers, [&](int number) { return FindGeneration(own, number) == nullptr; });
  }
  return numbers;
}

// "spark-1 has it, spark-2 does not".
std::string ListHolders(const Histories& histories, int number) {
  std::vector<std::string> with;
  std::vector<std::string> without;
  for (const auto& [node, generations] : histories.nodes) {
    (FindGeneration(generations, number) != nullptr ? with : without).push_back(node);
  }
  return fmt::format("{} {} it, {} {} not", Join(with, ", "), with.size() == 1 ? "has" : "have",
                     Join(without, ", "), without.size() == 1 ? "does" : "do");
}

// The node of `present` that has the name `earlier`, or had it before; nullptr: none.
const NodeSpec* FindNodeNow(const ClusterSpec& present, const NodeName& earlier) {
  if (const NodeSpec* node = present.FindNode(earlier)) return node;
  const Value* now = present.settings.At({"moved", "nodes", earlier});
  return now == nullptr ? nullptr : present.FindNode(now->ScalarText());
}

// Under the names that they have, or had before.
bool IsSameCluster(const ClusterSpec& one, const ClusterSpec& other) {
  return one.name == other.name || one.name == other.former_name || one.former_name == other.name;
}

// The value of `key`; where there is no map, or none with that key, it is made.
Value& FindOrAdd(Value& map, std::string_view key) {
  if (!map.IsMap()) map.data = std::vector<Member>();
  auto& members = std::get<std::vector<Member>>(map.data);
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const Member& member) { return member.key == key; });
  if (found != members.end()) return found->value;
  return members.emplace_back(Member{.key = std::string(key)}).value;
}

template <class Number>
Number ReadCount(const JsonReader& reader) {
  const std::int64_t count = reader.Integer();
  if (count < 0 || !std::in_range<Number>(count)) {
    reader.Fail(fmt::format("wanted a count, found {}", count));
  }
  return static_cast<Number>(count);
}

}  // namespace

Result<std::vector<Generation>> ReadHistory(const NodeSpec& node, NodePool& pool) {
  const std::string nonce = MakeNonce();
  const std::string script = BuildScriptPreamble(nonce) + std::string(kListGenerationsSh);
  const auto reply = pool.Run(node, script, std::chrono::seconds(node.access.command_timeout_s));
  if (!reply) return Fail(reply.error());
  std::vector<Generation> history;
  for (Frame& frame : ParseFrames(*reply, nonce)) {
    const auto number = ParseNumber<int>(frame.label);
    if (!number) continue;  // "end"
    history.push_back({*number, std::move(frame.out)});
  }
  return history;
}

std::string FormatGeneration(const GenerationInfo& info) {
  nlohmann::ordered_json json = {{"format", kFormat},
                                 {"plan", info.plan},
                                 {"cluster", EncodeText(info.cluster)},
                                 {"manifest", EncodeText(info.manifest)},
                                 {"time", info.time},
                                 {"by", EncodeText(info.by)},
                                 {"changes", info.changes}};
  if (!info.commit.empty()) {
    json["commit"] = EncodeText(info.commit);
    json["dirty"] = info.dirty;
  }
  if (!info.verification.empty()) json["verification"] = EncodeText(info.verification);
  if (info.rolled_back_to >= 0) json["rolled_back_to"] = info.rolled_back_to;
  json["manifest_text"] = EncodeText(info.manifest_text);
  // On the first line, which is all that is read of it for a plan.
  return fmt::format("{}{}\",", kGenerationStart, info.manifest_digest) + Dump(json).substr(1);
}

Result<GenerationInfo> ParseGeneration(const std::string& document) {
  return ReadDocument<GenerationInfo>(document, [](const JsonReader& reader) {
    const JsonReader format = reader.At("format");
    if (format.Text() != kFormat) {
      format.Fail("wanted \"" + std::string(kFormat) + "\", found \"" + format.Text() + "\"");
    }
    const auto text = [&](const char* key) {
      return reader.Has(key) ? reader.At(key).Text() : std::string();
    };
    GenerationInfo info{.plan = reader.At("plan").Text(),
                        .cluster = reader.At("cluster").Text(),
                        .manifest = reader.At("manifest").Text(),
                        .manifest_digest = reader.At("manifest_digest").Text(),
                        .manifest_text = text("manifest_text"),
                        .time = reader.At("time").Text(),
                        .by = reader.At("by").Text(),
                        .commit = text("commit"),
                        .dirty = reader.Has("dirty") && reader.At("dirty").Bool(),
                        .verification = text("verification"),
                        .changes = ReadCount<std::size_t>(reader.At("changes"))};
    if (reader.Has("rolled_back_to")) {
      info.rolled_back_to = ReadCount<int>(reader.At("rolled_back_to"));
    }
    return info;
  });
}

Histories ReadHistories(const std::vector<const NodeSpec*>& nodes, NodePool& pool) {
  Histories histories;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(nodes, pool.at_once(), [&](const NodeSpec& node) {
    auto history = ReadHistory(node, pool);
    const std::lock_guard lock(mutex);
    if (history) {
      histories.nodes[node.name] = std::move(*history);
    } else {
      histories.errors.push_back(std::move(history).error());
    }
  });
  AppendErrors(std::move(thrown), histories.errors);
  return histories;
}

Result<ChosenGeneration> ChooseGeneration(const Histories& histories, int number) {
  if (histories.nodes.empty() && !histories.errors.empty()) {
    return Fail({.kind = ErrorKind::kTransport,
                 .message = "no generation is known: no node could be read"});
  }
  const std::set<int> numbers = ListNumbers(histories);
  if (number < 0 && numbers.size() < 2) {
    return Fail(MakeUsageError("no generation stands before the newest one",
                               ListKnown(histories) + "; `rollback --to 0` prunes everything"));
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
        MakeUsageError(fmt::format("no node has generation {}", number), ListKnown(histories)));
  }
  if (!agree) {
    return Fail(
        MakeUsageError(fmt::format("the nodes' manifests of generation {} are not the same: {}",
                                   number, Join(said, ", ")),
                       "choose another one, or apply the manifest that you want"));
  }
  if (chosen.info.manifest_text.empty()) {
    return Fail(MakeUsageError(fmt::format("generation {} holds no manifest", number),
                               ListKnown(histories)));
  }
  return chosen;
}

Result<ChosenGeneration> ChooseForRollback(const Histories& histories, int number) {
  const std::set<int> all = ListNumbers(histories);
  const std::set<int> common = ListCommonNumbers(histories);
  if (number < 0 && !all.empty() && !common.contains(*all.rbegin())) {
    return Fail(MakeUsageError(
        fmt::format("the nodes do not agree which generation is the newest: of generation {}, {}",
                    *all.rbegin(), ListHolders(histories, *all.rbegin())),
        common.empty() ? "apply the manifest that you want"
                       : fmt::format("name one that all have: --to {}", *common.rbegin())));
  }
  const std::set<int>& known = common.size() > 1 ? common : all;
  if (number < 0 && known.size() > 1) number = *std::next(known.rbegin());
  if (number >= 0 && all.contains(number) && !common.contains(number)) {
    return Fail(MakeUsageError(
        fmt::format("not every node has generation {}: {}", number, ListHolders(histories, number)),
        fmt::format("`history --show {}` prints its manifest: review it, and apply it as a file",
                    number)));
  }
  return ChooseGeneration(histories, number);
}

std::string DescribeRollback(const Histories& histories, const ChosenGeneration& chosen) {
  const GenerationInfo& info = chosen.info;
  std::string text = fmt::format("generation {} of {} ({}), applied {} by {}\n", chosen.number,
                                 MakePrintable(info.manifest), info.manifest_digest.substr(0, 12),
                                 MakePrintable(info.time), MakePrintable(info.by));
  const std::set<int> common = ListCommonNumbers(histories);
  const auto newest = ChooseGeneration(histories, *common.rbegin());
  if (!newest || newest->info.manifest_text != info.manifest_text) return text;
  for (auto number = common.rbegin(); number != common.rend(); ++number) {
    const auto other = ChooseGeneration(histories, *number);
    if (!other || other->info.manifest_text == info.manifest_text) continue;
    return text + fmt::format(
                      "its manifest is that of generation {} too; the last one with "
                      "another is generation {}, applied {}\n",
                      *common.rbegin(), *number, MakePrintable(other->info.time));
  }
  return text + fmt::format(
                    "its manifest is that of generation {} too, and no generation has "
                    "another\n",
                    *common.rbegin());
}

Result<void> UseAccessOf(const ClusterSpec& present, ClusterSpec& earlier) {
  if (!IsSameCluster(present, earlier)) {
    const std::string name = MakePrintable(earlier.name);
    return Fail(MakeUsageError(
        fmt::format("{} is of cluster '{}', and {} of '{}'", MakePrintable(earlier.file), name,
                    present.file, present.name),
        fmt::format("after a rename, write `moved: {{cluster: {}}}` in {}", name, present.file)));
  }
  std::vector<std::string> missing;
  for (NodeSpec& node : earlier.nodes) {
    const NodeSpec* now = FindNodeNow(present, node.name);
    if (now == nullptr) {
      missing.push_back(node.name);
      continue;
    }
    node.address = now->address;
    node.access = now->access;
  }
  if (missing.empty()) return {};
  return Fail(MakeUsageError(
      fmt::format("{} has {}, which {} does not have", MakePrintable(earlier.file),
                  Join(missing, ", "), present.file),
      "addresses and access are taken from there: add what is missing, then roll back; after a "
      "rename, write `moved: {nodes: {OLD: NEW}}` instead"));
}

void ReverseMoves(const ClusterSpec& present, ClusterSpec& earlier) {
  if (!present.former_name.empty() && present.former_name == earlier.name) {
    earlier.former_name = present.name;
  }
  for (const NodeSpec& node : earlier.nodes) {
    const NodeSpec* now = FindNodeNow(present, node.name);
    if (now == nullptr || now->name == node.name) continue;
    Value& moved = FindOrAdd(earlier.settings, "moved");
    FindOrAdd(FindOrAdd(moved, "nodes"), now->name).data = node.name;
  }
}

std::string BuildKeepGenerationsScript(int number, const std::string& document,
                                       const std::string& ledger) {
  return AssignForShell({{"D", kStateFolder},
                         {"N", std::to_string(number)},
                         {"MOST", std::to_string(kMostGenerations)},
                         {"DOCUMENT", document},
                         {"LEDGER", ledger}}) +
         std::string(kKeepGenerationsSh);
}

std::string BuildRecordVerificationScript(int number, const std::string& document) {
  return AssignForShell({{"F", fmt::format("{}/generations/{}.json", kStateFolder, number)},
                         {"DOCUMENT", document}}) +
         std::string(kRecordVerificationSh);
}

std::string BuildWriteLedgerScript(const std::string& ledger, const std::string& owned) {
  return AssignForShell({{"D", kStateFolder}, {"OWNED", owned}, {"LEDGER", ledger}}) +
         std::string(kWriteLedgerSh);
}

std::string BuildRemoveStateScript() {
  return AssignForShell({{"D", kStateFolder}}) + std::string(kRemoveStateSh);
}

Errors RunOnNodes(const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                  const std::string& what,
                  const std::function<std::string(const NodeName&)>& script) {
  Errors errors;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(nodes, pool.at_once(), [&](const NodeSpec& node) {
    const std::string text = script(node.name);
    if (text.empty()) return;
    const auto reply = pool.Run(node, BuildScriptPreamble(MakeNonce()) + text, kScriptLimit);
    if (reply && reply->exit_code == 0) return;
    const std::lock_guard lock(mutex);
    if (!reply) {
      errors.push_back(reply.error());
      return;
    }
    errors.push_back({.kind = ErrorKind::kApply,
                      .message = fmt::format("{}: exit {}: {}", what, reply->exit_code,
                                             MakePrintable(Trim(reply->err))),
                      .context = {node.name}});
  });
  AppendErrors(std::move(thrown), errors);
  return errors;
}

}  // namespace reconciler
