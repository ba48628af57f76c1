#include "reconciler/base/last_result.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(LastResult, IsMadeAgainOnlyWhereATextDiffers) {
  LastResult<std::string> last;
  int made = 0;
  const auto get = [&](const std::string& about, const std::string& a, const std::string& b) {
    return last.Get(about, a, b, [&] { return ++made, a + "|" + b; });
  };
  EXPECT_EQ(get("hosts", "", ""), "|");
  EXPECT_EQ(made, 1);
  EXPECT_EQ(get("hosts", "", ""), "|");
  EXPECT_EQ(made, 1);
  EXPECT_EQ(get("hosts", "1", ""), "1|");
  EXPECT_EQ(get("other", "1", "2"), "1|2");
  EXPECT_EQ(get("hosts", "1", ""), "1|");
  EXPECT_EQ(made, 3);
  EXPECT_EQ(get("hosts", "1", "3"), "1|3");
  EXPECT_EQ(made, 4);
}

}  // namespace
}  // namespace reconciler
