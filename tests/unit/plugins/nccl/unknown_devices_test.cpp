#include "plugins/nccl/leftovers/unknown_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugins/nccl/nccl_scenario.h"

namespace reconciler::plugins::nccl {
namespace {

// "message: next step" of the plan's warning; "none".
std::string WarnOf(const std::string& name, const std::string& value) {
  NcclScenario scenario;
  scenario.facts.links["enP7s7"] = {};
  scenario.facts.hcas["mlx5_0"] = {};
  scenario.facts.nccl.others = std::vector<NcclSetting>{{"/etc/environment", 3, name, value}};
  scenario.all.nodes["spark-1"] = scenario.facts;
  for (const Diagnostic& one :
       Get().diagnose({scenario.cluster, scenario.fabric, scenario.cluster.nodes.front(),
                       scenario.facts, scenario.all})) {
    if (one.code != "nccl-other-library") continue;
    EXPECT_EQ(one.severity, Severity::kWarns);
    return one.message + ": " + one.next_step;
  }
  return "none";
}

TEST(NcclUnknownDevices, AnInterfaceThatTheNodeDoesNotHaveIsNamed) {
  EXPECT_EQ(WarnOf("GLOO_SOCKET_IFNAME", "eth0"),
            "/etc/environment:3 GLOO_SOCKET_IFNAME=eth0: the node has no interface or HCA called "
            "eth0: correct it there, or remove it");
  EXPECT_EQ(WarnOf("UCX_NET_DEVICES", "mlx5_0:1,mlx5_7:1"),
            "/etc/environment:3 UCX_NET_DEVICES=mlx5_0:1,mlx5_7:1: the node has no interface or "
            "HCA called mlx5_7:1: correct it there, or remove it");
}

TEST(NcclUnknownDevices, WhatTheNodeOrItsProfileHasIsNot) {
  EXPECT_EQ(WarnOf("GLOO_SOCKET_IFNAME", "enP7s7"), "none");
  // HCAs of a cage without a cable vanish.
  EXPECT_EQ(WarnOf("UCX_NET_DEVICES", "rocep1s0f0:1,roceP2p1s0f1:1,enP7s7"), "none");
  for (const char* value : {"", "all", "192.168.1.0/24", "$IFACE", "`ip route`"}) {
    EXPECT_EQ(WarnOf("OMPI_MCA_btl_tcp_if_include", value), "none") << value;
  }
}

TEST(NcclUnknownDevices, LinesOfOtherLibrariesAreReadFromTheSameFiles) {
  NodeFacts facts;
  StoreSettings(
      {.out = std::string("/etc/environment") + '\0' + "2:export GLOO_SOCKET_IFNAME=eth0\n" +
              "/root/.bashrc" + '\0' + "9:#UCX_NET_DEVICES=a\n" + "/etc/nccl.conf" + '\0' +
              "1:UCX_NET_DEVICES=a\n" + "/root/.profile" + '\0' +
              "4:export NCCL_DEBUG=INFO UCX_NET_DEVICES=\"mlx5_0:1\" XUCX_NET_DEVICES=b\n"},
      facts);
  EXPECT_THAT(
      *Known(facts.nccl.others),
      testing::ElementsAre(NcclSetting{"/etc/environment", 2, "GLOO_SOCKET_IFNAME", "eth0"},
                           NcclSetting{"/root/.profile", 4, "UCX_NET_DEVICES", "mlx5_0:1"}));
  EXPECT_THAT(*Known(facts.nccl.settings),
              testing::ElementsAre(NcclSetting{"/root/.profile", 4, "NCCL_DEBUG", "INFO"}));
}

}  // namespace
}  // namespace reconciler::plugins::nccl
