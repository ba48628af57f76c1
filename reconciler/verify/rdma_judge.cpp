#include "reconciler/verify/rdma_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reconciler/base/text.h"
#include "reconciler/model/fabric.h"
#include "reconciler/verify/rdma_causes.h"
#include "reconciler/verify/roofline.h"

namespace reconciler {
namespace {

constexpr double kPass = 0.90;     // of the roofline
constexpr double kInvalid = 1.03;  // above it nothing was measured

std::string Gbps(double value) { return fmt::format("{:.1f} Gb/s", value); }

class Judge {
 public:
  explicit Judge(const std::vector<Transfer>& transfers) : transfers_(transfers) {}
  RdmaJudgement Run();

 private:
  Check CheckOf(const Transfer& transfer, const RailWrite& rail) const;
  // Judges one rail of one transfer; a cause, where it did not pass.
  std::optional<Cause> Look(const Transfer& transfer, const RailWrite& rail, Check& check) const;
  std::optional<Cause> LookAtSpeed(const Transfer& transfer, const RailWrite& rail, double roofline,
                                   Check& check) const;
  double Alone(const NodeName& from, const NodeName& to, int rail) const;
  void Explain(Cause cause, const Check& check);

  const std::vector<Transfer>& transfers_;
  RdmaJudgement judgement_ = {};
};

// One cause is one finding, however many directions and rails it slows down.
void Judge::Explain(Cause cause, const Check& check) {
  const auto same = std::find_if(
      judgement_.findings.begin(), judgement_.findings.end(), [&](const Finding& finding) {
        return finding.code == cause.code && finding.nodes == cause.nodes &&
               finding.cause == cause.cause;
      });
  if (same != judgement_.findings.end()) {
    if (check.rail) same->rails.insert(*check.rail);
    ++same->explains;
    return;
  }
  Finding finding{.code = std::move(cause.code),
                  .outcome = check.outcome,
                  .rung = Rung::kRdma,
                  .nodes = std::move(cause.nodes),
                  .expected = check.expected,
                  .measured = check.measured.empty() ? check.why : check.measured,
                  .evidence = check.evidence,
                  .cause = std::move(cause.cause),
                  .next_step = std::move(cause.next_step),
                  .explains = 1};
  if (check.rail) finding.rails.insert(*check.rail);
  judgement_.findings.push_back(std::move(finding));
}

Check Judge::CheckOf(const Transfer& transfer, const RailWrite& rail) const {
  return {.rung = Rung::kRdma,
          .what = transfer.rails.size() == 1 ? "write-alone" : "write-together",
          .from = transfer.from,
          .to = transfer.to,
          .rail = rail.rail};
}

double Judge::Alone(const NodeName& from, const NodeName& to, int rail) const {
  for (const Transfer& transfer : transfers_) {
    if (transfer.from == from && transfer.to == to && transfer.rails.size() == 1 &&
        transfer.rails.front().rail == rail && !transfer.trouble) {
      return transfer.rails.front().gbps;
    }
  }
  return 0;
}

std::optional<Cause> Judge::LookAtSpeed(const Transfer& transfer, const RailWrite& rail,
                                        double roofline, Check& check) const {
  check.expected = fmt::format("at least {} of {}", Gbps(kPass * roofline), Gbps(roofline));
  if (rail.gbps > kInvalid * roofline) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.why = fmt::format("{} is more than the link can carry", Gbps(rail.gbps));
    return Implausible(transfer, rail);
  }
  if (const auto narrow = NarrowPcie(transfer, rail)) {
    check.outcome = Outcome::kFail;
    return narrow;
  }
  if (rail.gbps >= kPass * roofline && check.evidence.empty()) return std::nullopt;
  check.outcome = Outcome::kFail;
  if (!check.evidence.empty()) return Loss(transfer, rail);
  if (transfer.rails.size() > 1) {
    const double alone = Alone(transfer.from, transfer.to, rail.rail);
    if (alone >= kPass * roofline && rail.gbps < 0.1 * alone) return OneRail(transfer, rail);
  }
  return Slow(transfer, rail, Alone(transfer.to, transfer.from, rail.rail), kPass * roofline);
}

std::optional<Cause> Judge::Look(const Transfer& transfer, const RailWrite& rail,
                                 Check& check) const {
  if (!transfer.skipped.empty()) {
    check.outcome = Outcome::kSkipped;
    check.why = transfer.skipped;
    return std::nullopt;
  }
  if (transfer.trouble) {
    const bool harness = IsHarness(*transfer.trouble);
    check.outcome = harness ? Outcome::kCouldNotMeasure : Outcome::kFail;
    (harness ? check.why : check.measured) = Printable(transfer.trouble->text);
    check.expected = "all data acknowledged and right";
    return OfTrouble(transfer, rail);
  }
  if (!std::isfinite(rail.gbps) || rail.gbps <= 0) {
    check.outcome = Outcome::kCouldNotMeasure;
    check.expected = "some data in the time measured";
    check.why = "no data in the time measured";
    return Implausible(transfer, rail);
  }
  check.measured = Gbps(rail.gbps);
  check.evidence = LossEvidence(transfer, rail);
  const int mtu = std::min(rail.from_mtu, rail.to_mtu);
  if (mtu < rail.wanted_mtu) {
    check.outcome = Outcome::kFail;
    check.expected = fmt::format("packets of {} bytes", rail.wanted_mtu);
    check.measured += fmt::format(" in packets of {} bytes", mtu);
    return SmallMtu(transfer, rail);
  }
  const auto roofline = Roofline(rail.from_limits, rail.to_limits, mtu, transfer.rails.size());
  if (roofline) return LookAtSpeed(transfer, rail, *roofline, check);
  // The data went over and was right; how fast it should have been, nothing tells.
  check.expected = "all data acknowledged and right";
  return std::nullopt;
}

RdmaJudgement Judge::Run() {
  for (const Transfer& transfer : transfers_) {
    for (const RailWrite& rail : transfer.rails) {
      Check check = CheckOf(transfer, rail);
      auto cause = Look(transfer, rail, check);
      if (cause) Explain(std::move(*cause), check);
      judgement_.checks.push_back(std::move(check));
    }
  }
  return std::move(judgement_);
}

}  // namespace

RdmaJudgement JudgeRdma(const std::vector<Transfer>& transfers) { return Judge(transfers).Run(); }

}  // namespace reconciler
