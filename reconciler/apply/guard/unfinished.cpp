#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "reconciler/apply/guard/end_notes.h"
#include "reconciler/apply/guard/guard.h"
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr Milliseconds kReadLimit{30000};
// Where a node's peers check in rounds, one per node: a moment of 30 s at most, and pings.
constexpr Milliseconds kRoundLimit{45000};

struct UnfinishedApply {
  const NodeSpec* node = nullptr;
  std::string apply_id = {};
  std::string state = {};  // none, intent, commit, revert, finished
};

Error MakeUnreadJournalError(const NodeName& node, const ScriptReply& reply) {
  return {.kind = ErrorKind::kApply,
          .message = fmt::format("the journal could not be read: exit {}: {}", reply.exit_code,
                                 MakePrintable(Trim(reply.err))),
          .context = {node}};
}

// Of characters that need no quoting anywhere; see MakeApplyId.
bool IsApplyId(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
  });
}

Error MakeOddJournalError(const NodeName& node, std::string_view name) {
  return {.kind = ErrorKind::kApply,
          .message = fmt::format("the journal could not be read: '{}' is no name of an apply",
                                 MakePrintable(name)),
          .context = {node}};
}

Error MakeNotEndedError(const UnfinishedApply& one, const ScriptReply& reply) {
  return {.kind = ErrorKind::kApply,
          .message = fmt::format("the apply {} could not be ended: exit {}: {}",
                                 MakePrintable(one.apply_id), reply.exit_code,
                                 ExplainFailedEnd(reply.err)),
          .context = {one.node->name},
          .hint = fmt::format("run `sh guard revert` in {} on the node and read what it says",
                              GetJournalDirectory(MakePrintable(one.apply_id)))};
}

// What it was doing there is not known: a limit that passed says nothing of itself.
Error MakeNotEndedError(const UnfinishedApply& one, Error error) {
  error.message = fmt::format("the apply {} could not be ended: {}", MakePrintable(one.apply_id),
                              error.message);
  if (error.hint.empty()) {
    error.hint = fmt::format("`pgrep -af {}` on the node lists what runs of it; apply tries again",
                             GetJournalDirectory(MakePrintable(one.apply_id)));
  }
  return error;
}

Result<std::vector<UnfinishedApply>> Find(const std::vector<const NodeSpec*>& nodes,
                                          Sessions& sessions) {
  std::vector<UnfinishedApply> found;
  std::optional<Error> error;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(nodes, [&](const NodeSpec& node) {
    const auto reply = sessions.Run(node, BuildUnfinishedRequest(), kReadLimit);
    const std::lock_guard lock(mutex);
    if (!reply || reply->exit_code != 0) {
      error = reply ? MakeUnreadJournalError(node.name, *reply) : reply.error();
      return;
    }
    for (const std::string& line : SplitLines(reply->out)) {
      const std::vector<std::string> words = Split(line, ' ');
      if (words.size() != 2) continue;
      if (!IsApplyId(words[0])) {
        error = MakeOddJournalError(node.name, words[0]);
        return;
      }
      found.push_back({&node, words[0], words[1]});
    }
  });
  if (!thrown.empty()) error = std::move(thrown.begin()->second);
  if (error) return Fail(std::move(*error));
  return found;
}

// Who has decided stays with it; who is ready follows a peer that has committed.
UnfinishedEnd ChooseEnd(const UnfinishedApply& one, const std::vector<UnfinishedApply>& all) {
  const bool committed = std::any_of(all.begin(), all.end(), [&](const UnfinishedApply& other) {
    return other.apply_id == one.apply_id && (other.state == "commit" || other.state == "finished");
  });
  if (one.state == "commit" || (one.state == "intent" && committed)) return UnfinishedEnd::kCommit;
  return one.state == "intent" ? UnfinishedEnd::kCheckPeers : UnfinishedEnd::kRevert;
}

