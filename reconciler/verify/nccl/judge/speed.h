#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/verify/finding/cause.h"
#include "reconciler/verify/nccl/judge/judge.h"

namespace reconciler {

// What became of each pair of nodes alone, one line each; empty: none was tried.
std::vector<std::string> FormatPairs(const NcclEvidence& evidence);

// Holds the figures of a run against the minimum of the manifest and what the links carry.
class NcclSpeedJudge {
 public:
  // All three must outlive it.
  NcclSpeedJudge(const NcclEvidence& evidence, const std::vector<NcclFigure>& figures,
                 const std::vector<RankPath>& paths);

  struct Verdict {
    Check check;
    std::optional<Cause> cause = std::nullopt;  // of a check that did not pass
  };
  Verdict JudgeFigure(const NcclFigure& figure) const;

  // nullopt: not all links report their speed.
  const std::optional<NcclRoofline>& roofline() const { return roofline_; }

 private:
  // What carries a figure's data, and how much of them in GB/s of bus bandwidth.
  struct Links {
    double busbw = 0;
    std::string_view name = {};
  };

  // nullopt: not all links report their speed.
  std::optional<Links> FindLinks(const NcclFigure& figure) const;
  // Whether it reaches the minimum and what the links allow; what it should be goes into `check`.
  Outcome Judge(const NcclFigure& figure, Check& check) const;
  // GB/s that its size reaches on these links; nullopt: too small, or the links report nothing.
  std::optional<double> Expected(const NcclFigure& figure) const;
  Cause FindCause(const NcclFigure& figure) const;
  bool IsSteady(const NcclFigure& figure) const;
  bool IsPossible(const NcclFigure& figure) const;

  const NcclEvidence& evidence_;
  const std::vector<NcclFigure>& figures_;
  const std::vector<RankPath>& paths_;
  std::optional<NcclRoofline> roofline_ = std::nullopt;
  double alltoall_ = 0;  // GB/s; of use where there is a roofline
  // GB/s that nothing can pass, by the manifest where links report nothing; 0: none.
  double most_ = 0;
};

}  // namespace reconciler
