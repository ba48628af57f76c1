#include "reconciler/base/shell_values.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

constexpr const char* kLinks = R"(1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue
7: fab0@if6: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc noqueue
)";
constexpr const char* kAddresses =
    R"(1: lo    inet 10.99.0.31/32 scope global lo\       valid_lft forever preferred_lft forever
1: lo    inet 10.0.0.1 peer 10.0.0.2/32 scope global lo\       valid_lft forever preferred_lft forever
1: lo    inet 192.168.1.9/24 brd 192.168.1.255 scope global secondary dynamic lo\       valid_lft 86000sec preferred_lft 86000sec
1: lo    inet 192.168.1.8/24 scope global dynamic lo\       valid_lft 599sec preferred_lft 500sec
7: fab0    inet 192.168.177.1/24 scope global fab0\       valid_lft forever preferred_lft forever
)";
constexpr const char* kRoutes =
    R"(default via 192.168.1.1 dev lo proto dhcp metric 100 expires 1700sec linkdown
172.31.0.0/16 via 192.168.1.1 dev lo
10.244.0.0/24 via 192.168.1.4 dev lo proto bird
192.168.177.0/24 dev fab0 proto static
192.168.1.0/24 dev lo proto kernel scope link src 192.168.1.9
local 127.0.0.1 dev lo table local proto kernel scope host src 127.0.0.1
)";
constexpr const char* kRules =
    "0:\tfrom all lookup local\n"
    "500:\tfrom 10.99.0.31 lookup 100\n"
    "600:\tfrom all iif fab0 lookup 101\n";

// `ip` reads files of the test here, and what it adds is written to one.
class OutsideTest : public ShellTest {
 protected:
  OutsideTest() {
    std::filesystem::create_directories(Path("journal"));
    Put("ip/link", kLinks);
    Show(kAddresses, kRoutes, kRules);
  }

  void Show(const std::string& addresses, const std::string& routes, const std::string& rules) {
    Put("ip/address", addresses);
    Put("ip/route", routes);
    Put("ip/rule", rules);
  }

  ScriptReply Call(const std::string& calls) {
    return RunRequest("J=" + QuoteForShell(Path("journal")) + "\nat=" + QuoteForShell(Path("ip")) +
                          R"(
ip() { case $1$2 in -o-4 | -o-0) cat "$at/$3" ;; -oaddress) cat "$at/address" ;; -o-6) ;; *) echo "$*" >>"$at/added" ;; esac; }
sleep() { :; }
)" + calls,
                      MakeNonce());
  }

  std::string Lost() { return Call("find_lost $KINDS; printf %s \"$lost\"").out; }
};

TEST_F(OutsideTest, WhatIsNotedLiesOutsideTheFabricAndIsThereToStay) {
  EXPECT_EQ(Call("note_outside fab0 fab1").exit_code, 0);
  EXPECT_EQ(Get(Path("journal/outside")),
            "link -0 dev lo up\n"
            "address -4 dev lo 10.99.0.31/32 scope global\n"
            "address -4 dev lo 10.0.0.1 peer 10.0.0.2/32 scope global\n"
            "lease -4 dev lo 192.168.1.9/24 brd 192.168.1.255 scope global\n"
            "route -4 default via 192.168.1.1 dev lo proto dhcp metric 100\n"
            "route -4 172.31.0.0/16 via 192.168.1.1 dev lo\n"
            "rule -4 pref 0 from all lookup local\n"
            "rule -4 pref 500 from 10.99.0.31 lookup 100\n");
}

TEST_F(OutsideTest, ARenewedLeaseAndWhatIsNewAreNoLoss) {
  Call("note_outside fab0");
  std::string addresses = kAddresses;
  addresses.replace(addresses.find("86000sec"), 8, "3sec");
  Show(addresses + "1: lo    inet 10.7.7.7/32 scope global lo\\       valid_lft forever\n",
       std::string(kRoutes) + "10.8.0.0/16 dev lo\n", kRules);
  EXPECT_EQ(Lost(), "");
  EXPECT_EQ(Call("outside_is_whole rule").exit_code, 0);
}

TEST_F(OutsideTest, TheFabricMayLoseWhatItHad) {
  Call("note_outside fab0");
  std::string addresses = kAddresses;
  addresses.resize(addresses.find("7: fab0"));
  Show(addresses, kRoutes, kRules);
  EXPECT_EQ(Lost(), "");
}

TEST_F(OutsideTest, WhatIsLostIsNamedWithItsInterfaceAndRulesArePutBack) {
  Call("note_outside fab0");
  Show("", "172.31.0.0/16 via 192.168.1.1 dev lo\n", "0:\tfrom all lookup local\n");
  const ScriptReply reply = Call("outside_is_whole rule");
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.err,
            "lost since the apply began: address dev lo 10.99.0.31/32 scope global; "
            "address dev lo 10.0.0.1 peer 10.0.0.2/32 scope global; lease dev lo 192.168.1.9/24 "
            "brd 192.168.1.255 scope global; "
            "route default via 192.168.1.1 dev lo proto dhcp metric 100; "
            "rule pref 500 from 10.99.0.31 lookup 100\n");
  EXPECT_TRUE(
      Get(Path("ip/added")).starts_with("-4 rule add pref 500 from 10.99.0.31 lookup 100\n"));
  EXPECT_EQ(Get(Path("ip/added")).find("address"), std::string::npos);
}

