#include "plugins/common/systemctl/escape.h"

#include <gtest/gtest.h>

namespace reconciler::plugins {
namespace {

// As systemd-escape(1) prints them.
TEST(UnitEscape, NamesAreWrittenAsSystemdEscapeDoes) {
  EXPECT_EQ(EscapeForUnit("enp1s0f1np1"), "enp1s0f1np1");
  EXPECT_EQ(EscapeForUnit("a-b c"), R"(a\x2db\x20c)");
  EXPECT_EQ(EscapeForUnit(".hidden"), R"(\x2ehidden)");
  EXPECT_EQ(EscapePathForUnit("/mnt/data"), "mnt-data");
  EXPECT_EQ(EscapePathForUnit("/mnt//rosa-models/"), R"(mnt-rosa\x2dmodels)");
  EXPECT_EQ(EscapePathForUnit("/dev/disk/by-uuid/0a1b-2c"), R"(dev-disk-by\x2duuid-0a1b\x2d2c)");
}

}  // namespace
}  // namespace reconciler::plugins
