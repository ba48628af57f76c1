#include "reconciler/verify/nccl_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reconciler/base/text.h"
#include "reconciler/verify/nccl_causes.h"
#include "reconciler/verify/nccl_log.h"

namespace reconciler {
namespace {

constexpr double kPass = 0.90;  // of what is expected
constexpr double kWarn = 0.75;
constexpr double kInvalid = 1.03;  // of what the links can carry at most

std::string Gbs(double value) { return fmt::format("{:.1f} GB/s", value); }

std::string Place(const SourceMark& mark) {
  return fmt::format("{}:{}:{}", mark.file, mark.position.line, mark.position.column);
}

class Judge {
 public:
  explicit Judge(const NcclEvidence& evidence)
      : evidence_(evidence),
        first_(evidence.run.ranks.front().node),
        figures_(FiguresOf(evidence.run)),
        paths_(PathsOf(evidence.run, evidence.fabric, evidence.facts)) {
    std::vector<NodeName> ranks;
    for (const NcclRank& rank : evidence.run.ranks) ranks.push_back(rank.node);
    roofline_ = MeasuredRoofline(evidence.cluster, evidence.fabric, ranks, evidence.facts);
    most_ = roofline_ ? roofline_->most
                      : PlannedRoofline(evidence.cluster, evidence.fabric, ranks).most;
  }

  NcclJudgement Run();

 private:
  void LookAtTrouble(const NcclTrouble& trouble);
  void LookAtPath(const RankPath& path);
  void LookAtVersions();
  void LookAtFigure(const NcclFigure& figure);
  // Whether it is as fast as promised and as the links allow; what it should be goes into `check`.
  Outcome JudgeSpeed(const NcclFigure& figure, Check& check) const;
  // GB/s that its size reaches on these links; nullopt: too small, or the links tell nothing.
  std::optional<double> Expected(const NcclFigure& figure) const;
  Cause CauseOf(const NcclFigure& figure) const;
  bool IsSteady(const NcclFigure& figure) const;
  std::vector<std::string> PairLines() const;
  void Keep(Check check) { judgement_.checks.push_back(std::move(check)); }
  // A check that did not pass, and its cause: one finding, however many checks it spoils.
  void Keep(Check check, Cause cause);
  NcclSummary Summary() const;

  const NcclEvidence& evidence_;
  NodeName first_;
  std::vector<NcclFigure> figures_;
  std::vector<RankPath> paths_;
  std::optional<NcclRoofline> roofline_ = std::nullopt;
  double most_ =
      0;  // GB/s that nothing can pass, by the manifest where links tell nothing; 0: none
  NcclJudgement judgement_ = {};
};

void Judge::Keep(Check check, Cause cause) {
  const auto same = std::find_if(
      judgement_.findings.begin(), judgement_.findings.end(), [&](const Finding& finding) {
        return finding.code == cause.code && finding.nodes == cause.nodes &&
               finding.cause == cause.cause;
      });
  if (same != judgement_.findings.end()) {
    ++same->explains;
    if (check.outcome == Outcome::kFail) same->outcome = Outcome::kFail;
    if (check.rail) same->rails.insert(*check.rail);
    return Keep(std::move(check));
  }
  Finding finding{.code = std::move(cause.code),
                  .outcome = check.outcome,
                  .rung = Rung::kNccl,
                  .nodes = std::move(cause.nodes),
                  .expected = check.expected,
                  .measured = check.measured.empty() ? check.why : check.measured,
                  .evidence = check.evidence,
                  .cause = std::move(cause.cause),
                  .next_step = std::move(cause.next_step),
                  .explains = 1};
  if (check.rail) finding.rails.insert(*check.rail);
  judgement_.findings.push_back(std::move(finding));
  Keep(std::move(check));
}

std::vector<std::string> Judge::PairLines() const {
  std::vector<std::string> lines;
  for (const PairVerdict& pair : evidence_.pairs) {
    lines.push_back(fmt::format("{} with {} alone: {}", pair.a, pair.b, Printable(pair.seen)));
  }
  return lines;
}

void Judge::LookAtTrouble(const NcclTrouble& trouble) {
  const bool harness = IsHarness(trouble);
  Check check{.rung = Rung::kNccl,
              .what = "nccl-run",
              .from = first_,
              .outcome = harness ? Outcome::kCouldNotMeasure : Outcome::kFail,
              .expected = fmt::format("{} ranks through all tests", evidence_.run.ranks.size()),
              .evidence = trouble.evidence};
  (harness ? check.why : check.measured) = fmt::format("{}: {}", trouble.node, trouble.text);
  for (std::string& line : PairLines()) check.evidence.push_back(std::move(line));
  Keep(std::move(check), OfTrouble(trouble, evidence_.run));
}

void Judge::LookAtPath(const RankPath& path) {
  Check check{.rung = Rung::kNccl, .what = "nccl-transport", .from = path.node};
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
    return Keep(std::move(check), OfSockets(paths_));
  }
  if (path.path != NcclPath::kRdma) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.why = path.said.empty() ? "neither counters nor NCCL's lines tell" : path.said;
    check.measured.clear();
    return Keep(std::move(check), {"transport-unknown",
                                   {path.node},
                                   fmt::format("nothing tells how NCCL's data left {}", path.node),
                                   "look at NCCL_NET_PLUGIN, and whether this build prints "
                                   "anything with NCCL_DEBUG=INFO"});
  }
  if (path.idle.empty()) return Keep(std::move(check));
  check.outcome = Outcome::kFail;
  check.rail = path.idle.front();
  Keep(std::move(check), OfIdleRail(paths_, path.idle.front()));
}

