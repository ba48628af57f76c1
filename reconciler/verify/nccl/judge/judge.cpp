#include "reconciler/verify/nccl/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"
#include "reconciler/verify/nccl/evidence/log.h"
#include "reconciler/verify/nccl/judge/causes.h"
#include "reconciler/verify/nccl/judge/remedies.h"
#include "reconciler/verify/nccl/judge/run_error.h"
#include "reconciler/verify/nccl/judge/speed.h"
#include "reconciler/verify/nccl/judge/transport_causes.h"

namespace reconciler {
namespace {

class Judge {
 public:
  explicit Judge(const NcclEvidence& evidence)
      : evidence_(evidence),
        first_(evidence.run.ranks.front().node),
        figures_(ListFigures(evidence.run)),
        paths_(ListPaths(evidence.run, evidence.fabric, evidence.facts, evidence.uncounted)),
        speed_(evidence, figures_, paths_) {}

  NcclJudgement Run();

 private:
  void JudgeRunError(const NcclRunError& run_error);
  void JudgePath(const RankPath& path);
  void JudgeVersions();
  void Keep(Check check) { judgement_.checks.push_back(std::move(check)); }
  // A check that did not pass, and its cause: one finding, however many checks it spoils.
  void Keep(Check check, Cause cause);
  NcclSummary MakeSummary() const;

