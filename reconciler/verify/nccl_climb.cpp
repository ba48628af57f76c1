#include "reconciler/verify/nccl_climb.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <thread>

#include "reconciler/base/text.h"
#include "reconciler/engine/frames.h"
#include "reconciler/fabric/analysis.h"
#include "reconciler/verify/nccl_facts.h"
#include "reconciler/verify/nccl_run.h"
#include "reconciler/verify/node_program.h"
#include "reconciler/verify/rdma_schedule.h"

namespace reconciler {
namespace {

using spark_verify::NcclOptions;

constexpr std::uint64_t kMiB = 1u << 20;
constexpr Milliseconds kFactsLimit = std::chrono::seconds(20);

// A node made ready: what the run needs of it.
struct Ready {
  const NodeSpec* node = nullptr;
  std::string program = {};
  std::map<std::string, std::string> env = {};
  std::map<std::string, Adapter> adapters = {};
  Error error = {};  // with a message: why it is not
};

class Measurement {
 public:
  Measurement(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
              NodePool& pool, const VerifySection& section, const NcclChoice& choice)
      : cluster_(cluster),
        fabric_(fabric),
        facts_(facts),
        pool_(pool),
        section_(section),
        choice_(choice) {}

  NcclJudgement Do();

 private:
  void Prepare();
  void PrepareNode(Ready& ready);
  void CleanUp();
  NcclRun Run(const std::vector<NodeName>& nodes, const NcclOptions& options);
  // A run in which nothing was run, for what kept a node from it.
  NcclRun NotRun() const;
  NcclEvidence EvidenceOf(const NcclRun& run) const {
    return {.cluster = cluster_,
            .fabric = fabric_,
            .facts = rails_,
            .run = run,
            .promise = section_.promise,
            .note = note_};
  }
  std::vector<PairVerdict> RunPairs(const NcclOptions& options);
  PairVerdict RunPair(const NodePair& pair, const NcclOptions& options);

  const ClusterSpec& cluster_;
  Fabric fabric_;  // with the adapters' real names
  const ClusterFacts& facts_;
  NodePool& pool_;
  VerifySection section_;
  const NcclChoice& choice_;
  std::map<NodeName, Ready> ready_ = {};
  RailFactsOf rails_ = {};
  std::string note_ = {};
  std::mutex mutex_ = {};  // of runs_
  int runs_ = 0;
};

void Measurement::PrepareNode(Ready& ready) {
  auto program = PushProgram(*ready.node, pool_, choice_.programs);
  if (!program) {
    ready.error = std::move(program.error());
    return;
  }
  ready.program = *program;
  if (choice_.environment) {
    auto env = choice_.environment(*ready.node);
    if (!env) {
      ready.error = std::move(env.error());
      return;
    }
    ready.env = std::move(*env);
    // The run's own: bounded retries, and the log.
    for (const auto& [name, value] : spark_verify::RunEnvironment()) ready.env.erase(name);
  }
  const auto reply = pool_.Run(*ready.node, ShellQuote(ready.program) + " facts\n", kFactsLimit);
  if (!reply) return;
  if (auto adapters = ParseAdapters(reply->out)) ready.adapters = std::move(*adapters);
}

void Measurement::Prepare() {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& node : cluster_.nodes) {
    ready_[node.name].node = &node;
    nodes.push_back(&node);
  }
  ForEachNode(nodes, [this](const NodeSpec& node) { PrepareNode(ready_.at(node.name)); });
  for (const auto& [name, ready] : ready_) {
    fabric_ = WithAdapters(std::move(fabric_), name, ready.adapters);
    for (const auto& [hca, adapter] : ready.adapters) rails_[name][hca] = adapter.rail;
  }
}

void Measurement::CleanUp() {
  if (choice_.keep_program) return;
  std::vector<const NodeSpec*> nodes;
  for (const auto& [name, ready] : ready_) {
    if (!ready.program.empty()) nodes.push_back(ready.node);
  }
  ForEachNode(nodes, [this](const NodeSpec& node) {
    RemoveProgram(node, pool_, ready_.at(node.name).program);
  });
}

NcclRun Measurement::NotRun() const {
  NcclRun run;
  for (const NodeSpec& node : cluster_.nodes) {
    NcclRank rank{.node = node.name, .fate = NcclFate::kAborted, .phase = "start"};
    if (const Error& error = ready_.at(node.name).error; !error.message.empty()) {
      rank.fate = NcclFate::kNotStarted;
      rank.order = 1;
      rank.error = error;
    }
    run.ranks.push_back(std::move(rank));
  }
  return run;
}

NcclRun Measurement::Run(const std::vector<NodeName>& nodes, const NcclOptions& options) {
  NcclPlan plan{.options = options};
  for (const NodeName& name : nodes) {
    const Ready& ready = ready_.at(name);
    plan.ranks.push_back({.node = ready.node, .program = ready.program, .env = ready.env});
  }
  const Ready& first = ready_.at(nodes.front());
  BootstrapNetwork network = {.subnet = {}, .netdev = "any interface"};
  if (const auto facts = facts_.nodes.find(nodes.front()); facts != facts_.nodes.end()) {
    network = BootstrapOf(*first.node, facts->second, first.env).value_or(network);
  }
  plan.check_root = [network, node = nodes.front()](std::string_view id) {
    return CheckNcclRoot(id, network, node);
  };
  {
    const std::lock_guard lock(mutex_);
    plan.options.run = fmt::format("{}-{}", MakeNonce(), ++runs_);
  }
  return RunNccl(plan, pool_);
}

std::string WhyNotGood(const NcclJudgement& judged) {
  for (const Finding& finding : judged.findings) {
    if (finding.outcome == Outcome::kFail) return finding.measured;
  }
  return {};
}

// What a second look may change, or say more of. The others are certain at once.
bool IsWorthAnotherRun(const NcclJudgement& judged) {
  constexpr std::string_view kCertain[] = {"nccl-socket", "one-rail",  "pcie-width",
                                           "wrong-data",  "nccl-root", "env-differs"};
  for (const Finding& finding : judged.findings) {
    if (finding.outcome != Outcome::kFail) continue;
    if (std::find(std::begin(kCertain), std::end(kCertain), finding.code) != std::end(kCertain)) {
      return false;
    }
  }
  return judged.Failed();
}

PairVerdict Measurement::RunPair(const NodePair& pair, const NcclOptions& options) {
  const NcclRun run = Run({pair.a, pair.b}, options);
  const NcclJudgement judged = JudgeNccl(EvidenceOf(run));
  PairVerdict verdict{.a = pair.a, .b = pair.b, .good = !judged.Failed()};
  const std::vector<NcclFigure> figures = FiguresOf(run);
  verdict.seen = figures.empty() || !run.Finished()
                     ? WhyNotGood(judged)
                     : fmt::format("{:.1f} GB/s", figures.back().busbw);
  return verdict;
}

// No node is in two pairs of a round, so that each connection belongs to one thread.
std::vector<PairVerdict> Measurement::RunPairs(const NcclOptions& options) {
  NcclOptions one = options;
  one.collectives = {spark_verify::Collective::kAllReduce};
  one.types = {spark_verify::DataType::kFloat};
  one.sizes = {options.sizes.back()};
  one.in_place = false;
  std::vector<PairVerdict> verdicts;
  for (const std::vector<NodePair>& round : Schedule(PairsOf(fabric_))) {
    std::vector<PairVerdict> some(round.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < round.size(); ++i) {
        threads.emplace_back([&, i] { some[i] = RunPair(round[i], one); });
      }
    }
    std::move(some.begin(), some.end(), std::back_inserter(verdicts));
  }
  return verdicts;
}