void Judge::LookAtVersions() {
  Check check{.rung = Rung::kNccl,
              .what = "nccl-version",
              .from = first_,
              .expected = "the same libnccl on all nodes"};
  const auto versions = OfVersions(evidence_.run);
  if (!versions) {
    check.measured = NcclVersionOf(evidence_.run.ranks.front());
    return Keep(std::move(check));
  }
  check.outcome = Outcome::kWarn;
  check.measured = versions->cause;
  Keep(std::move(check), *versions);
}

// Only the largest size tells of the links: the others are for the eye.
bool Judge::IsSteady(const NcclFigure& figure) const {
  return std::none_of(figures_.begin(), figures_.end(), [&](const NcclFigure& other) {
    return other.collective == figure.collective && other.type == figure.type &&
           other.bytes > figure.bytes;
  });
}

std::optional<double> Judge::Expected(const NcclFigure& figure) const {
  const auto factor = SizeFactor(figure.bytes);
  return factor && roofline_ ? std::optional(*factor * roofline_->ring) : std::nullopt;
}

Outcome Judge::JudgeSpeed(const NcclFigure& figure, Check& check) const {
  Outcome outcome = Outcome::kPass;
  if (const auto expected = Expected(figure)) {
    check.expected =
        fmt::format("at least {}: {:.2f} of {:.2f} (its size) × {} (the links)",
                    Gbs(kPass * *expected), kPass, *SizeFactor(figure.bytes), Gbs(roofline_->ring));
    if (figure.busbw < kPass * *expected) outcome = Outcome::kWarn;
    if (figure.busbw < kWarn * *expected) outcome = Outcome::kFail;
  }
  if (evidence_.promise.busbw > 0) {
    check.expected = fmt::format("at least {} ({})", Gbs(evidence_.promise.busbw),
                                 Place(evidence_.promise.where));
    // What is promised is asked for, and no more; what the links could do is still told.
    if (outcome == Outcome::kFail) outcome = Outcome::kWarn;
    if (figure.busbw < evidence_.promise.busbw) outcome = Outcome::kFail;
    if (roofline_) check.expected += fmt::format("; these links carry {}", Gbs(roofline_->ring));
  }
  if (OfNarrowPcie(evidence_)) {
    // Its own roofline is reached, and half the speed is gone.
    outcome = Outcome::kFail;
    check.expected += "; every rail at PCIe x4";
  }
  return outcome;
}