  const NcclEvidence& evidence_;
  NodeName first_;
  std::vector<NcclFigure> figures_;
  std::vector<RankPath> paths_;
  NcclSpeedJudge speed_;
  NcclJudgement judgement_ = {};
};

void Judge::Keep(Check check, Cause cause) {
  AddFinding(check, std::move(cause), judgement_.findings);
  Keep(std::move(check));
}

void Judge::JudgeRunError(const NcclRunError& run_error) {
  const bool unmeasured = HasMeasuredNothing(run_error.code);
  Check check{.level = VerifyLevel::kNccl,
              .what = "nccl-run",
              .from = first_,
              .outcome = unmeasured ? Outcome::kCouldNotMeasure : Outcome::kFail,
              .expected = fmt::format("{} ranks through all tests", evidence_.run.ranks.size()),
              .evidence = run_error.evidence};
  (unmeasured ? check.why : check.measured) = fmt::format("{}: {}", run_error.node, run_error.text);
  for (std::string& line : FormatPairs(evidence_)) check.evidence.push_back(std::move(line));
  // A deadline after the connections were made: over sockets a large size takes too long.
  const bool has_sockets = std::any_of(paths_.begin(), paths_.end(), [](const RankPath& path) {
    return path.path == NcclPath::kSocket;
  });
  if (run_error.code == "deadline" && !figures_.empty() && has_sockets) {
    return Keep(std::move(check), ExplainSockets(evidence_, paths_));
  }
  Keep(std::move(check),
       ExplainRunError(run_error, evidence_.run, evidence_.firewalls, evidence_.fabric));
}

void Judge::JudgePath(const RankPath& path) {
  Check check{.level = VerifyLevel::kNccl, .what = "nccl-transport", .from = path.node};
  std::vector<std::string> hcas;
  std::vector<std::string> shares;
  double sent = 0;
  for (const RailUse& rail : path.rails) sent += rail.sent;
  for (const RailUse& rail : path.rails) {
    hcas.push_back(rail.hca);
    shares.push_back(fmt::format("{:.0f} % {}", sent > 0 ? 100 * rail.sent / sent : 0, rail.hca));
  }
  check.expected = "RDMA over " + Join(hcas, ", ");
  check.measured = path.counted ? fmt::format("{:.2f} of {:.2f} GB by the rails' counters ({})",
                                              sent * 1e-9, path.wanted * 1e-9, Join(shares, ", "))
                                : path.said;
  if (path.counted && !path.said.empty()) check.evidence = {"NCCL says " + path.said};
  if (path.path == NcclPath::kSocket) {
    check.outcome = Outcome::kFail;
    return Keep(std::move(check), ExplainSockets(evidence_, paths_));
  }
  if (path.path != NcclPath::kRdma) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.why = path.said.empty() ? "neither counters nor NCCL's log show it" : path.said;
    check.measured.clear();
    return Keep(
        std::move(check),
        {"transport-unknown",
         {path.node},
         fmt::format("it is unknown how NCCL's data left {}", path.node),
         "check NCCL_NET_PLUGIN, and whether this build prints anything with NCCL_DEBUG=INFO"});
  }
  if (path.idle.empty()) return Keep(std::move(check));
  check.outcome = Outcome::kFail;
  check.rail = path.idle.front();
  Keep(std::move(check), ExplainIdleRail(evidence_.run, paths_, path.idle.front()));
}

void Judge::JudgeVersions() {
  Check check{.level = VerifyLevel::kNccl,
              .what = "nccl-version",
              .from = first_,
              .expected = "the same libnccl on all nodes"};
  const auto versions = ExplainVersions(evidence_.run);
  if (!versions) {
    check.measured = FormatNcclVersion(evidence_.run.ranks.front());
    return Keep(std::move(check));
  }
  check.outcome = Outcome::kWarn;
  check.measured = versions->cause;
  Keep(std::move(check), *versions);
}

NcclSummary Judge::MakeSummary() const {
  NcclSummary summary{.root = evidence_.run.root,
                      .roofline = speed_.roofline(),
                      .figures = figures_,
                      .paths = paths_,
                      .pairs = evidence_.pairs,
                      .seconds = evidence_.run.seconds};
  for (const NcclRank& rank : evidence_.run.ranks) {
    const std::string full = ParseNcclLog(rank.log).version;
    summary.ranks.push_back(
        {.node = rank.node,
         .version = MakePrintable(full.empty() ? FormatNcclVersion(rank) : full),
         .library = rank.hello ? MakePrintable(rank.hello->library) : "",
         .gpu = rank.hello ? MakePrintable(rank.hello->gpu) : ""});
  }
  return summary;
}

NcclJudgement Judge::Run() {
  judgement_.summary = MakeSummary();
  if (const auto run_error = FindRunError(evidence_.run)) {
    JudgeRunError(*run_error);
    return std::move(judgement_);
  }
  Check check{
      .level = VerifyLevel::kNccl,
      .what = "nccl-run",
      .from = first_,
      .expected = fmt::format("{} ranks through all tests", evidence_.run.ranks.size()),
      .measured = fmt::format("{} in {:.1f} s", FormatPlural(figures_.size(), "test", "tests"),
                              evidence_.run.seconds)};
  if (!HaveSameTests(evidence_.run)) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.symptom = Symptom::kInvalidFigure;
    check.why = "the ranks ended without error, but did not all report the same tests";
    check.measured.clear();
    Keep(std::move(check), ExplainMissingResults(evidence_.run));
    return std::move(judgement_);
  }
  if (!evidence_.note.empty()) check.measured += "; " + evidence_.note;
  if (evidence_.first_attempt.empty()) {
    Keep(std::move(check));
  } else {
    check.outcome = Outcome::kWarn;
    check.measured = "the first of two runs: " + evidence_.first_attempt;
    Keep(std::move(check), ExplainFlaky(evidence_.run));
  }
  JudgeVersions();
  for (const RankPath& path : paths_) JudgePath(path);
  for (const NcclFigure& figure : figures_) {
    auto [of_speed, cause] = speed_.JudgeFigure(figure);
    cause ? Keep(std::move(of_speed), std::move(*cause)) : Keep(std::move(of_speed));
  }
  return std::move(judgement_);
}

}  // namespace

bool NcclJudgement::Failed() const {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.outcome == Outcome::kFail; });
}

NcclJudgement JudgeNccl(const NcclEvidence& evidence) {
  if (evidence.run.ranks.empty()) return {};
  return Judge(evidence).Run();
}

}  // namespace reconciler
