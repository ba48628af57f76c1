#include "reconciler/model/value.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(Value, FindsWhatIsThereAndNothingElse) {
  const Value document{
      .data = std::vector<Member>{
          {.key = "fabric",
           .value = {.data = std::vector<Member>{
                         {.key = "mtu", .value = {.data = std::int64_t{9000}}}}}}}};
  ASSERT_NE(document.At({"fabric", "mtu"}), nullptr);
  EXPECT_EQ(document.At({"fabric", "mtu"})->ScalarText(), "9000");
  EXPECT_EQ(document.At({"fabric", "mtu", "deeper"}), nullptr);
  EXPECT_EQ(document.Find("switches"), nullptr);
}

TEST(Value, TreesHaveNoScalarText) {
  EXPECT_EQ((Value{.data = std::vector<Value>{}}).ScalarText(), "");
  EXPECT_EQ((Value{.data = true}).ScalarText(), "true");
  EXPECT_EQ((Value{}).ScalarText(), "");
}

}  // namespace
}  // namespace reconciler
