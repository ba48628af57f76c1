#include "plugins/common/systemctl/show_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler::plugins {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;

constexpr const char* kTwoUnits =
    "Id=-.mount\nNames=-.mount\nLimitMEMLOCK=infinity\n"
    "\n"
    "Id=ssh.service\nNames=sshd.service ssh.service\nLoadState=loaded\n";

TEST(ShowUnits, AUnitIsKnownByEachOfItsNames) {
  const ShownUnits shown = ParseUnits({.out = kTwoUnits});
  EXPECT_THAT(shown.units, ElementsAre(Key("ssh.service"), Key("sshd.service")));
  EXPECT_EQ(shown.units.at("sshd.service").at("LoadState"), "loaded");
  EXPECT_EQ(shown.count, Observed<int>(1));
}

TEST(ShowUnits, TheUnitWithTheManagersLimitsIsNoneOfTheOthers) {
  EXPECT_THAT(ParseUnits({.out = kTwoUnits}).defaults,
              ElementsAre(Pair("Id", "-.mount"), Pair("LimitMEMLOCK", "infinity"),
                          Pair("Names", "-.mount")));
  EXPECT_THAT(ParseUnits({.out = "Id=a.service\n"}).defaults, IsEmpty());
}

TEST(ShowUnits, WhatAFailureLeftIsKnownAndTheCountIsNot) {
  const ShownUnits shown = ParseUnits({.exit_code = 1, .out = kTwoUnits, .err = "no such unit\n"});
  EXPECT_EQ(shown.count, Observed<int>(Unknown{"systemctl show failed: no such unit"}));
  EXPECT_EQ(shown.units.size(), 2u);
  EXPECT_EQ(shown.defaults.size(), 3u);
}

TEST(ShowUnits, AfterTheTimeLimitNothingIsKnown) {
  const ShownUnits shown = ParseUnits({.exit_code = 124, .out = kTwoUnits});
  EXPECT_EQ(shown.count, Observed<int>(Unknown{"systemctl gave no answer in 5 s"}));
  EXPECT_THAT(shown.units, IsEmpty());
  EXPECT_THAT(shown.defaults, IsEmpty());
}

}  // namespace
}  // namespace reconciler::plugins
