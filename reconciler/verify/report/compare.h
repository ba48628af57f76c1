#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// By how much two runs over the same links may differ, in per cent. Times scatter more than
// bandwidths do.
struct Noise {
  double bandwidth = 5;
  double time = 20;
};

// A figure of both reports that differs by more than the noise.
struct FigureChange {
  std::string what = {};  // "write-alone spark-1 to spark-2 on rail0"
  std::string unit = {};  // "Gb/s", "GB/s", "µs"
  double before = 0;
  double after = 0;

  double ComputePercent() const { return (after - before) / before * 100; }
};

struct OutcomeChange {
  std::string what = {};
  Outcome before = Outcome::kPass;
  Outcome after = Outcome::kPass;
};

struct FactChange {
  std::string name = {};  // "kernel"
  std::string before = {};
  std::string after = {};
  std::vector<NodeName> nodes = {};
};

// Two reports of one cluster. What is worse or better stands first where it differs the most.
struct ReportComparison {
  std::vector<FigureChange> worse = {};
  std::vector<FigureChange> better = {};
  std::size_t same = 0;             // figures within the noise
  std::vector<Finding> added = {};  // new, or worse than before: a warning that is a failure now
  std::vector<Finding> gone = {};
  std::vector<Finding> kept = {};  // as in the later report
  // Checks that warn or fail now and did not; of new ones, those that no added finding names.
  std::vector<OutcomeChange> deteriorated = {};
  std::vector<std::string> not_measured = {};  // checks and figures of the earlier report alone
  std::vector<FactChange> facts = {};
  bool has_facts = true;  // both reports have some
};

// Reports of two clusters are an error.
Result<ReportComparison> CompareReports(const Report& before, const Report& after,
                                        const Noise& noise = {});

// 6: something is worse: slower, a new finding, a check that fails and did not. 7: nothing is, as
// far as it was measured again. 0: nothing is.
int FindExitCode(const ReportComparison& comparison);

// schema/comparison.schema.json describes it.
nlohmann::ordered_json ComparisonToJson(const Report& before, const Report& after,
                                        const ReportComparison& comparison,
                                        const Noise& noise = {});

// For a terminal, and for an issue or a pull request.
std::string RenderComparison(const Report& before, const Report& after,
                             const ReportComparison& comparison, const Noise& noise = {});
std::string RenderComparisonMarkdown(const Report& before, const Report& after,
                                     const ReportComparison& comparison, const Noise& noise = {});

// One page that needs no network, in the style of RenderHtml's.
std::string RenderComparisonHtml(const Report& before, const Report& after,
                                 const ReportComparison& comparison, const Noise& noise = {});

}  // namespace reconciler
