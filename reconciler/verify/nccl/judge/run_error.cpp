#include "reconciler/verify/nccl/judge/run_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>

#include "reconciler/base/text.h"
#include "reconciler/verify/nccl/evidence/log.h"
#include "reconciler/verify/nccl/evidence/variables.h"

namespace reconciler {
namespace {

constexpr int kRemoteError = 6;  // ncclRemoteError: another rank went away

bool Contains(const std::string& text, std::string_view words) {
  return text.find(words) != std::string::npos;
}

// It gave up calling another rank, which may be the other one's fault or the way's.
bool IsTimeout(const spark_verify::NcclFailure& failure) {
  return Contains(failure.text, "socketPollConnect") ||
         Contains(failure.last_error, "socketPollConnect");
}

// Messages of a rank that felt how another one went away.
bool IsVictim(const spark_verify::NcclFailure& failure) {
  if (failure.result == kRemoteError || failure.async == kRemoteError) return true;
  for (const std::string_view words :
       {"remote peer", "Connection reset", "Broken pipe", "Connection closed"}) {
    if (Contains(failure.last_error, words) || Contains(failure.text, words)) return true;
  }
  return false;
}

// The lower, the nearer to the cause.
int RankByCause(const NcclRank& rank) {
  switch (rank.fate) {
    case NcclFate::kGone:
    case NcclFate::kLost:
    case NcclFate::kRefused:
    case NcclFate::kNotStarted:
      return 0;
    case NcclFate::kFailed:
      if (rank.failure.code == "controller-gone") return 5;
      if (IsTimeout(rank.failure)) return 2;
      if (IsVictim(rank.failure)) return 4;
      if (rank.failure.code == "deadline") return 3;
      return rank.failure.code == "hung" ? 2 : 0;
    case NcclFate::kSilent:
      return 1;
    case NcclFate::kAborted:
    case NcclFate::kFinished:
      return 6;
  }
  return 6;
}

// The line that explains a deadline, when NCCL left one: it repeats what it retries.
std::vector<std::string> ListHints(const NcclRank& rank) {
  std::vector<std::string> lines;
  for (const std::string& line : SplitLines(rank.log)) {
    // Once all are connected, an attempt that was repeated has succeeded.
    const bool is_connecting =
        rank.phase == "start" || rank.phase == "init" || rank.phase == "connect";
    if (is_connecting && Contains(line, "retrying")) lines = {MakePrintable(Trim(line))};
  }
  for (const std::string& warning : ParseNcclLog(rank.log).warnings) lines.push_back(warning);
  constexpr std::size_t kMost = 5;
  if (lines.size() > kMost) lines.erase(lines.begin(), lines.end() - kMost);
  return lines;
}

// Names that may differ from rank to rank; all others must not.
bool MayDiffer(const std::string& name) {
  constexpr std::array kOwn = {"NCCL_IB_HCA",       "NCCL_SOCKET_IFNAME",  "NCCL_HOSTID",
                               "NCCL_IB_GID_INDEX", "NCCL_OOB_NET_IFNAME", "NCCL_COMM_ID"};
  return name.starts_with("NCCL_DEBUG") || name.ends_with("_FILE") ||
         std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end();
}

// By name, those that a rank has and that must be the same on all; and whether an environment has
// it. What a rank read after its init counts only then: another one may not have come so far.
std::map<std::string, bool> ListShared(const NcclRun& run, const std::vector<NcclLog>& logs) {
  std::map<std::string, bool> names;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (const auto& [name, value] : run.ranks[i].hello->env) {
      if (!MayDiffer(name)) names[name] = true;
    }
    for (const auto& [name, variable] : logs[i].variables) {
      if (!MayDiffer(name) && variable.during_init) names.try_emplace(name, false);
    }
  }
  return names;
}

// Each value of a variable and the first node with it: "LL on spark-1, not set on spark-2". A rank
// that ended before it had read all that a file nccl.conf may set proves nothing.
std::vector<std::string> ListValues(const NcclRun& run, const std::vector<NcclLog>& logs,
                                    const std::string& name, bool is_in_environments) {
  std::map<std::string, std::string> places;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const NodeName& node = run.ranks[i].node;
    if (const auto set = FindVariable(run.ranks[i], logs[i], name)) {
      places.try_emplace(set->value, FormatPlace(*set, node));
    } else if (is_in_environments || logs[i].initialized) {
      places.try_emplace("not set", fmt::format("not set on {}", node));
    }
  }
  std::vector<std::string> list;
  for (auto& [value, place] : places) list.push_back(std::move(place));
  return list;
}

