#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reconciler/base/json/document.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "reconciler/model/json/json.h"
#include "reconciler/verify/nccl/judge/judge.h"
#include "reconciler/verify/report/render.h"
#include "schema/embedded.h"
#include "tests/support/paths.h"
#include "tests/unit/verify/nccl_sample.h"

namespace reconciler {
namespace {

using test::HealthyNccl;
using test::NcclScenario;

// Runs and what is reported of them: tests/cases/nccl/NAME.txt and NAME.json. With
// SPARK_TEST_ACCEPT in the environment both are rewritten.
struct Case {
  std::string name;
  NcclScenario scenario;
  std::vector<PairVerdict> pairs = {};
  std::string first_attempt = {};
  double minimum = 0;
};

std::string ReadText(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void Compare(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(test::SourceDir()) / "tests/cases/nccl" / name;
  if (std::getenv("SPARK_TEST_ACCEPT") != nullptr) {
    std::ofstream(path) << text;
    GTEST_SKIP() << "wrote " << path;
  }
  EXPECT_EQ(text, ReadText(path)) << path;
}

NcclScenario WithSweep(NcclScenario scenario, double small) {
  const int ranks = static_cast<int>(scenario.run.ranks.size());
  for (NcclRank& rank : scenario.run.ranks) {
    const auto& ports = scenario.fabric.ports.at(rank.node);
    std::vector<spark_verify::NcclResult> results = {
        test::MakeResult(small / 1e4, 8, ranks, {}), test::MakeResult(small / 20, 65536, ranks, {}),
        test::MakeResult(small, 32u << 20, ranks, ports), rank.results.front()};
    for (const std::size_t i : {0, 2, 4, 6}) {
      auto in_place = results[i];
      in_place.in_place = true;
      results.insert(results.begin() + static_cast<std::ptrdiff_t>(i) + 1, in_place);
    }
    rank.results = results;
  }
  return scenario;
}

NcclScenario OverSockets() {
  NcclScenario scenario = HealthyNccl(2, 3.1);
  for (NcclRank& rank : scenario.run.ranks) {
    test::StandStill(rank);
    rank.log =
        "n:1:1 [0] NCCL INFO NET/IB : No device found.\nn:1:1 [0] NCCL INFO Using network "
        "Socket\nn:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0\n";
  }
  return scenario;
}

NcclScenario Stopped() {
  NcclScenario scenario = HealthyNccl(3);
  for (NcclRank& rank : scenario.run.ranks) {
    rank.results.clear();
    rank.fate = NcclFate::kAborted;
    rank.phase = "after all_reduce 8 float";
  }
  scenario.Rank(1).fate = NcclFate::kFailed;
  scenario.Rank(1).failure = {
      .code = "deadline",
      .phase = "all_reduce 65536 float",
      .text = "wanted the collective in 30000 ms, found it still in progress"};
  scenario.Rank(3).fate = NcclFate::kSilent;
  scenario.Rank(3).order = 0;
  scenario.run.seconds = 31.4;
  return scenario;
}

NcclScenario Unreachable() {
  NcclScenario scenario = HealthyNccl(2);
  for (NcclRank& rank : scenario.run.ranks) {
    rank.results.clear();
    rank.fate = NcclFate::kFailed;
    rank.failure = {.code = "deadline",
                    .phase = "init",
                    .text =
                        "wanted NCCL's communicator of 2 ranks, found it still in progress when "
                        "its time was over"};
  }
  scenario.Rank(2).log +=
      "n:1:1 [0] NCCL INFO socketPollConnect: connect to 192.168.1.21<43321> returned Connection "
      "refused, retrying (9/10) after sleep for 900 msec\n";
  return scenario;
}

NcclScenario NarrowPcie() {
  NcclScenario scenario = HealthyNccl(4, 12.4);
  scenario.Rail(3, "roceP2p1s0f1").limits.pcie_width = 2;
  return scenario;
}

std::vector<Case> Cases() {
  return {
      {.name = "healthy", .scenario = WithSweep(HealthyNccl(4, 21.9), 17.2)},
      {.name = "below-minimum", .scenario = WithSweep(HealthyNccl(2, 19.2), 16), .minimum = 20},
      {.name = "over-sockets", .scenario = OverSockets()},
      {.name = "rank-stopped",
       .scenario = Stopped(),
       .pairs = {{"spark-1", "spark-2", true, "21.7 GB/s"},
                 {"spark-1", "spark-3", false, "spark-3: wanted an answer"},
                 {"spark-2", "spark-3", false, "spark-3: wanted an answer"}}},
      {.name = "root-unreachable", .scenario = Unreachable()},
      {.name = "pcie-x2", .scenario = NarrowPcie()},
      {.name = "slow-node",
       .scenario = HealthyNccl(3, 9.7),
       .pairs = {{"spark-1", "spark-2", true, "21.7 GB/s"},
                 {"spark-1", "spark-3", false, "9.9 GB/s"},
                 {"spark-2", "spark-3", false, "9.8 GB/s"}}},
      {.name = "flaky",
       .scenario = HealthyNccl(2, 21.4),
       .first_attempt = "spark-2: wanted a line of spark-verify, found it ended with status 137"}};
}

class NcclCases : public testing::TestWithParam<Case> {
 protected:
  static Report Judged() {
    const Case& the = GetParam();
    NcclJudgement judged =
        JudgeNccl({.cluster = the.scenario.cluster,
                   .fabric = the.scenario.fabric,
                   .facts = the.scenario.facts,
                   .run = the.scenario.run,
                   .minimum = {.busbw = the.minimum, .where = {"cluster.yaml", {31, 14}}},
                   .pairs = the.pairs,
                   .first_attempt = the.first_attempt});
    return {.cluster = "homelab",
            .level = VerifyLevel::kNccl,
            .checks = std::move(judged.checks),
            .findings = std::move(judged.findings),
            .nccl = std::move(judged.summary)};
  }
};

TEST_P(NcclCases, AreReportedInTheseWords) {
  Compare(GetParam().name + ".txt", RenderReport(Judged()));
}

TEST_P(NcclCases, AreThisDocument) {
  const nlohmann::ordered_json document = ToJson(Judged());
  const nlohmann::json whole = AddHead(document, {"0.1.0", "2026-11-25T00:00:00Z"});
  EXPECT_EQ(JudgeBySchema(whole, nlohmann::json::parse(FindEmbeddedSchema("report"))),
            std::nullopt);
  Compare(GetParam().name + ".json", Dump(document));
}

INSTANTIATE_TEST_SUITE_P(Reports, NcclCases, testing::ValuesIn(Cases()), [](const auto& one) {
  std::string name = one.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace reconciler
