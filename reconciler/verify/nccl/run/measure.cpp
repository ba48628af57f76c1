#include "reconciler/verify/nccl/run/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/node_program.h"
#include "reconciler/verify/nccl/evidence/facts.h"
#include "reconciler/verify/nccl/run/attempts.h"
#include "reconciler/verify/nccl/run/run.h"

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
  std::map<std::string, HcaRail> hcas = {};
  Error error = {};  // with a message: why it is not
};

// Whether what comes to the node may be dropped: by ufw, or by a chain of nftables (and so of
// iptables) that drops what no rule accepts.
bool MayDrop(const NodeFacts& facts) {
  const bool* ufw = Known(facts.rdma.ufw);
  if (ufw != nullptr && *ufw) return true;
  const auto* chains = Known(facts.rdma.firewall);
  return chains != nullptr && std::any_of(chains->begin(), chains->end(), DropsIpv4);
}

std::vector<NodeName> ListFirewalls(const ClusterSpec& cluster, const ClusterFacts& facts) {
  std::vector<NodeName> nodes;
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = facts.nodes.find(node.name);
    if (found != facts.nodes.end() && MayDrop(found->second)) nodes.push_back(node.name);
  }
  return nodes;
}

class Measurement {
 public:
  Measurement(const ClusterSpec& cluster, const Fabric& fabric, const ClusterFacts& facts,
              NodePool& pool, const VerifySection& section, const NcclRunOptions& choice)
      : cluster_(cluster),
        fabric_(fabric),
        facts_(facts),
        pool_(pool),
        section_(section),
        choice_(choice) {}

  NcclJudgement Execute();

 private:
  void Prepare();
  void PrepareNode(Ready& ready);
  void CleanUp();
  NcclRun Run(const std::vector<NodeName>& nodes, const NcclOptions& options);
  // A run in which nothing was run, for what kept a node from it.
  NcclRun MakeNotRun() const;
  const ClusterSpec& cluster_;
  Fabric fabric_;  // with the HCAs' real names
  const ClusterFacts& facts_;
  NodePool& pool_;
  const VerifySection& section_;
  const NcclRunOptions& choice_;
  std::map<NodeName, Ready> ready_ = {};
  RailFactsByNode rails_ = {};
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
  const auto reply = pool_.Run(*ready.node, QuoteForShell(ready.program) + " facts\n", kFactsLimit);
  if (!reply) return;
  if (auto hcas = ParseHcas(reply->out)) ready.hcas = std::move(*hcas);
}

void Measurement::Prepare() {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& node : cluster_.nodes) {
    ready_[node.name].node = &node;
    nodes.push_back(&node);
  }
  NodeErrors thrown =
      ForEachNode(nodes, [this](const NodeSpec& node) { PrepareNode(ready_.at(node.name)); });
  for (auto& [name, error] : thrown) ready_.at(name).error = std::move(error);
  for (const auto& [name, ready] : ready_) {
    fabric_ = ApplyHcas(std::move(fabric_), name, ready.hcas);
    for (const auto& [hca, rail_hca] : ready.hcas) rails_[name][hca] = rail_hca.rail;
  }
}

void Measurement::CleanUp() {
  std::vector<const NodeSpec*> nodes;
  for (const auto& [name, ready] : ready_) {
    if (!ready.program.empty()) nodes.push_back(ready.node);
  }
  const auto end = choice_.keep_program ? KeepProgram : RemoveProgram;
  std::ignore = ForEachNode(
      nodes, [this, end](const NodeSpec& node) { end(node, pool_, ready_.at(node.name).program); });
}

NcclRun Measurement::MakeNotRun() const {
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
    const auto library = choice_.libraries.find(name);
    plan.ranks.push_back({.node = ready.node,
                          .program = ready.program,
                          .library = library != choice_.libraries.end() ? library->second : "",
                          .env = ready.env});
  }
  const Ready& first = ready_.at(nodes.front());
  std::optional<BootstrapNetwork> network;
  if (const auto facts = facts_.nodes.find(nodes.front()); facts != facts_.nodes.end()) {
    network = FindBootstrapNetwork(*first.node, facts->second, first.env);
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

NcclJudgement Measurement::Execute() {
  Prepare();
  for (const auto& [name, ready] : ready_) {
    if (!ready.error.message.empty()) {
      CleanUp();
      const NcclRun run = MakeNotRun();
      return JudgeNccl({.cluster = cluster_, .fabric = fabric_, .facts = rails_, .run = run});
    }
  }
  const NcclJudgement judged =
      Attempt({.cluster = cluster_,
               .fabric = fabric_,
               .facts = rails_,
               .section = section_,
               .firewalls = ListFirewalls(cluster_, facts_),
               .hca_is_degraded = choice_.hca_is_degraded,
               .uncounted = choice_.uncounted,
               .options =
                   [this](std::uint64_t size) {
                     return MakeNcclOptions(section_.collectives, size, choice_);
                   },
               .run = [this](const std::vector<NodeName>& nodes,
                             const NcclOptions& options) { return Run(nodes, options); }});
  CleanUp();
  return judged;
}

}  // namespace

NcclOptions MakeNcclOptions(const std::vector<spark_verify::Collective>& collectives,
                            std::uint64_t size, const NcclRunOptions& choice) {
  NcclOptions options{.collectives = collectives};
  options.types = {spark_verify::DataType::kFloat};
  if (!choice.brief) options.types.push_back(spark_verify::DataType::kBfloat16);
  for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{64} << 10, kMiB, 32 * kMiB}) {
    if (bytes < size) options.sizes.push_back({.bytes = bytes});
  }
  // At least four transfers of twice the size by the slowest link that is worth a figure.
  constexpr double kSlowest = 0.5e9;  // bytes per second
  const int slow_ms = static_cast<int>(10'000 * static_cast<double>(size) / kSlowest);
  options.sizes.push_back({.bytes = size, .limit_ms = slow_ms > options.size_ms ? slow_ms : 0});
  constexpr int kLongest = 600'000;  // ms
  options.limit_ms = std::max(options.limit_ms, std::min(6 * slow_ms, kLongest));
  options.memory_limit = std::max<std::size_t>(options.memory_limit, size);
  options.allow_busy = choice.allow_busy;
  // The first collective is behind them, so that little warms up; a slow link is seen soon.
  options.warm_up = 2;
  options.budget_ms = choice.brief ? 200 : 600;
  if (choice.phase_s > 0) {
    options.init_ms = options.connect_ms = options.size_ms = 1000 * choice.phase_s;
    options.sizes.back().limit_ms = options.size_ms;
  }
  return options;
}

NcclJudgement MeasureNccl(const ClusterSpec& cluster, const Fabric& fabric,
                          const ClusterFacts& facts, NodePool& pool, const VerifySection& section,
                          const NcclRunOptions& choice) {
  return Measurement(cluster, fabric, facts, pool, section, choice).Execute();
}

}  // namespace reconciler