std::vector<std::string> ListDifferences(const NcclRun& run) {
  std::vector<NcclLog> logs;
  for (const NcclRank& rank : run.ranks) {
    if (!rank.hello) return {};
    logs.push_back(ParseNcclLog(rank.log));
  }
  std::vector<std::string> lines;
  for (const auto& [name, is_in_environments] : ListShared(run, logs)) {
    const std::vector<std::string> values = ListValues(run, logs, name, is_in_environments);
    if (values.size() < 2) continue;
    lines.push_back(fmt::format("{}: {}", MakePrintable(name), Join(values, ", ")));
  }
  return lines;
}

NcclRunError DescribeRunError(const NcclRank& rank) {
  NcclRunError run_error{.node = rank.node, .phase = rank.phase};
  switch (rank.fate) {
    case NcclFate::kFailed:
      run_error.code = rank.failure.code;
      run_error.phase = MakePrintable(rank.failure.phase);
      run_error.text = MakePrintable(rank.failure.text);
      run_error.hint = MakePrintable(rank.failure.hint);
      if (!rank.failure.last_error.empty() && !Contains(run_error.text, rank.failure.last_error)) {
        run_error.evidence.push_back(MakePrintable(Trim(rank.failure.last_error)));
      }
      break;
    case NcclFate::kGone:
      run_error.code = "gone";
      break;
    case NcclFate::kLost:
      run_error.code = "lost";
      break;
    case NcclFate::kRefused:
      run_error.code = "root";
      break;
    case NcclFate::kNotStarted:
      run_error.code = Contains(rank.error.message, "for a node of type") ? "no-program-for-machine"
                                                                          : "no-program";
      break;
    case NcclFate::kSilent:
    case NcclFate::kAborted:
    case NcclFate::kFinished:
      run_error.code = "silent";
      run_error.text =
          "wanted an answer within the deadline, found none, not even to the order to abort";
      break;
  }
  if (!rank.error.message.empty()) {
    run_error.text = MakePrintable(rank.error.message);
    run_error.hint = MakePrintable(rank.error.hint);
  }
  return run_error;
}

// The rank that knows why the deadline of finding each other passed, when the one whose deadline it
// was does not: it was ordered to abort while it called another rank in vain. The deadlines of
// ranks that started together pass in any order. A later phase proves that an early call was
// answered. nullptr: no one.
const NcclRank* FindStillCalling(const NcclRun& run) {
  const auto found = std::find_if(run.ranks.begin(), run.ranks.end(), [](const NcclRank& rank) {
    return rank.fate == NcclFate::kAborted && rank.phase == "init" &&
           Contains(rank.log, "retrying");
  });
  return found == run.ranks.end() ? nullptr : &*found;
}

}  // namespace

bool NcclRun::IsFinished() const {
  return !ranks.empty() && std::all_of(ranks.begin(), ranks.end(), [](const NcclRank& rank) {
    return rank.fate == NcclFate::kFinished;
  });
}

std::optional<NcclRunError> FindRunError(const NcclRun& run) {
  if (run.IsFinished() || run.ranks.empty()) return std::nullopt;
  std::size_t best = 0;
  std::tuple<int, bool, int> nearest;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    const NcclRank& rank = run.ranks[i];
    // Of ranks whose deadline passed, the one with a message from NCCL knows more.
    const bool knows = rank.fate != NcclFate::kFailed || !ListHints(rank).empty();
    const std::tuple key(RankByCause(rank), !knows, rank.order == 0 ? 1 << 20 : rank.order);
    if (i > 0 && key >= nearest) continue;
    best = i;
    nearest = key;
  }
  NcclRunError run_error = DescribeRunError(run.ranks[best]);
  std::vector<std::string> hints = ListHints(run.ranks[best]);
  if (run_error.code == "deadline" && hints.empty()) {
    if (const NcclRank* caller = FindStillCalling(run)) {
      run_error.node = caller->node;
      hints = ListHints(*caller);
    }
  }
  for (std::string& line : hints) {
    if (std::find(run_error.evidence.begin(), run_error.evidence.end(), line) ==
        run_error.evidence.end()) {
      run_error.evidence.push_back(std::move(line));
    }
  }
  if (run_error.code == "deadline" || run_error.code == "hung") {
    for (std::string& line : ListDifferences(run)) {
      run_error.code = "env-differs";
      run_error.evidence.push_back(std::move(line));
    }
  }
  return run_error;
}

}  // namespace reconciler