NcclJudgement Measurement::Do() {
  Prepare();
  for (const auto& [name, ready] : ready_) {
    if (!ready.error.message.empty()) {
      CleanUp();
      return JudgeNccl(EvidenceOf(NotRun()));
    }
  }
  const std::vector<NodeName> ranks = RingOrder(cluster_, fabric_);
  NcclOptions options = NcclOptionsFor(section_, choice_);
  NcclRun run = Run(ranks, options);
  if (const std::uint64_t smaller = SizeThatFits(run); smaller > 0) {
    note_ = fmt::format("{} instead of {}, for that is what memory allows", SizeText(smaller),
                        SizeText(section_.size));
    section_.size = smaller;
    options = NcclOptionsFor(section_, choice_);
    run = Run(ranks, options);
  }
  NcclJudgement judged = JudgeNccl(EvidenceOf(run));
  if (IsWorthAnotherRun(judged)) {
    const std::string first = WhyNotGood(judged);
    run = Run(ranks, options);
    NcclEvidence evidence = EvidenceOf(run);
    judged = JudgeNccl(evidence);
    if (!judged.Failed()) evidence.first_attempt = first;
    if (IsWorthAnotherRun(judged) && ranks.size() > 2) evidence.pairs = RunPairs(options);
    judged = JudgeNccl(evidence);
  }
  CleanUp();
  return judged;
}

}  // namespace

NcclOptions NcclOptionsFor(const VerifySection& section, const NcclChoice& choice) {
  NcclOptions options{.library = choice.library, .collectives = section.collectives};
  options.types = {spark_verify::DataType::kFloat, spark_verify::DataType::kBfloat16};
  for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{64} << 10, kMiB, 32 * kMiB}) {
    if (bytes < section.size) options.sizes.push_back({.bytes = bytes});
  }
  options.sizes.push_back({.bytes = section.size});
  options.memory_limit = std::max<std::size_t>(options.memory_limit, section.size);
  options.allow_busy = choice.allow_busy;
  // The first collective is behind them, so that little warms up; a slow link is seen soon.
  options.warm_up = 2;
  options.budget_ms = 600;
  if (choice.phase_s > 0) {
    options.init_ms = options.connect_ms = options.size_ms = 1000 * choice.phase_s;
  }
  return options;
}

std::uint64_t SizeThatFits(const NcclRun& run) {
  const auto trouble = TroubleOf(run);
  if (!trouble || trouble->code != "memory") return 0;
  std::uint64_t most = std::uint64_t{1} << 40;
  for (const NcclRank& rank : run.ranks) {
    if (!rank.hello) return 0;
    most = std::min(most, rank.hello->max_bytes);
  }
  most = std::bit_floor(most);
  return most < kMiB ? 0 : most;
}

NcclJudgement MeasureNccl(const ClusterSpec& cluster, const Fabric& fabric,
                          const ClusterFacts& facts, NodePool& pool, const VerifySection& section,
                          const NcclChoice& choice) {
  return Measurement(cluster, fabric, facts, pool, section, choice).Do();
}

}  // namespace reconciler
