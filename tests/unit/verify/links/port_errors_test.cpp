#include "reconciler/verify/links/port_errors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Two peers on each of two rails.
NodeProbes Probes() {
  NodeProbes probes{.from = "spark-1"};
  for (const char* peer : {"spark-2", "spark-3"}) {
    probes.pings.push_back({.to = peer, .rail = 0, .netdev = "e0"});
    probes.pings.push_back({.to = peer, .rail = 1, .netdev = "e1"});
  }
  return probes;
}

std::vector<std::string> ErrorTexts(std::string_view before, std::string_view after) {
  std::vector<std::string> texts;
  for (const Check& check : JudgeErrors(Probes(), before, after)) {
    texts.push_back(
        fmt::format("rail{} {}: {}", *check.rail, ToString(check.outcome), check.measured));
  }
  return texts;
}

TEST(PortErrors, ANumberAloneIsNoWarning) {
  EXPECT_THAT(ErrorTexts("e0 carrier_down_count 21\ne1 rx_crc_errors_phy 9\n",
                         "e0 carrier_down_count 21\ne1 rx_crc_errors_phy 9\n"),
              ElementsAre("rail0 pass: none grew", "rail1 pass: none grew"));
}

TEST(PortErrors, EveryCounterThatGrewIsNamedWithWhatItGrewBy) {
  EXPECT_THAT(
      ErrorTexts("e0 rx_crc_errors_phy 0\ne0 carrier_down_count 2\ne1 rx_crc_errors_phy 5\n",
                 "e0 rx_crc_errors_phy 12\ne0 carrier_down_count 3\ne1 rx_crc_errors_phy 5\n"),
      ElementsAre("rail0 warn: carrier_down_count grew by 1 to 3, rx_crc_errors_phy grew "
                  "by 12 to 12",
                  "rail1 pass: none grew"));
  const auto checks = JudgeErrors(Probes(), "e0 a 1", "e0 a 2");
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].symptom, Symptom::kErrorsGrew);
  EXPECT_EQ(checks[0].expected, "no error counter of e0 grows while verify runs");
}

TEST(PortErrors, ACounterThatBeganAgainDidNotGrow) {
  EXPECT_THAT(ErrorTexts("e0 rx_crc_errors_phy 4294967295", "e0 rx_crc_errors_phy 3"),
              ElementsAre("rail0 pass: none grew"));
}

TEST(PortErrors, WhatWasNotReportedTwiceIsNotQueried) {
  EXPECT_THAT(ErrorTexts("", "e0 rx_crc_errors_phy 3"), IsEmpty());
  EXPECT_THAT(ErrorTexts("e0 rx_crc_errors_phy 3", ""), IsEmpty());
  EXPECT_THAT(ErrorTexts("e0 a 0", "e0 b 7"), ElementsAre("rail0 pass: none grew"));
}

TEST(PortErrors, LinesOfAnyOtherFormAreLeftOut) {
  EXPECT_THAT(
      ErrorTexts("e0 a 0", "\ne0 a\ne0 a 1 2\ne0 a x\ne0 a -1\ne0 a 99999999999999999999\n"),
      IsEmpty());
}

}  // namespace
}  // namespace reconciler
