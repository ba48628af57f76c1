#include "reconciler/verify/nccl/judge/speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reconciler/base/text.h"
#include "reconciler/verify/nccl/judge/causes.h"

namespace reconciler {
namespace {

constexpr double kPass = 0.90;  // of what is expected
constexpr double kWarn = 0.75;
constexpr double kInvalid = 1.03;  // of what the links can carry at most

std::string FormatGbs(double value) { return fmt::format("{:.1f} GB/s", value); }

std::string FormatPlace(const SourceMark& mark) {
  return fmt::format("{}:{}:{}", mark.file, mark.position.line, mark.position.column);
}

}  // namespace

std::vector<std::string> FormatPairs(const NcclEvidence& evidence) {
  std::vector<std::string> lines;
  for (const PairVerdict& pair : evidence.pairs) {
    lines.push_back(fmt::format("{} with {} alone: {}", pair.a, pair.b, MakePrintable(pair.seen)));
  }
  return lines;
}

NcclSpeedJudge::NcclSpeedJudge(const NcclEvidence& evidence, const std::vector<NcclFigure>& figures,
                               const std::vector<RankPath>& paths)
    : evidence_(evidence), figures_(figures), paths_(paths) {
  const std::vector<NodeName> nodes = ListNodes(evidence.run);
  roofline_ = ComputeMeasuredRoofline(evidence.cluster, evidence.fabric, nodes, evidence.facts);
  alltoall_ = ComputeMeasuredAllToAll(evidence.cluster, evidence.fabric, nodes, evidence.facts);
  most_ = roofline_ ? roofline_->most
                    : ComputePlannedRoofline(evidence.cluster, evidence.fabric, nodes).most;
}

// Only the largest size measures the links: the others are for information.
bool NcclSpeedJudge::IsSteady(const NcclFigure& figure) const {
  return std::none_of(figures_.begin(), figures_.end(), [&](const NcclFigure& other) {
    return other.collective == figure.collective && other.type == figure.type &&
           other.bytes > figure.bytes;
  });
}

bool NcclSpeedJudge::IsPossible(const NcclFigure& figure) const {
  return std::isfinite(figure.busbw) && figure.busbw > 0 &&
         (most_ <= 0 || figure.busbw <= kInvalid * most_);
}

std::optional<NcclSpeedJudge::Links> NcclSpeedJudge::FindLinks(const NcclFigure& figure) const {
  if (!roofline_) return std::nullopt;
  const bool is_bound_by_uplinks =
      figure.collective == spark_verify::Collective::kAllToAll && alltoall_ < roofline_->ring;
  return is_bound_by_uplinks ? Links{alltoall_, "the cables between switches"}
                             : Links{roofline_->ring, "the links"};
}

std::optional<double> NcclSpeedJudge::Expected(const NcclFigure& figure) const {
  const auto factor = FindSizeFactor(figure.bytes);
  const auto links = FindLinks(figure);
  return factor && links ? std::optional(*factor * links->busbw) : std::nullopt;
}

Outcome NcclSpeedJudge::Judge(const NcclFigure& figure, Check& check) const {
  Outcome outcome = Outcome::kPass;
  const auto links = FindLinks(figure);
  if (const auto expected = Expected(figure)) {
    check.expected = fmt::format("at least {}: {:.2f} of {:.2f} (its size) × {} ({})",
                                 FormatGbs(kPass * *expected), kPass, *FindSizeFactor(figure.bytes),
                                 FormatGbs(links->busbw), links->name);
    if (figure.busbw < kPass * *expected) outcome = Outcome::kWarn;
    if (figure.busbw < kWarn * *expected) outcome = Outcome::kFail;
  }
  if (evidence_.minimum.busbw > 0) {
    check.expected = fmt::format("at least {} ({})", FormatGbs(evidence_.minimum.busbw),
                                 FormatPlace(evidence_.minimum.where));
    // Only min_busbw is required; what the links could do is still reported.
    if (outcome == Outcome::kFail) outcome = Outcome::kWarn;
    if (figure.busbw < evidence_.minimum.busbw) outcome = Outcome::kFail;
    if (links) check.expected += fmt::format("; these links carry {}", FormatGbs(links->busbw));
  }
  if (ExplainNarrowPcie(evidence_)) {
    // Its own roofline is reached, and half the speed is gone.
    outcome = Outcome::kFail;
    check.expected += "; every rail at PCIe x4";
  }
  return outcome;
}

Cause NcclSpeedJudge::FindCause(const NcclFigure& figure) const {
  Cause cause = ExplainSpeed(evidence_, paths_, figure.busbw);
  const auto expected = Expected(figure);
  const bool healthy = expected && figure.busbw >= kPass * *expected;
  if (cause.code != "nccl-slow" || !healthy) return cause;
  return ExplainPromise(evidence_.run, FormatSize(figure.bytes), kPass * *expected);
}

NcclSpeedJudge::Verdict NcclSpeedJudge::JudgeFigure(const NcclFigure& figure) const {
  Check check{.level = VerifyLevel::kNccl,
              .what = "nccl-test",
              .from = evidence_.run.ranks.front().node,
              .subject = figure.Name(),
              .expected = "every result right"};
  if (figure.wrong > 0) {
    check.outcome = Outcome::kFail;
    check.measured = fmt::format("{} elements wrong", figure.wrong);
    return {std::move(check), ExplainWrongData(figure.wrong_on)};
  }
  if (!IsPossible(figure)) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.symptom = Symptom::kInvalidFigure;
    check.expected =
        most_ > 0 ? fmt::format("at most {}, which the links carry", FormatGbs(most_)) : "a time";
    check.why = fmt::format("{} in {:.0f} µs", FormatGbs(figure.busbw), figure.time_us);
    return {std::move(check), ExplainImpossible(evidence_.run)};
  }
  check.measured = FormatGbs(figure.busbw);
  if (!IsSteady(figure)) return {std::move(check)};
  const bool nothing_to_compare = !roofline_ && evidence_.minimum.busbw <= 0 &&
                                  FindSizeFactor(figure.bytes) && !ExplainNarrowPcie(evidence_);
  // Of a size that would have been judged; a minimum is for the size that was wanted.
  const bool is_too_small = evidence_.wanted_size > 0 && FindSizeFactor(evidence_.wanted_size) &&
                            (nothing_to_compare || !FindSizeFactor(figure.bytes));
  if (is_too_small || nothing_to_compare) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.why = is_too_small
                    ? fmt::format("{} at {} instead of {}", check.measured,
                                  FormatSize(figure.bytes), FormatSize(evidence_.wanted_size))
                    : fmt::format("{}, and not all links report their speed", check.measured);
    check.measured.clear();
    return {std::move(check), is_too_small
                                  ? ExplainSmallSize(evidence_.run, FormatSize(figure.bytes))
                                  : ExplainUnknownLinks(evidence_.run)};
  }
  check.outcome = Judge(figure, check);
  if (check.outcome == Outcome::kPass) return {std::move(check)};
  check.evidence = FormatPairs(evidence_);
  return {std::move(check), FindCause(figure)};
}

}  // namespace reconciler
