#include "plugins/netplan/boot_hook.h"

#include <gmock/gmock.h>

#include "plugins/netplan/netplan.h"
#include "plugins/netplan/reads/boot_services.h"
#include "tests/unit/plugins/pair_scenario.h"

// Scripts of dispatchers, files of ifupdown and rules of udev that configure our ports.
namespace reconciler::plugins::netplan {
namespace {

// What the plan warns of a hook at that path with these interfaces and lines.
std::string WarnOfHook(const std::string& path, const std::map<std::string, int>& lines) {
  test::PairScenario one;
  one.facts.files["/etc/netplan/60-spark-reconcile.yaml"] = Absent{};
  one.facts.network.boot_hooks = {{.path = path, .lines = lines}};
  return one.Warning(Get(), path);
}

constexpr const char* kDispatcher = "/etc/NetworkManager/dispatcher.d/50-fabric";

TEST(NetplanBootHook, EachKindSaysWhenItTakesThePort) {
  const std::string next =
      ": remove what it says of enp1s0f1np1, or move the file away, then plan again";
  const auto warn = [](const std::string& path) { return WarnOfHook(path, {{"enp1s0f1np1", 3}}); };
  EXPECT_EQ(warn(kDispatcher),
            std::string(kDispatcher) +
                ":3 configures enp1s0f1np1 again when NetworkManager's dispatcher runs it, as at "
                "the next boot or re-plug" +
                next);
  EXPECT_EQ(warn("/etc/networkd-dispatcher/routable.d/x"),
            "/etc/networkd-dispatcher/routable.d/x:3 configures enp1s0f1np1 again when "
            "networkd-dispatcher runs it, as at the next boot or re-plug" +
                next);
  EXPECT_EQ(warn("/etc/network/interfaces"),
            "/etc/network/interfaces:3 has ifupdown configure enp1s0f1np1 at the next boot" + next);
  EXPECT_EQ(warn("/etc/udev/rules.d/10-x.rules"),
            "/etc/udev/rules.d/10-x.rules:3 is a rule of udev that renames or sets enp1s0f1np1 at "
            "the next boot or re-plug" +
                next);
}

TEST(NetplanBootHook, SeveralPortsAreOneWarningAtTheFirstLine) {
  EXPECT_EQ(WarnOfHook(kDispatcher, {{"enp1s0f1np1", 9}, {"enP2p1s0f1np1", 4}, {"lo", 1}}),
            std::string(kDispatcher) +
                ":4 configures enp1s0f1np1, enP2p1s0f1np1 again when NetworkManager's dispatcher "
                "runs it, as at the next boot or re-plug: remove what it says of enp1s0f1np1, "
                "enP2p1s0f1np1, or move the file away, then plan again");
}

TEST(NetplanBootHook, OneThatNamesTheWayToTheNodeIsNotMovedAway) {
  EXPECT_EQ(WarnOfHook(kDispatcher, {{"enp1s0f1np1", 3}, {"enP7s7", 5}}),
            std::string(kDispatcher) +
                ":3 configures enp1s0f1np1 again when NetworkManager's dispatcher runs it, as at "
                "the next boot or re-plug: remove what it says of enp1s0f1np1 but leave enP7s7, "
                "which carries this session, then plan again");
}

TEST(NetplanBootHook, OfOtherInterfacesItIsNoWarning) {
  EXPECT_EQ(WarnOfHook(kDispatcher, {{"enp1s0f0np0", 3}, {"enP7s7", 5}}), "none");
}

TEST(NetplanBootHook, HostileLinesOfTheReplyMakeNoHook) {
  NodeFacts facts;
  StoreBootServices(
      {.commands = {{"netplan.boot_services",
                     {.out =
                          "hook\nhook a\nhook /x;reboot\nnames /x;reboot enp1s0f1np1 1\n"
                          "sets /x;reboot\nhook /b\nnames /b enp1s0f1np1 z\nsets /b\n"
                          "hook /c\nnames /c enp1s0f1np1 2\nnames /d enp1s0f1np1 2\nsets /d\n"}}}},
      facts);
  ASSERT_EQ(facts.network.boot_hooks.size(), 1U);
  EXPECT_EQ(facts.network.boot_hooks[0], (BootHook{.path = "/b", .lines = {{"enp1s0f1np1", 0}}}));
}

}  // namespace
}  // namespace reconciler::plugins::netplan
