#include "reconciler/verify/rdma/judge/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reconciler/base/text.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/rdma/judge/causes.h"
#include "reconciler/verify/rdma/judge/pairs.h"
#include "reconciler/verify/rdma/judge/proof.h"
#include "reconciler/verify/rdma/judge/roofline.h"

namespace reconciler {
namespace {

// Fractions of the roofline. On a healthy Spark one rail alone does 105 to 112 Gb/s of 111.8, and
// both twins of a cable 185 to 196 of 196.1; below 90 and 170 something is wrong.
constexpr double kPass = 0.94;
constexpr double kWarnAlone = 0.80;
constexpr double kWarnTogether = 0.867;
constexpr double kInvalid = 1.03;  // above it nothing was measured

constexpr std::string_view kAllRight = "all data acknowledged and right";

std::string FormatGbps(double value) { return fmt::format("{:.1f} Gb/s", value); }

std::string DescribeMeasured(const RailWrite& rail) {
  if (rail.latency_us <= 0) return FormatGbps(rail.gbps);
  return fmt::format("{}, {:.1f} µs", FormatGbps(rail.gbps), rail.latency_us);
}

class Judge {
 public:
  explicit Judge(const std::vector<Transfer>& transfers)
      : transfers_(transfers), scopes_(FindCounterScopes(transfers)) {}
  RdmaJudgement Run();

 private:
  Check MakeCheck(const Transfer& transfer, const RailWrite& rail) const;
  // Judges one rail of one transfer; a cause, where it did not pass.
  std::optional<Cause> JudgeTransfer(const Transfer& transfer, const RailWrite& rail,
                                     Check& check) const;
  std::optional<Cause> JudgeSpeed(const Transfer& transfer, const RailWrite& rail, double roofline,
                                  Check& check) const;
  static std::optional<Cause> JudgeData(const Transfer& transfer, const RailWrite& rail,
                                        Check& check);
  // A warning, where nothing worse is found.
  std::optional<Cause> JudgeUncounted(const Transfer& transfer, const RailWrite& rail,
                                      Check& check) const;
  // Gb/s of that rail in the transfer of so many rails at once; 0: not measured.
  double ComputeSpeed(const NodeName& from, const NodeName& to, int rail,
                      std::size_t at_once) const;

  const std::vector<Transfer>& transfers_;
  CounterScopes scopes_;
  RdmaJudgement judgement_ = {};
};

Check Judge::MakeCheck(const Transfer& transfer, const RailWrite& rail) const {
  return {.level = VerifyLevel::kRdma,
          .what = transfer.rails.size() == 1 ? "write-alone" : "write-together",
          .from = transfer.from,
          .to = transfer.to,
          .rail = rail.rail};
}

double Judge::ComputeSpeed(const NodeName& from, const NodeName& to, int rail,
                           std::size_t at_once) const {
  for (const Transfer& transfer : transfers_) {
    if (transfer.from != from || transfer.to != to || transfer.rails.size() != at_once ||
        transfer.run_error) {
      continue;
    }
    for (const RailWrite& one : transfer.rails) {
      if (one.rail == rail) return one.gbps;
    }
  }
  return 0;
}

std::optional<Cause> Judge::JudgeSpeed(const Transfer& transfer, const RailWrite& rail,
                                       double roofline, Check& check) const {
  check.expected =
      fmt::format("at least {} of {}", FormatGbps(kPass * roofline), FormatGbps(roofline));
  check.roofline_gbps = roofline;
  const SharedSpeed shared = ComputeSharedSpeed(transfer, rail);
  if (rail.gbps > kInvalid * shared.alone || shared.gbps > kInvalid * shared.roofline) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.symptom = Symptom::kInvalidFigure;
    check.measured.clear();
    check.why = fmt::format("{} is more than the link can carry", FormatGbps(rail.gbps));
    return ExplainImplausible(transfer, rail);
  }
  if (const auto narrow = ExplainNarrowPcie(transfer, rail)) {
    check.outcome = Outcome::kFail;
    return narrow;
  }
  const double alone =
      transfer.rails.size() > 1 ? ComputeSpeed(transfer.from, transfer.to, rail.rail, 1) : 0;
  const bool is_idle = alone >= kPass * roofline && rail.gbps < 0.1 * alone;
  const double reached = std::max(rail.gbps / roofline, shared.gbps / shared.roofline);
  if (reached >= kPass && !is_idle && check.evidence.empty()) return std::nullopt;
  const bool is_near = reached >= (transfer.rails.size() > 1 ? kWarnTogether : kWarnAlone);
  check.outcome = is_near && !is_idle && check.evidence.empty() ? Outcome::kWarn : Outcome::kFail;
  // What a CPU forwards it also drops.
  if (!check.evidence.empty() && !IsLikelyDetour(transfer, rail))
    return ExplainLoss(transfer, rail);
  if (auto busy = FindBusy(transfer, rail, scopes_)) return busy;
  if (is_idle) return ExplainOneRail(transfer, rail);
  if (check.evidence.empty()) {
    check.evidence = ListMarkEvidence(transfer, rail);
    if (!check.evidence.empty()) return ExplainCongestion(transfer, rail);
  }
  return ExplainSlow(transfer, rail,
                     ComputeSpeed(transfer.to, transfer.from, rail.rail, transfer.rails.size()),
                     kPass * roofline);
}

// How fast it should have been is unknown: of devices made of software nothing can. Of them it
// is judged that the data went over, by the right rail and unharmed; what they sent twice is
// reported and no fault, for on shared processors packets come late.
std::optional<Cause> Judge::JudgeData(const Transfer& transfer, const RailWrite& rail,
                                      Check& check) {
  if (rail.from.limits.hardware || rail.to.limits.hardware) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.why = "one end reports no speed for its link";
    return ExplainUnknownSpeed(transfer, rail);
  }
  return std::nullopt;
}

