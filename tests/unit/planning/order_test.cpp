#include "reconciler/planning/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::ElementsAre;

Plugin PluginNamed(std::string_view name, std::vector<std::string_view> after = {}) {
  return {.name = name, .after = std::move(after)};
}

TEST(OrderPlugins, PutsEachPluginAfterWhatItWaitsForAndNoLater) {
  const auto stages = OrderPlugins({PluginNamed("ssh", {"hosts"}), PluginNamed("netplan"),
                                    PluginNamed("hosts", {"netplan"}), PluginNamed("sysctl")});
  ASSERT_TRUE(stages);
  EXPECT_THAT(*stages, ElementsAre(ElementsAre(1, 3), ElementsAre(2), ElementsAre(0)));
}

TEST(OrderPlugins, NamesTheMembersOfACycle) {
  const auto stages = OrderPlugins({PluginNamed("a", {"b"}), PluginNamed("b", {"c"}),
                                    PluginNamed("c", {"a"}), PluginNamed("d")});
  ASSERT_FALSE(stages);
  EXPECT_EQ(FormatError(stages.error()),
            "plugins wait for each other: a → b → c → a\n"
            "  hint: take one of them out of another's `after`\n");
}

TEST(OrderPlugins, OneAfterAllOthersNeedsToNameNone) {
  const auto stages =
      OrderPlugins({PluginNamed("last", {kAllOthers}), PluginNamed("a"), PluginNamed("b", {"a"}),
                    PluginNamed("very-last", {"last", kAllOthers})});
  ASSERT_TRUE(stages);
  EXPECT_THAT(*stages, ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(0), ElementsAre(3)));
}

TEST(OrderPlugins, NoneComesAfterOneThatIsAfterAllOthers) {
  const auto stages = OrderPlugins({PluginNamed("a", {"last"}), PluginNamed("last", {kAllOthers})});
  ASSERT_FALSE(stages);
  EXPECT_EQ(stages.error().message, "plugins wait for each other: a → last → a");
}

TEST(OrderPlugins, NamesAnUnknownPredecessor) {
  EXPECT_EQ(OrderPlugins({PluginNamed("a", {"nobody"})}).error().message,
            "plugin a comes after 'nobody', which is no plugin");
}

}  // namespace
}  // namespace reconciler
