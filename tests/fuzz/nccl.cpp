// What ranks print: lines of NCCL's log, and the messages of spark-verify, in turn of two ranks, up
// to the judgement of the run. A line of the second rank begins with a tab.
#include "reconciler/spark_verify/protocol/facts.h"
#include "reconciler/spark_verify/protocol/messages.h"
#include "reconciler/spark_verify/protocol/nccl_messages.h"
#include "reconciler/verify/nccl/coordinator/coordinator.h"
#include "reconciler/verify/nccl/evidence/facts.h"
#include "reconciler/verify/nccl/evidence/log.h"
#include "reconciler/verify/nccl/judge/judge.h"
#include "reconciler/verify/report/render.h"
#include "tests/fuzz/pair.h"
#include "tests/fuzz/target.h"

namespace reconciler::fuzz {
namespace {

// Parsers that the judgement does not reach.
void ParseAlone(std::string_view text) {
  const std::string line(text.substr(0, text.find('\n')));
  static_cast<void>(spark_verify::ParseMessage(line));
  static_cast<void>(spark_verify::ParseNcclOrder(line));
  static_cast<void>(spark_verify::ParseFacts(line));
  static_cast<void>(ParseHcas(text));
  const NcclLog log = ParseNcclLog(text);
  IsDevelopmentBuild(log);
  ReadNcclVersion(log.version);
}

NcclRun Converse(std::string_view rest) {
  const auto now = NcclCoordinator::Clock::time_point();
  NcclCoordinator coordinator(
      {"spark-1", "spark-2"}, {}, [](std::string_view) { return Result<std::string>("root"); },
      now);
  while (!rest.empty()) {
    std::string_view line = TakePart(rest, "\n");
    const std::size_t rank = line.starts_with('\t') ? 1 : 0;
    if (rank == 1) line.remove_prefix(1);
    if (!coordinator.IsOver(rank)) coordinator.Receive(rank, std::string(line), now);
    coordinator.PopMessage(rank);
  }
  coordinator.Tick(now + std::chrono::hours(1));
  return coordinator.TakeRun();
}

}  // namespace

void Run(std::string_view input) {
  ParseAlone(input);
  NcclRun run = Converse(input);
  for (NcclRank& rank : run.ranks) rank.log += input;
  const Cluster& pair = GetPair();
  const RailFactsByNode facts;
  const NcclJudgement judged =
      JudgeNccl({.cluster = pair.spec, .fabric = pair.fabric, .facts = facts, .run = run});
  const Report report{.cluster = pair.spec.name,
                      .level = VerifyLevel::kNccl,
                      .checks = judged.checks,
                      .findings = judged.findings,
                      .nccl = judged.summary};
  Must(IsPlainText(RenderReport(report)), "a report of NCCL is plain text");
}

}  // namespace reconciler::fuzz