TEST_F(OutsideTest, ARevertRestoresWhatNoDaemonKeeps) {
  Call("note_outside fab0");
  Show("", "", kRules);
  Call("find_lost $KINDS; restore_outside address route rule");
  EXPECT_EQ(Get(Path("ip/added")),
            "-4 address add dev lo 10.99.0.31/32 scope global\n"
            "-4 address add dev lo 10.0.0.1 peer 10.0.0.2/32 scope global\n"
            "-4 route add 172.31.0.0/16 via 192.168.1.1 dev lo\n");
}

// No change of the fabric names it, so that no command of one restores it.
TEST_F(OutsideTest, WhatAPersonAddedToTheFabricIsRestoredByARevertAlone) {
  Put("ip/address",
      "1: lo    inet6 fd00::1/64 scope global \\       valid_lft forever preferred_lft forever\n"
      "1: lo    inet6 fd00::2/64 scope global dynamic \\       valid_lft 9000sec preferred_lft "
      "1sec\n"
      "1: lo    inet6 fe80::1/64 scope link \\       valid_lft forever preferred_lft forever\n"
      "1: lo    inet 192.168.177.1/24 scope global lo\\       valid_lft forever preferred_lft "
      "forever\n");
  Put("ip/route",
      "10.5.0.0/24 via 192.168.177.3 dev lo\n192.168.177.0/24 dev lo proto kernel scope link\n"
      "10.6.0.0/24 dev lo proto static\n");
  Put("ip/rule", "");
  Put("ip/link", "");
  Call("note_outside lo");
  EXPECT_EQ(Get(Path("journal/outside")),
            "fabric-address -6 dev lo fd00::1/64 scope global\n"
            "fabric-route -4 10.5.0.0/24 via 192.168.177.3 dev lo\n");
  Show("", "", "");
  EXPECT_EQ(Lost(), "") << "before a commit";
  const ScriptReply reply =
      Call("KINDS=\"$KINDS fabric-address fabric-route\"; outside_is_whole $KINDS");
  EXPECT_EQ(reply.err,
            "lost since the apply began: address dev lo fd00::1/64 scope global; "
            "route 10.5.0.0/24 via 192.168.177.3 dev lo\n");
  EXPECT_TRUE(Get(Path("ip/added"))
                  .starts_with("-6 address add dev lo fd00::1/64 scope global\n"
                               "-4 route add 10.5.0.0/24 via 192.168.177.3 dev lo\n"));
}

TEST_F(OutsideTest, AnInterfaceThatIsGoneHasNothingToLose) {
  Put("ip/address",
      "9: veth9@if8    inet 172.17.0.9/16 scope global veth9\\  valid_lft forever preferred_lft\n");
  Call("note_outside fab0");
  ASSERT_NE(Get(Path("journal/outside")).find("address -4 dev veth9 172.17.0.9/16 scope global\n"),
            std::string::npos);
  Put("ip/address", "");
  EXPECT_EQ(Lost(), "");
}

TEST_F(OutsideTest, AnInterfaceThatIsSetDownIsLostAndARevertSetsItUp) {
  Call("note_outside fab0");
  Put("ip/link", "");
  EXPECT_EQ(Call("outside_is_whole rule").err, "lost since the apply began: link dev lo up\n");
  Put("ip/added", "");
  Call("find_lost $KINDS; restore_outside link address route rule");
  EXPECT_EQ(Get(Path("ip/added")), "-0 link set dev lo up\n");
}

TEST_F(OutsideTest, WithoutACarrierNothingIsLostAndNothingIsAdded) {
  Call("note_outside fab0");
  Show("", "", kRules);
  const std::string cut = "has_carrier() { false; }\n";
  EXPECT_EQ(Call(cut + "find_lost $KINDS; printf %s \"$lost\"").out, "");
  EXPECT_EQ(Call(cut + "outside_is_whole address").exit_code, 0);
  EXPECT_EQ(Get(Path("ip/added")), "");
}

TEST_F(OutsideTest, WhatIsNotLookedForIsNotLost) {
  Call("note_outside fab0");
  Show("", "", "");
  EXPECT_EQ(Call("find_lost rule; printf %s \"$lost\"").out,
            "rule -4 pref 0 from all lookup local\nrule -4 pref 500 from 10.99.0.31 lookup 100");
}

// On a slow node each call of `ip` may take a second.
TEST_F(OutsideTest, WhereNothingIsLostEachListIsReadOnce) {
  Call("note_outside fab0");
  const std::string count = "list_links() { echo x >>\"$at/calls\"; }\n";
  EXPECT_EQ(Call(count + "J=\"$J/none\"; outside_is_whole link address route rule").exit_code, 0);
  Put("journal/outside", "rule -4 pref 0 from all lookup local\n");
  EXPECT_EQ(Call(count + "outside_is_whole link address route rule").exit_code, 0);
  EXPECT_EQ(Get(Path("ip/calls")), "x\n");
}

TEST_F(OutsideTest, ALaterPassComparesWithTheFirst) {
  Call("note_outside fab0");
  Show("", kRoutes, kRules);
  Call("note_outside fab0");
  EXPECT_NE(Lost(), "");
}

}  // namespace
}  // namespace reconciler
