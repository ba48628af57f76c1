#include <gmock/gmock.h>

#include "plugins/netplan/scripts/set_addresses.sh.h"
#include "reconciler/base/text.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins::netplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What is done to a port that has these addresses, as `ip -br` shows them, and is to have the
// wanted ones.
class SetAddressesScript : public reconciler::test::ScriptTree {
 protected:
  std::vector<std::string> Set(const std::string& had, std::vector<std::string> wanted) {
    PutProgram("ip", "case $* in '-br -4 address show dev eth0') " +
                         (had.empty() ? "" : "echo 'eth0@if5   UP   " + had + " '") +
                         " ;; *) echo \"$*\" ;; esac\n");
    wanted.insert(wanted.begin(), {"sh", "-c", std::string(kSetAddressesSh), "sh", "eth0"});
    return SplitLines(Run(wanted).out);
  }
};

TEST_F(SetAddressesScript, AddressesThatAreThereStayUntouched) {
  EXPECT_THAT(Set("192.168.177.1/24", {"192.168.177.1/24"}), IsEmpty());
  EXPECT_THAT(Set("10.0.0.1/30 10.0.0.9/30", {"10.0.0.1/30", "10.0.0.9/30"}), IsEmpty());
  EXPECT_THAT(Set("", {}), IsEmpty());
}

TEST_F(SetAddressesScript, OthersGoAndThoseThatAreMissingCome) {
  EXPECT_THAT(
      Set("192.168.177.1/24 10.0.0.1/30", {"10.0.0.1/30"}),
      ElementsAre("-4 address flush dev eth0", "address replace 10.0.0.1/30 broadcast + dev eth0"));
  EXPECT_THAT(Set("192.168.177.1/24", {}), ElementsAre("-4 address flush dev eth0"));
  EXPECT_THAT(
      Set("", {"10.0.0.1/30", "10.0.0.9/30"}),
      ElementsAre("-4 address flush dev eth0", "address replace 10.0.0.1/30 broadcast + dev eth0",
                  "address replace 10.0.0.9/30 broadcast + dev eth0"));
}

// It is systemd-networkd that gives an address of a DHCP server a metric.
TEST_F(SetAddressesScript, NeitherTheirOrderNorAMetricCounts) {
  EXPECT_THAT(Set("10.0.0.2/24 10.0.0.1/24", {"10.0.0.1/24", "10.0.0.2/24"}), IsEmpty());
  EXPECT_THAT(Set("192.168.5.7/24 metric 100 10.0.0.1/24", {"10.0.0.1/24", "192.168.5.7/24"}),
              IsEmpty());
  EXPECT_THAT(Set("10.0.0.1/24 metric 100", {"10.0.0.11/24"}),
              ElementsAre("-4 address flush dev eth0",
                          "address replace 10.0.0.11/24 broadcast + dev eth0"));
}

TEST_F(SetAddressesScript, WhatCannotBeSetIsAnError) {
  PutProgram("ip", "case $* in *replace*) exit 2 ;; esac\n");
  EXPECT_EQ(Run({"sh", "-c", std::string(kSetAddressesSh), "sh", "eth0", "10.0.0.1/30"}).exit_code,
            2);
}

}  // namespace
}  // namespace reconciler::plugins::netplan
