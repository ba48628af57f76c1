#include "reconciler/verify/nccl/run/run.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "reconciler/verify/exchange/relay.h"

namespace reconciler {
namespace {

using Clock = NcclCoordinator::Clock;
using spark_verify::NcclOptions;

constexpr Milliseconds kPoll{20};       // how often a rank's thread looks for orders
constexpr Milliseconds kWriting{2000};  // for one order
constexpr Milliseconds kEnding{1000};   // for a process that has sent its last message

class Run {
 public:
  Run(const NcclPlan& plan, NodePool& pool)
      : plan_(plan),
        pool_(pool),
        coordinator_(ListNodes(plan), MakeLimits(plan.options), plan.check_root, Clock::now()) {}

  // Everything that one rank sends and receives; by a thread of its own. What is thrown in it ends
  // the rank.
  void ServeCaught(std::size_t rank);
  NcclRun TakeRun() { return coordinator_.TakeRun(); }

 private:
  static std::vector<NodeName> ListNodes(const NcclPlan& plan) {
    std::vector<NodeName> names;
    for (const NcclPlace& place : plan.ranks) names.push_back(place.node->name);
    return names;
  }

  void Serve(std::size_t rank);
  Result<LineChannel> Start(std::size_t rank);
  // What is to be said now, or that nothing more is to be heard.
  std::optional<std::string> PopOrders(std::size_t rank);
  void Receive(std::size_t rank, const std::string& line);
  void RecordEnd(std::size_t rank, Error why);

  const NcclPlan& plan_;
  NodePool& pool_;
  std::mutex mutex_;  // of coordinator_
  NcclCoordinator coordinator_;
};

Result<LineChannel> Run::Start(std::size_t rank) {
  const NcclPlace& place = plan_.ranks[rank];
  NcclOptions options = plan_.options;
  options.rank = static_cast<int>(rank);
  options.ranks = static_cast<int>(plan_.ranks.size());
  options.library = place.library;
  options.env = place.env;
  const std::vector<std::string> words = {place.program, "nccl",
                                          spark_verify::FormatNcclOptions(options)};
  auto shell = pool_.OpenShell(*place.node);
  if (!shell) return Fail(shell.error());
  return LineChannel::Start(std::move(*shell), words, Clock::now() + kWriting);
}

std::optional<std::string> Run::PopOrders(std::size_t rank) {
  const std::lock_guard lock(mutex_);
  coordinator_.Tick(Clock::now());
  if (coordinator_.IsOver(rank)) return std::nullopt;
  return coordinator_.PopMessage(rank);
}

void Run::Receive(std::size_t rank, const std::string& line) {
  const std::lock_guard lock(mutex_);
  coordinator_.Receive(rank, line, Clock::now());
}

void Run::RecordEnd(std::size_t rank, Error why) {
  const NcclFate fate = why.kind == ErrorKind::kVerify ? NcclFate::kGone : NcclFate::kLost;
  const std::lock_guard lock(mutex_);
  coordinator_.RecordEnd(rank, fate, std::move(why), Clock::now());
}

void Run::Serve(std::size_t rank) {
  auto channel = Start(rank);
  if (!channel) return RecordEnd(rank, std::move(channel.error()));
  while (const auto orders = PopOrders(rank)) {
    if (!orders->empty()) {
      const auto sent =
          channel->WriteLine(orders->substr(0, orders->size() - 1), Clock::now() + kWriting);
      if (!sent) return RecordEnd(rank, sent.error());
    }
    auto line = channel->NextLine(Clock::now() + kPoll);
    if (!line) return RecordEnd(rank, std::move(line.error()));
    if (*line) Receive(rank, **line);
  }
  // A rank that has sent its last message is left to end on its own. One that has not is stopped
  // when its channel is destroyed.
  const bool silent = [&] {
    const std::lock_guard lock(mutex_);
    return coordinator_.IsSilent(rank);
  }();
  if (!silent) channel->ReadToEnd(Clock::now() + kEnding);
}

void Run::ServeCaught(std::size_t rank) {
  auto thrown = CatchThrown(plan_.ranks[rank].node->name, [this, rank] { Serve(rank); });
  if (thrown) RecordEnd(rank, std::move(*thrown));
}

}  // namespace

NcclLimits MakeLimits(const NcclOptions& options) {
  constexpr Milliseconds kMore{2000};  // a rank's own message comes first
  int test = options.size_ms;
  for (const auto& size : options.sizes) test = std::max(test, size.limit_ms);
  NcclLimits limits;
  limits.init = Milliseconds(options.init_ms) + kMore;
  limits.connect = Milliseconds(options.connect_ms) + kMore;
  limits.test = Milliseconds(test) + kMore;
  limits.total = limits.start + Milliseconds(options.limit_ms) + kMore;
  return limits;
}

NcclRun RunNccl(const NcclPlan& plan, NodePool& pool) {
  Run run(plan, pool);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < plan.ranks.size(); ++i) {
      threads.emplace_back([&run, i] { run.ServeCaught(i); });
    }
  }
  return run.TakeRun();
}

}  // namespace reconciler
