#include "reconciler/verify/nccl/run/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "reconciler/fabric/analysis.h"
#include "reconciler/fabric/rdma_schedule.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/verify/nccl/judge/run_error.h"

namespace reconciler {
namespace {

using spark_verify::NcclOptions;

constexpr std::uint64_t kLeast = 1u << 20;  // bytes: less proves nothing

NcclEvidence MakeEvidence(const NcclAttempts& attempts, const NcclRun& run, std::string note = {}) {
  const bool is_reduced = !note.empty();
  return {.cluster = attempts.cluster,
          .fabric = attempts.fabric,
          .facts = attempts.facts,
          .run = run,
          // It is a figure for verify.size.
          .minimum = is_reduced ? NcclMinimum{} : attempts.section.minimum,
          .firewalls = attempts.firewalls,
          .hca_is_degraded = attempts.hca_is_degraded,
          .uncounted = attempts.uncounted,
          .note = std::move(note),
          .wanted_size = is_reduced ? attempts.section.size : 0};
}

std::string ExplainNotGood(const NcclJudgement& judged) {
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

PairVerdict MakeNotMeasuredPair(const NodePair& pair) {
  return {.a = pair.a, .b = pair.b, .seen = "could not be measured", .measured = false};
}

// Whether a figure cannot be true: it shows neither that the pair is good nor that it is bad.
bool IsInvalid(const NcclJudgement& judged) {
  return std::any_of(judged.checks.begin(), judged.checks.end(),
                     [](const Check& check) { return check.symptom == Symptom::kInvalidFigure; });
}

PairVerdict RunPair(const NcclAttempts& attempts, const NodePair& pair, const NcclOptions& options,
                    const std::string& note) {
  const NcclRun run = attempts.run({pair.a, pair.b}, options);
  const NcclJudgement judged = JudgeNccl(MakeEvidence(attempts, run, note));
  const bool is_unknown = !run.IsFinished() || IsInvalid(judged);
  if (is_unknown && !judged.Failed()) return MakeNotMeasuredPair(pair);
  PairVerdict verdict{.a = pair.a, .b = pair.b, .good = run.IsFinished() && !judged.Failed()};
  const std::vector<NcclFigure> figures = ListFigures(run);
  verdict.seen = figures.empty() || !run.IsFinished()
                     ? ExplainNotGood(judged)
                     : fmt::format("{:.1f} GB/s", figures.back().busbw);
  return verdict;
}

// No node is in two pairs of a round, so that each connection belongs to one thread.
std::vector<PairVerdict> RunPairs(const NcclAttempts& attempts, const NcclOptions& options,
                                  const std::string& note) {
  NcclOptions one = options;
  one.collectives = {spark_verify::Collective::kAllReduce};
  one.types = {spark_verify::DataType::kFloat};
  one.sizes = {options.sizes.back()};
  one.in_place = false;
  std::vector<PairVerdict> verdicts;
  for (const std::vector<NodePair>& round :
       Schedule(ListPairs(attempts.cluster, attempts.fabric))) {
    std::vector<PairVerdict> some(round.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < round.size(); ++i) {
        some[i] = MakeNotMeasuredPair(round[i]);
        threads.emplace_back([&, i] {
          std::ignore =
              CatchThrown(round[i].a, [&, i] { some[i] = RunPair(attempts, round[i], one, note); });
        });
      }
    }
    std::move(some.begin(), some.end(), std::back_inserter(verdicts));
  }
  return verdicts;
}

// The largest power of two that every rank has the memory for, as far as they came to say; 0: that
// is not why it failed.
std::uint64_t FindSizeThatFits(const NcclRun& run) {
  const auto run_error = FindRunError(run);
  if (!run_error || run_error->code != "memory") return 0;
  std::uint64_t most = std::uint64_t{1} << 40;
  for (const NcclRank& rank : run.ranks) {
    if (rank.hello) most = std::min(most, rank.hello->max_bytes);
  }
  most = std::bit_floor(most);
  return most < kLeast ? 0 : most;
}

}  // namespace

NcclJudgement Attempt(const NcclAttempts& attempts) {
  const std::vector<NodeName> ranks = OrderRing(attempts.cluster, attempts.fabric);
  NcclOptions options = attempts.options(attempts.section.size);
  std::string note;
  NcclRun run = attempts.run(ranks, options);
  // Ranks that had not spoken when the first one refused may have room for even less.
  for (std::uint64_t size = 0, last = attempts.section.size;
       (size = FindSizeThatFits(run)) > 0 && size < last; last = size) {
    note = fmt::format("{} instead of {}, for that is what memory allows", FormatSize(size),
                       FormatSize(attempts.section.size));
    options = attempts.options(size);
    run = attempts.run(ranks, options);
  }
  const NcclJudgement first = JudgeNccl(MakeEvidence(attempts, run, note));
  if (!IsWorthAnotherRun(first)) return first;
  run = attempts.run(ranks, options);
  NcclEvidence evidence = MakeEvidence(attempts, run, note);
  const NcclJudgement second = JudgeNccl(evidence);
  // What was seen stands where the second run could not even begin.
  if (!second.Failed() && !run.IsFinished()) return first;
  if (!second.Failed()) {
    evidence.first_attempt = ExplainNotGood(first);
  } else if (IsWorthAnotherRun(second) && ranks.size() > 2) {
    evidence.pairs = RunPairs(attempts, options, note);
  }
  return JudgeNccl(evidence);
}

}  // namespace reconciler