Cause Judge::CauseOf(const NcclFigure& figure) const {
  Cause cause = OfSpeed(evidence_, paths_, figure.busbw);
  const auto expected = Expected(figure);
  const bool healthy = expected && figure.busbw >= kPass * *expected;
  if (cause.code != "nccl-slow" || !healthy) return cause;
  return OfPromise(evidence_.run, SizeText(figure.bytes), kPass * *expected);
}

void Judge::LookAtFigure(const NcclFigure& figure) {
  Check check{.rung = Rung::kNccl,
              .what = "nccl-test",
              .from = first_,
              .subject = figure.Name(),
              .expected = "every result right"};
  if (figure.wrong > 0) {
    check.outcome = Outcome::kFail;
    check.measured = fmt::format("{} elements wrong", figure.wrong);
    return Keep(std::move(check), OfWrongData(figure.wrong_on));
  }
  const bool possible = std::isfinite(figure.busbw) && figure.busbw > 0 &&
                        (most_ <= 0 || figure.busbw <= kInvalid * most_);
  if (!possible) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.expected =
        most_ > 0 ? fmt::format("at most {}, which the links carry", Gbs(most_)) : "a time";
    check.why = fmt::format("{} in {:.0f} µs", Gbs(figure.busbw), figure.time_us);
    return Keep(std::move(check), OfImpossible(evidence_.run));
  }
  check.measured = Gbs(figure.busbw);
  if (!IsSteady(figure)) return Keep(std::move(check));
  const bool nothing_to_compare = !roofline_ && evidence_.promise.busbw <= 0 &&
                                  SizeFactor(figure.bytes) && !OfNarrowPcie(evidence_);
  if (nothing_to_compare) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.why = fmt::format("{}, and not all links tell their speed", check.measured);
    check.measured.clear();
    return Keep(std::move(check), OfUnknownLinks(evidence_.run));
  }
  check.outcome = JudgeSpeed(figure, check);
  if (check.outcome == Outcome::kPass) return Keep(std::move(check));
  check.evidence = PairLines();
  Keep(std::move(check), CauseOf(figure));
}

NcclSummary Judge::Summary() const {
  NcclSummary summary{.root = evidence_.run.root,
                      .roofline = roofline_,
                      .figures = figures_,
                      .paths = paths_,
                      .pairs = evidence_.pairs,
                      .seconds = evidence_.run.seconds};
  for (const NcclRank& rank : evidence_.run.ranks) {
    const std::string full = ParseNcclLog(rank.log).version;
    summary.ranks.push_back({.node = rank.node,
                             .version = Printable(full.empty() ? NcclVersionOf(rank) : full),
                             .library = rank.hello ? Printable(rank.hello->library) : "",
                             .gpu = rank.hello ? Printable(rank.hello->gpu) : ""});
  }
  return summary;
}

NcclJudgement Judge::Run() {
  judgement_.summary = Summary();
  if (const auto trouble = TroubleOf(evidence_.run)) {
    LookAtTrouble(*trouble);
    return std::move(judgement_);
  }
  Check check{.rung = Rung::kNccl,
              .what = "nccl-run",
              .from = first_,
              .expected = fmt::format("{} ranks through all tests", evidence_.run.ranks.size()),
              .measured = fmt::format("{} in {:.1f} s", Plural(figures_.size(), "test", "tests"),
                                      evidence_.run.seconds)};
  if (!TellTheSameTests(evidence_.run)) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.why = "the ranks ended well, but do not all tell of the same tests";
    check.measured.clear();
    Keep(std::move(check), OfMissingResults(evidence_.run));
    return std::move(judgement_);
  }
  if (!evidence_.note.empty()) check.measured += "; " + evidence_.note;
  if (evidence_.first_attempt.empty()) {
    Keep(std::move(check));
  } else {
    check.outcome = Outcome::kWarn;
    check.measured = "the first of two runs: " + evidence_.first_attempt;
    Keep(std::move(check), OfFlaky(evidence_.run));
  }
  LookAtVersions();
  for (const RankPath& path : paths_) LookAtPath(path);
  for (const NcclFigure& figure : figures_) LookAtFigure(figure);
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