// One run over the nodes, with the first error that any of them met.
class Ending {
 public:
  Ending(const std::vector<const NodeSpec*>& nodes, Sessions& sessions,
         const std::vector<UnfinishedApply>& unfinished)
      : nodes_(nodes), sessions_(sessions), unfinished_(unfinished) {}

  void EndAll() {
    RecordThrown(ForEachNode(nodes_, [&](const NodeSpec& node) {
      for (const UnfinishedApply& one : unfinished_) {
        if (one.node != &node || one.state == "finished") continue;
        const auto reply =
            SendRequest(one, BuildEndUnfinishedRequest(one.apply_id, ChooseEnd(one, unfinished_)));
        if (!reply) return;
        RecordEnd(one, *reply);
      }
    }));
  }

  // Not before all have ended: a node may still check another's beacon.
  void FinishAll() {
    RecordThrown(ForEachNode(nodes_, [&](const NodeSpec& node) {
      for (const UnfinishedApply& one : committed_) {
        if (one.node == &node &&
            !SendRequest(one, BuildFinishRequest(GetJournalDirectory(one.apply_id))))
          return;
      }
    }));
  }

  std::optional<Error> error = {};

  std::vector<std::string> ListReports() {
    std::sort(reports_.begin(), reports_.end());
    std::vector<std::string> lines;
    for (const std::vector<std::string>& report : reports_) {
      lines.insert(lines.end(), report.begin(), report.end());
    }
    return lines;
  }

 private:
  void RecordEnd(const UnfinishedApply& one, const ScriptReply& reply) {
    const NodeName& node = one.node->name;
    const bool commit = Trim(reply.out) == "commit";
    std::vector<std::string> report = {
        fmt::format("{}: an earlier apply was cut off and is {} now: {}", node,
                    commit ? "completed" : "reverted", MakePrintable(one.apply_id))};
    EndNotes notes;
    notes.Read(reply.err);
    for (const std::string& line : notes.List()) {
      report.push_back(fmt::format("note: {}: {}", node, line));
    }
    const std::lock_guard lock(mutex_);
    reports_.push_back(std::move(report));
    if (commit) committed_.push_back(one);
  }

  void RecordThrown(NodeErrors thrown) {
    if (!thrown.empty()) error = std::move(thrown.begin()->second);
  }

  std::optional<ScriptReply> SendRequest(const UnfinishedApply& one, const std::string& request) {
    auto reply = sessions_.Run(*one.node, request,
                               kGuardEndLimit + kRoundLimit * static_cast<int>(nodes_.size()));
    if (reply && reply->exit_code == 0) return std::move(*reply);
    const std::lock_guard lock(mutex_);
    error = reply ? MakeNotEndedError(one, *reply) : MakeNotEndedError(one, reply.error());
    return std::nullopt;
  }

  const std::vector<const NodeSpec*>& nodes_;
  Sessions& sessions_;
  const std::vector<UnfinishedApply>& unfinished_;
  std::mutex mutex_ = {};
  std::vector<std::vector<std::string>> reports_ = {};  // lines of each apply and node
  std::vector<UnfinishedApply> committed_ = {};
};

}  // namespace

Result<bool> HasUnfinishedApplies(const std::vector<const NodeSpec*>& nodes, Sessions& sessions) {
  const auto found = Find(nodes, sessions);
  if (!found) return Fail(found.error());
  return std::any_of(found->begin(), found->end(),
                     [](const UnfinishedApply& one) { return one.state != "finished"; });
}

EndedApplies EndUnfinishedApplies(const std::vector<const NodeSpec*>& nodes, bool whole,
                                  Sessions& sessions) {
  auto unfinished = Find(nodes, sessions);
  if (!unfinished) return {.error = std::move(unfinished).error()};
  Ending ending(nodes, sessions, *unfinished);
  ending.EndAll();
  if (!ending.error && whole) ending.FinishAll();
  return {.lines = ending.ListReports(), .error = std::move(ending.error)};
}

}  // namespace reconciler
