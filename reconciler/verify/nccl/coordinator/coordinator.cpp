#include "reconciler/verify/nccl/coordinator/coordinator.h"

#include <fmt/format.h>

#include <algorithm>

namespace reconciler {
namespace {

using spark_verify::NcclEvent;

constexpr std::size_t kMostLog = 1u << 20;  // bytes of NCCL's lines that are kept of a rank

void KeepLog(NcclRank& rank, const std::string& line) {
  if (rank.log.size() + line.size() < kMostLog) rank.log += line + "\n";
}

std::string FormatTest(const spark_verify::NcclResult& result) {
  return fmt::format("{} {} {}{}", ToString(result.collective), result.bytes, ToString(result.type),
                     result.in_place ? " in place" : "");
}

}  // namespace

NcclCoordinator::NcclCoordinator(const std::vector<NodeName>& ranks, const NcclLimits& limits,
                                 CheckRoot check, Clock::time_point now)
    : limits_(limits), check_(std::move(check)), states_(ranks.size()), began_(now) {
  for (const NodeName& node : ranks) run_.ranks.push_back({.node = node});
  for (std::size_t i = 0; i < ranks.size(); ++i) EnterPhase(i, "start", limits_.start, now);
}

void NcclCoordinator::EnterPhase(std::size_t rank, std::string phase,
                                 std::chrono::milliseconds limit, Clock::time_point now) {
  run_.ranks[rank].phase = std::move(phase);
  states_[rank] = {.pending = std::move(states_[rank].pending), .since = now, .limit = limit};
}

void NcclCoordinator::Settle(std::size_t rank, NcclFate fate, Clock::time_point now) {
  NcclRank& own = run_.ranks[rank];
  if (own.order != 0) return;
  own.fate = fate;
  own.order = ++fates_;
  states_[rank].pending.clear();
  run_.seconds = ComputeSeconds(now);
  if (fate != NcclFate::kFinished && fate != NcclFate::kAborted) Abort(now);
}

double NcclCoordinator::ComputeSeconds(Clock::time_point now) const {
  return std::chrono::duration<double>(now - began_).count();
}

void NcclCoordinator::Abort(Clock::time_point now) {
  if (aborted_) return;
  aborted_ = now;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].pending = run_.ranks[i].order == 0 ? spark_verify::FormatAbortOrder() : "";
  }
}

void NcclCoordinator::ReceiveId(const std::string& unique_id, Clock::time_point now) {
  auto root = check_(unique_id);
  if (!root) {
    run_.ranks[0].error = std::move(root.error());
    Settle(0, NcclFate::kRefused, now);
    // It must still be reported.
    states_[0].pending = spark_verify::FormatAbortOrder();
    return;
  }
  run_.root = *root;
  unique_id_ = unique_id;
  states_[0].ready = run_.ranks[0].hello.has_value();
}

// No rank begins a phase before all have ended the one before it.
void NcclCoordinator::Advance(Clock::time_point now) {
  const bool all =
      std::all_of(states_.begin(), states_.end(), [](const State& state) { return state.ready; });
  if (!all || aborted_) return;
  if (!id_sent_) {
    id_sent_ = true;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      EnterPhase(i, "init", limits_.init, now);
      states_[i].pending += spark_verify::FormatIdOrder(unique_id_);
    }
  } else if (!started_) {
    started_ = true;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      EnterPhase(i, "connect", limits_.connect, now);
      states_[i].pending += spark_verify::FormatGoOrder();
    }
  }
}

void NcclCoordinator::Receive(std::size_t rank, const std::string& line, Clock::time_point now) {
  NcclRank& own = run_.ranks[rank];
  auto message = spark_verify::ParseNcclMessage(line);
  // Libraries print too.
  if (!message) return KeepLog(own, line);
  if (own.order != 0 && message->event != NcclEvent::kLog) return;
  switch (message->event) {
    case NcclEvent::kHello:
      own.hello = std::move(message->hello);
      states_[rank].ready = rank != 0 || !unique_id_.empty();
      break;
    case NcclEvent::kUniqueId:
      if (rank == 0 && !id_sent_) ReceiveId(message->unique_id, now);
      break;
    case NcclEvent::kInitDone:
      own.init_s = message->seconds;
      states_[rank].ready = id_sent_;
      break;
    case NcclEvent::kConnected:
      own.connect_s = message->seconds;
      EnterPhase(rank, "the first test", limits_.test, now);
      break;
    case NcclEvent::kResult:
      EnterPhase(rank, "after " + FormatTest(message->result), limits_.test, now);
      own.results.push_back(std::move(message->result));
      break;
    case NcclEvent::kLog:
      return KeepLog(own, message->log);
    case NcclEvent::kFailed:
      own.failure = std::move(message->failure);
      return Settle(rank, NcclFate::kFailed, now);
    case NcclEvent::kAborted:
      return Settle(rank, NcclFate::kAborted, now);
    case NcclEvent::kEnd:
      own.counters = std::move(message->counters);
      return Settle(rank, NcclFate::kFinished, now);
  }
  Advance(now);
}

void NcclCoordinator::RecordEnd(std::size_t rank, NcclFate fate, Error why, Clock::time_point now) {
  if (run_.ranks[rank].order != 0) return;  // it had said why
  run_.ranks[rank].error = std::move(why);
  Settle(rank, fate, now);
}

void NcclCoordinator::Tick(Clock::time_point now) {
  if (aborted_) {
    if (given_up_ || now - *aborted_ < limits_.abort) return;
    given_up_ = true;
    if (fates_ < static_cast<int>(states_.size())) run_.seconds = ComputeSeconds(now);
    return;
  }
  if (now - began_ >= limits_.total) return Abort(now);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const bool waits = !states_[i].ready && run_.ranks[i].order == 0;
    // Its fate stays open: it may yet answer the abort.
    if (waits && now - states_[i].since >= states_[i].limit) return Abort(now);
  }
}

std::string NcclCoordinator::PopMessage(std::size_t rank) {
  return std::exchange(states_[rank].pending, {});
}

bool NcclCoordinator::IsOver(std::size_t rank) const {
  return given_up_ || (run_.ranks[rank].order != 0 && states_[rank].pending.empty());
}

bool NcclCoordinator::IsOver() const {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!IsOver(i)) return false;
  }
  return true;
}

}  // namespace reconciler
