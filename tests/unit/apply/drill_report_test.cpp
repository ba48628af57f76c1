#include "reconciler/apply/drill_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reconciler/base/json/document.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "schema/embedded.h"

namespace reconciler {
namespace {

constexpr int kLimitS = 90;

DrillReport Proved() {
  const std::string journal = "/var/lib/spark-reconcile/apply/20261126T080000Z-1b65abcd";
  return {.checked = {journal + "/drill/kept", "/etc/sysctl.d/99-spark-reconcile-drill.conf",
                      "net.ipv4.conf.lo.tag"},
          .reverted_after_s = 91.26,
          .began = true,
          .reverted = true};
}

nlohmann::ordered_json ToValidJson(const std::vector<std::pair<NodeName, DrillReport>>& drills) {
  auto json = DrillsToJson(drills, kLimitS);
  const auto schema = nlohmann::json::parse(FindEmbeddedSchema("drill"));
  EXPECT_EQ(JudgeBySchema(AddHead(json, {"0.1.0", "2026-11-25T00:00:00Z"}), schema), std::nullopt);
  return json;
}

TEST(DrillReport, HasALineForEachThingThatIsAsBefore) {
  EXPECT_EQ(FormatDrill("spark-1", Proved(), kLimitS, 0),
            "spark-1  reverted it 91.3 s after the last sign of life (limit 90 s)\n"
            "as before, byte for byte:\n"
            "  /var/lib/spark-reconcile/apply/20261126T080000Z-1b65abcd/drill/kept\n"
            "  /etc/sysctl.d/99-spark-reconcile-drill.conf\n"
            "  net.ipv4.conf.lo.tag\n");
}

TEST(DrillReport, OnANarrowTerminalEachLineGoesOnBelow) {
  EXPECT_EQ(FormatDrill("spark-1", Proved(), kLimitS, 60),
            "spark-1  reverted it 91.3 s after the last sign of life\n"
            "  (limit 90 s)\n"
            "as before, byte for byte:\n"
            "  /var/lib/spark-reconcile/apply/20261126T080000Z-1b65abcd/d\n"
            "    rill/kept\n"
            "  /etc/sysctl.d/99-spark-reconcile-drill.conf\n"
            "  net.ipv4.conf.lo.tag\n");
}

TEST(DrillReport, ForAProgramHasEachNodeWithWhatIsWrong) {
  DrillReport failed{.errors = {MakeNodeError(ErrorKind::kApply, "spark-2", "did not\nrevert")},
                     .ended = {"spark-2: reverted an unfinished apply"},
                     .began = true};
  const auto json = ToValidJson({{"spark-1", Proved()}, {"spark-2", failed}});
  EXPECT_EQ(json["revert_after_s"], 90);
  ASSERT_EQ(json["nodes"].size(), 2u);
  const auto& proved = json["nodes"][0];
  EXPECT_EQ(proved["proved"], true);
  EXPECT_EQ(proved["reverted_after_s"], 91.3);
  EXPECT_EQ(proved["as_before"].size(), 3u);
  EXPECT_EQ(json["nodes"][1], nlohmann::ordered_json::parse(R"({
    "name": "spark-2", "proved": false, "began": true, "reverted": false, "as_before": [],
    "ended": ["spark-2: reverted an unfinished apply"],
    "errors": [{"message": "did not\\x0arevert", "next_step": ""}]})"));
}

}  // namespace
}  // namespace reconciler