std::optional<Cause> Judge::JudgeUncounted(const Transfer& transfer, const RailWrite& rail,
                                           Check& check) const {
  auto cause = FindUncounted(transfer, rail, scopes_);
  if (cause) check.outcome = Outcome::kWarn;
  return cause;
}

std::optional<Cause> Judge::JudgeTransfer(const Transfer& transfer, const RailWrite& rail,
                                          Check& check) const {
  if (!transfer.skipped.empty()) {
    check.outcome = Outcome::kSkipped;
    check.why = transfer.skipped;
    return std::nullopt;
  }
  if (transfer.run_error) {
    Cause cause = ExplainRunError(transfer, rail);
    // Beside a rail that broke another one proved nothing.
    const bool blameless =
        HasMeasuredNothing(transfer.run_error->code) || cause.rail.value_or(rail.rail) != rail.rail;
    check.outcome = blameless ? Outcome::kCouldNotMeasure : Outcome::kFail;
    (blameless ? check.why : check.measured) = MakePrintable(transfer.run_error->text);
    check.expected = kAllRight;
    return cause;
  }
  if (!std::isfinite(rail.gbps) || rail.gbps <= 0) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.symptom = Symptom::kInvalidFigure;
    check.expected = "some data in the time measured";
    check.why = "no data in the time measured";
    return ExplainImplausible(transfer, rail);
  }
  check.measured = DescribeMeasured(rail);
  check.gbps = rail.gbps;
  if (rail.latency_us > 0) check.latency_us = rail.latency_us;
  if (auto unproven = FindUnproven(transfer, rail, scopes_)) {
    check.outcome = unproven->fails ? Outcome::kFail : Outcome::kCouldNotMeasure;
    check.expected = fmt::format("all bytes counted by {} and {}", rail.from.hca, rail.to.hca);
    (unproven->fails ? check.measured : check.why) = unproven->measured;
    return unproven->cause;
  }
  check.evidence = ListLossEvidence(transfer, rail);
  const int mtu = std::min(rail.from.active_mtu, rail.to.active_mtu);
  if (mtu < rail.wanted_mtu) {
    check.outcome = Outcome::kFail;
    check.expected = fmt::format("packets of {} bytes", rail.wanted_mtu);
    check.measured += fmt::format(" in packets of {} bytes", mtu);
    return ExplainSmallMtu(transfer, rail);
  }
  if (const auto roofline = ComputeRoofline(transfer, rail)) {
    return JudgeSpeed(transfer, rail, *roofline, check);
  }
  check.expected = kAllRight;
  return JudgeData(transfer, rail, check);
}

RdmaJudgement Judge::Run() {
  for (const Transfer& transfer : transfers_) {
    for (const RailWrite& rail : transfer.rails) {
      Check check = MakeCheck(transfer, rail);
      auto cause = JudgeTransfer(transfer, rail, check);
      if (check.outcome == Outcome::kPass) cause = JudgeUncounted(transfer, rail, check);
      if (cause) AddFinding(check, std::move(*cause), judgement_.findings);
      judgement_.checks.push_back(std::move(check));
    }
  }
  NameNodesAtFault(judgement_.checks, judgement_.findings);
  for (const auto& [hca, scope] : scopes_) judgement_.uncounted.insert(hca.first);
  return std::move(judgement_);
}

}  // namespace

RdmaJudgement JudgeRdma(const std::vector<Transfer>& transfers) { return Judge(transfers).Run(); }

}  // namespace reconciler
