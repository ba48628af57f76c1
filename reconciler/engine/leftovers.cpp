#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "reconciler/base/text.h"
#include "reconciler/engine/guard.h"

namespace reconciler {
namespace {

constexpr Milliseconds kReadLimit{30000};
constexpr Milliseconds kEndLimit{180000};

struct Leftover {
  const NodeSpec* node = nullptr;
  std::string apply_id = {};
  std::string state = {};  // none, intent, commit, revert, finished
};

Error Failed(const NodeName& node, const ScriptReply& reply) {
  return {.kind = ErrorKind::kApply,
          .message = fmt::format("an earlier apply could not be ended: exit {}: {}",
                                 reply.exit_code, Printable(Trim(reply.err))),
          .context = {node},
          .hint =
              "run the script `revert` in the newest folder below "
              "/var/lib/spark-reconcile/journal on the node and read what it says"};
}

Result<std::vector<Leftover>> Find(const std::vector<const NodeSpec*>& nodes, Sessions& sessions) {
  std::vector<Leftover> found;
  std::optional<Error> error;
  std::mutex mutex;
  ForEachNode(nodes, [&](const NodeSpec& node) {
    const auto reply = sessions.Run(node, LeftoversRequest(), kReadLimit);
    const std::lock_guard lock(mutex);
    if (!reply || reply->exit_code != 0) {
      error = reply ? Failed(node.name, *reply) : reply.error();
      return;
    }
    for (const std::string& line : SplitLines(reply->out)) {
      const std::vector<std::string> words = Split(line, ' ');
      if (words.size() == 2) found.push_back({&node, words[0], words[1]});
    }
  });
  if (error) return Fail(std::move(*error));
  return found;
}

}  // namespace

Result<std::vector<std::string>> EndLeftovers(const std::vector<const NodeSpec*>& nodes,
                                              Sessions& sessions) {
  const auto leftovers = Find(nodes, sessions);
  if (!leftovers) return Fail(leftovers.error());
  std::vector<std::string> told;
  std::optional<Error> error;
  std::mutex mutex;
  ForEachNode(nodes, [&](const NodeSpec& node) {
    for (const Leftover& one : *leftovers) {
      if (one.node != &node || one.state == "finished") continue;
      // Who has decided stays with it; who is ready follows a peer that has committed.
      const bool committed =
          std::any_of(leftovers->begin(), leftovers->end(), [&](const Leftover& other) {
            return other.apply_id == one.apply_id &&
                   (other.state == "commit" || other.state == "finished");
          });
      const bool commit = one.state == "commit" || (one.state == "intent" && committed);
      const auto reply = sessions.Run(
          node, EndLeftoverRequest(one.apply_id, commit ? "commit" : "revert"), kEndLimit);
      const std::lock_guard lock(mutex);
      if (!reply || reply->exit_code != 0) {
        error = reply ? Failed(node.name, *reply) : reply.error();
        return;
      }
      told.push_back(fmt::format("{}: an earlier apply was cut off and is {} now: {}", node.name,
                                 commit ? "completed" : "taken back", Printable(one.apply_id)));
    }
  });
  if (error) return Fail(std::move(*error));
  std::sort(told.begin(), told.end());
  return told;
}

}  // namespace reconciler
