#include "reconciler/verify/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reconciler/base/json/document.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "schema/embedded.h"
#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

Report MakeReportOf(const std::vector<Outcome>& outcomes, bool unreachable = false) {
  Report report;
  for (const Outcome outcome : outcomes) report.checks.push_back({.outcome = outcome});
  if (unreachable) report.unreachable["spark-2"] = "no answer";
  return report;
}

TEST(ExitCode, TheWorstDecides) {
  using enum Outcome;
  EXPECT_EQ(FindExitCode(MakeReportOf({})), 0);
  EXPECT_EQ(FindExitCode(MakeReportOf({kPass, kSkipped})), 0);
  EXPECT_EQ(FindExitCode(MakeReportOf({kPass, kWarn})), 0);
  EXPECT_EQ(FindExitCode(MakeReportOf({kPass, kCouldNotMeasure})), 7);
  EXPECT_EQ(FindExitCode(MakeReportOf({kPass, kCouldNotMeasure}, true)), 3);
  EXPECT_EQ(FindExitCode(MakeReportOf({kPass}, true)), 3);
  EXPECT_EQ(FindExitCode(MakeReportOf({kPass, kCouldNotMeasure, kFail})), 6);
  EXPECT_EQ(FindExitCode(MakeReportOf({kFail}, true)), 6);
}

TEST(VerificationOutcome, OfAReportIsAFailureBeforeAGap) {
  using enum Outcome;
  using Verification = VerificationOutcome;
  const auto find = [](const Report& report) { return FindVerificationOutcome(report); };
  EXPECT_EQ(find(MakeReportOf({})), Verification::kPassed);
  EXPECT_EQ(find(MakeReportOf({kPass, kWarn, kSkipped})), Verification::kPassed);
  EXPECT_EQ(find(MakeReportOf({kPass, kCouldNotMeasure})), Verification::kNotMeasured);
  EXPECT_EQ(find(MakeReportOf({kPass}, true)), Verification::kNotMeasured);
  EXPECT_EQ(find(MakeReportOf({kCouldNotMeasure, kFail})), Verification::kFailed);
  EXPECT_EQ(find(MakeReportOf({kFail}, true)), Verification::kFailed);
}

nlohmann::json MakeDocument(const Report& report) {
  return AddHead(ToJson(report), {"0.1.0", "2026-11-25T00:00:00Z"});
}

nlohmann::json Schema() { return nlohmann::json::parse(FindEmbeddedSchema("report")); }

Report BrokenReport() {
  Sample sample = OnSwitch(4);
  sample.Link(2, 0).mtu = 1500;
  sample.facts.nodes.at("spark-1").memlock = {};
  sample.Lose(4);
  Report report{.cluster = "homelab", .checks = PassedChecks(sample)};
  Break(report.checks, VerifyLevel::kPing, "0>2@0", Symptom::kJumboLost,
        "2 packets transmitted, 0 received");
  Break(report.checks, VerifyLevel::kSsh, "1>2@1", Symptom::kSshDenied,
        "Permission denied (publickey).");
  report.checks[0].outcome = Outcome::kWarn;
  for (const char* what : {"fec", "lanes", "errors", "versions"}) {
    report.checks.push_back({.what = what, .from = "spark-1", .rail = 0});
  }
  for (const Symptom symptom : {Symptom::kFecWrong, Symptom::kLanesDiffer, Symptom::kErrorsGrew}) {
    report.checks[1].symptom = symptom;
    report.checks.push_back(report.checks[1]);
  }
  report.checks[0].symptom = Symptom::kLanesDiffer;
  report.findings = ListFindings(sample, report.checks);
  report.unreachable["spark-4"] = "no connection within 10 s";
  report.checks[2].gbps = 97.3;
  report.checks[2].roofline_gbps = 111.8;
  report.checks[2].latency_us = 1.8;
  report.run = {.began = "2026-11-24T03:12:05Z", .seconds = 9.6, .program = "0.1.0"};
  report.facts = {{"spark-1", {{"kernel", "6.11"}}}};
  report.fabric = BuildDrawing(sample.cluster, sample.fabric);
  return report;
}

TEST(ReportJson, IsValidAgainstItsSchema) {
  for (const Report& report : {Report{.cluster = "homelab"}, BrokenReport()}) {
    EXPECT_EQ(JudgeBySchema(MakeDocument(report), Schema()), std::nullopt);
  }
}

TEST(ReportJson, TheSchemaRefusesWhatIsNotAReport) {
  const nlohmann::json good = MakeDocument(BrokenReport());
  ASSERT_EQ(JudgeBySchema(good, Schema()), std::nullopt);
  for (const char* key :
       {"format", "program", "time", "summary", "findings", "checks", "unreachable"}) {
    nlohmann::json bad = good;
    bad.erase(key);
    EXPECT_NE(JudgeBySchema(bad, Schema()), std::nullopt) << key;
  }
  nlohmann::json unknown = good;
  unknown["checks"][0]["symptom"] = "bad-luck";
  EXPECT_NE(JudgeBySchema(unknown, Schema()), std::nullopt);
}

TEST(ReportJson, TheSchemaKnowsEverySymptom) {
  std::vector<std::string> symptoms;
  for (int i = 1; i <= static_cast<int>(Symptom::kInvalidFigure); ++i) {
    symptoms.emplace_back(ToString(static_cast<Symptom>(i)));
  }
  const nlohmann::json listed =
      Schema().at("/properties/checks/items/properties/symptom/enum"_json_pointer);
  EXPECT_EQ(listed, nlohmann::json(symptoms));
}

void ExpectDescriptions(const nlohmann::json& schema, const std::string& path) {
  if (schema.contains("properties")) {
    for (const auto& [name, property] : schema["properties"].items()) {
      EXPECT_TRUE(property.contains("description")) << path << "/" << name;
      ExpectDescriptions(property, path + "/" + name);
    }
  }
  if (schema.contains("items")) ExpectDescriptions(schema["items"], path + "/items");
}

TEST(ReportJson, EveryPropertyOfTheSchemaIsDescribed) { ExpectDescriptions(Schema(), ""); }

TEST(ReportJson, NamesTheFailingPairAndRail) {
  const nlohmann::json json = ToJson(BrokenReport());
  EXPECT_EQ(json["format"], "spark-reconcile/report/1");
  EXPECT_EQ(json["exit_code"], 6);
  EXPECT_EQ(json["unreachable"][0]["node"], "spark-4");
  const auto denied =
      std::find_if(json["findings"].begin(), json["findings"].end(),
                   [](const auto& finding) { return finding["code"] == "ssh-denied"; });
  ASSERT_NE(denied, json["findings"].end());
  EXPECT_EQ((*denied)["nodes"], nlohmann::json({"spark-1", "spark-2"}));
  EXPECT_EQ((*denied)["rails"], nlohmann::json({"rail1"}));
  EXPECT_EQ((*denied)["evidence"][0],
            "spark-1 to spark-2 on rail1: Permission denied (publickey).");
}

}  // namespace
}  // namespace reconciler
