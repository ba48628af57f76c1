#include "plugins/nccl/firewall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/nccl/nccl_scenario.h"

namespace reconciler::plugins::nccl {
namespace {

// "message: next step" of the plan's note; "none". `rules`: the tuples of /etc/ufw/user.rules.
std::string NoteWith(const std::vector<std::string>& rules, NcclScenario scenario = NcclScenario(),
                     const std::string& policy = "DROP") {
  scenario.facts.rdma.ufw = true;
  scenario.AddFile("/etc/default/ufw", "IPV6=yes\nDEFAULT_INPUT_POLICY=\"" + policy + "\"\n");
  std::string text = "*filter\n";
  for (const std::string& rule : rules) text += "### tuple ### " + rule + "\n-A ufw-user-input …\n";
  scenario.AddFile("/etc/ufw/user.rules", text);
  scenario.all.nodes["spark-1"] = scenario.facts;
  scenario.all.nodes["spark-2"].session.address = "192.168.1.22";
  for (const Diagnostic& one :
       Get().diagnose({scenario.cluster, scenario.fabric, scenario.cluster.nodes.front(),
                       scenario.facts, scenario.all})) {
    if (one.code != "nccl-firewall") continue;
    EXPECT_EQ(one.severity, Severity::kInforms);
    return one.message + ": " + one.next_step;
  }
  return "none";
}

constexpr const char* kNote =
    "ufw drops what NCCL's ranks send from 192.168.1.22: they wait for each other until a limit: "
    "ufw allow from 192.168.1.22";

TEST(NcclFirewall, APeerThatNoRuleAllowsIsNamedWithTheRule) {
  EXPECT_EQ(NoteWith({}), kNote);
  for (const std::string rule :
       {"allow tcp 22 0.0.0.0/0 any 0.0.0.0/0 in",       // ssh alone
        "allow any any 0.0.0.0/0 any 192.168.1.23 in",   // another node
        "allow any any 0.0.0.0/0 any 192.168.1.22 out",  // what goes out
        "allow any any 0.0.0.0/0 any 192.168.1.22 in_wlP9s9",
        "allow udp any 0.0.0.0/0 any 192.168.1.22 in", "deny any any 0.0.0.0/0 any 192.168.1.22 in",
        "route:allow any any 0.0.0.0/0 any 192.168.1.22 in",
        "allow any any 192.168.177.1 any 192.168.1.22 in",  // to another address of the node
        "allow any any 0.0.0.0/0 any nonsense in", "allow any"}) {
    EXPECT_EQ(NoteWith({rule}), kNote) << rule;
  }
}

TEST(NcclFirewall, APeerThatARuleAllowsIsNot) {
  for (const std::string rule : {"allow any any 0.0.0.0/0 any 192.168.1.22 in",
                                 "allow tcp any 0.0.0.0/0 any 192.168.1.0/24 in",
                                 "allow any any 0.0.0.0/0 any 0.0.0.0/0 in_enP7s7",
                                 "allow any any 192.168.1.21 any 192.168.1.22 in",
                                 "allow any any 0.0.0.0/0 any 192.168.1.22 in comment=6e63636c"}) {
    EXPECT_EQ(NoteWith({"allow tcp 22 0.0.0.0/0 any 0.0.0.0/0 in", rule}), "none") << rule;
  }
}

TEST(NcclFirewall, WhereUfwDeniesNothingOrTheNetworkIsAnotherNothingIsSaid) {
  EXPECT_EQ(NoteWith({}, NcclScenario(), "ACCEPT"), "none");
  EXPECT_EQ(NoteWith({}, NcclScenario(
                             {{"env", test::Map({{"NCCL_SOCKET_IFNAME", test::Text("=eth9")}})}})),
            "none");
  NcclScenario off;
  off.facts.rdma.ufw = false;
  off.AddFile("/etc/default/ufw", "DEFAULT_INPUT_POLICY=\"DROP\"\n");
  off.AddFile("/etc/ufw/user.rules", "");
  off.all.nodes["spark-2"].session.address = "192.168.1.22";
  EXPECT_TRUE(
      FindDeniedPeers({}, {off.cluster, off.fabric, off.cluster.nodes.front(), off.facts, off.all})
          .empty());
}

}  // namespace
}  // namespace reconciler::plugins::nccl
