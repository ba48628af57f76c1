#include "reconciler/verify/report/cable_rates.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

Check MakeWrite(const NodeName& from, const NodeName& to, int rail, double gbps,
                const char* what = "write-together", std::optional<double> roofline = 98) {
  return {.level = VerifyLevel::kRdma,
          .what = what,
          .from = from,
          .to = to,
          .rail = rail,
          .gbps = gbps,
          .roofline_gbps = roofline};
}

Drawing::Device MakeNode(const std::string& name, const std::string& cage, int first_rail) {
  return {.name = name, .ports = {{cage, first_rail, "", ""}, {cage, first_rail + 1, "", ""}}};
}

Drawing MakePair() {
  return {.devices = {MakeNode("spark-1", "p1", 0), MakeNode("spark-2", "p1", 0)},
          .cables = {{0, 1, "p1", "p1", 200}}};
}

Drawing MakeSwitch() {
  return {.devices = {MakeNode("spark-1", "p1", 0),
                      MakeNode("spark-2", "p1", 0),
                      MakeNode("spark-3", "p1", 0),
                      {.name = "leaf", .is_switch = true, .level = 1},
                      {.name = "spine", .is_switch = true, .level = 2}},
          .cables = {{0, 3, "p1", "", 200},
                     {1, 3, "p1", "", 200},
                     {2, 3, "p1", "", 200},
                     {3, 4, "", "", 400}}};
}

TEST(FindCableRates, RailsThatWereWrittenToTogetherAddUpInTheSlowerDirection) {
  Report report;
  report.checks = {MakeWrite("spark-1", "spark-2", 0, 95), MakeWrite("spark-1", "spark-2", 1, 93),
                   MakeWrite("spark-2", "spark-1", 0, 50), MakeWrite("spark-2", "spark-1", 1, 48),
                   MakeWrite("spark-1", "spark-2", 0, 111, "write-alone", 111.8)};
  const CableRates rates = FindCableRates(MakePair(), report);
  ASSERT_EQ(rates.size(), 1u);
  EXPECT_DOUBLE_EQ(rates[0].gbps.value_or(0), 98);
  EXPECT_DOUBLE_EQ(rates[0].share.value_or(0), 0.5);
}

TEST(FindCableRates, ARailThatWasWrittenToAloneHadTheCableForItself) {
  Report report;
  report.checks = {MakeWrite("spark-1", "spark-2", 0, 100, "write-alone", std::nullopt),
                   MakeWrite("spark-1", "spark-2", 1, 110, "write-alone", std::nullopt)};
  const CableRates rates = FindCableRates(MakePair(), report);
  EXPECT_DOUBLE_EQ(rates[0].gbps.value_or(0), 110);
  EXPECT_EQ(rates[0].share, std::nullopt);
}

TEST(FindCableRates, OneSlowNodeBehindASwitchColoursItsOwnCableAlone) {
  Report report;
  for (const char* from : {"spark-1", "spark-2", "spark-3"}) {
    for (const char* to : {"spark-1", "spark-2", "spark-3"}) {
      if (from == std::string(to)) continue;
      const bool slow = from == std::string("spark-3") || to == std::string("spark-3");
      report.checks.push_back(MakeWrite(from, to, 0, slow ? 20 : 98));
    }
  }
  const CableRates rates = FindCableRates(MakeSwitch(), report);
  EXPECT_DOUBLE_EQ(rates[0].gbps.value_or(0), 98);
  EXPECT_DOUBLE_EQ(rates[1].gbps.value_or(0), 98);
  EXPECT_DOUBLE_EQ(rates[2].gbps.value_or(0), 20);
  EXPECT_EQ(rates[3].gbps, std::nullopt) << "nothing was measured between the switches alone";
}

TEST(FindCableRates, WritesOfOtherCablesDoNotCount) {
  Report report;
  report.checks = {MakeWrite("spark-1", "spark-2", 2, 90), MakeWrite("spark-1", "spark-9", 0, 90)};
  EXPECT_EQ(FindCableRates(MakePair(), report)[0].gbps, std::nullopt);
  EXPECT_EQ(FindCableRates(MakePair(), {})[0].gbps, std::nullopt);
}

TEST(FindCableRates, AFigureThatCannotBeTrueIsLeftOut) {
  Report report;
  report.checks = {MakeWrite("spark-1", "spark-2", 0, 260, "write-alone", 111.8),
                   MakeWrite("spark-1", "spark-2", 1, 108, "write-alone", 111.8)};
  report.checks[0].outcome = Outcome::kCouldNotMeasure;
  report.checks[0].symptom = Symptom::kInvalidFigure;
  EXPECT_DOUBLE_EQ(FindCableRates(MakePair(), report)[0].gbps.value_or(0), 108);
}

TEST(ChooseHeatColour, GoesFromRedAtAHalfToGreenAtWhatVerifyPasses) {
  EXPECT_EQ(ChooseHeatColour({.share = 0.2}), "#c62828");
  EXPECT_EQ(ChooseHeatColour({.share = 0.5}), "#c62828");
  EXPECT_EQ(ChooseHeatColour({.share = 0.72}), "#c88200");
  EXPECT_EQ(ChooseHeatColour({.share = 0.94}), "#1a7f37");
  EXPECT_EQ(ChooseHeatColour({.share = 1.5}), "#1a7f37");
  EXPECT_EQ(ChooseHeatColour({.gbps = 9.3}), "#808080") << "no roofline: no colour";
}

}  // namespace
}  // namespace reconciler
