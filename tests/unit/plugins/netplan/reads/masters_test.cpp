#include "plugins/netplan/reads/masters.h"

#include "plugins/common/ports/ip.h"

#include <gmock/gmock.h>

namespace reconciler::plugins::netplan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::map<std::string, MasterFact> ReadMasters(const std::string& out, int exit_code = 0) {
  ProbeReply reply;
  const RunProbe probe = MakeIpProbe();
  reply.commands[probe.id] = {.exit_code = exit_code, .out = out};
  NodeFacts facts;
  StoreMasters(reply, facts);
  return facts.network.masters;
}

std::string FormatMasterLink(const std::string& kind, const std::string& data) {
  return R"([{"ifname":"lo"},{"ifname":"m0","linkinfo":{"info_kind":")" + kind +
         R"(","info_data":{)" + data + "}}}]";
}

// As iproute2 6.1 prints them.
TEST(NetplanMasters, SettingsThatAreTheKernelsUsualOnesAreLeftOut) {
  const auto bridge = ReadMasters(
      FormatMasterLink("bridge", R"("forward_delay":1500,"hello_time":200,"max_age":2000,
      "ageing_time":30000,"stp_state":1,"priority":4096,"vlan_filtering":0,
      "bridge_id":"1000.2:53:50:0:1:4","gc_timer":0.00,"group_fwd_mask":"0","mcast_snooping":1)"));
  EXPECT_EQ(bridge.at("m0").kind, "bridge");
  EXPECT_THAT(bridge.at("m0").options, ElementsAre("stp_state", "1", "priority", "4096"));
  EXPECT_EQ(bridge.at("m0").not_kept, "");
  const auto bond = ReadMasters(
      FormatMasterLink("bond", R"("mode":"802.3ad","miimon":100,"updelay":0,"downdelay":0,
      "peer_notify_delay":0,"use_carrier":1,"arp_interval":0,"arp_missed_max":2,"arp_validate":null,
      "arp_all_targets":"any","primary_reselect":"always","fail_over_mac":"none",
      "xmit_hash_policy":"layer3+4","resend_igmp":1,"num_peer_notif":1,"all_slaves_active":0,
      "min_links":0,"lp_interval":1,"packets_per_slave":1,"ad_lacp_active":"on",
      "ad_lacp_rate":"fast","ad_select":"stable","ad_info":{"aggregator":1},
      "ad_actor_sys_prio":65535,"ad_user_port_key":0,"tlb_dynamic_lb":1)"));
  EXPECT_THAT(bond.at("m0").options,
              ElementsAre("mode", "802.3ad", "miimon", "100", "xmit_hash_policy", "layer3+4",
                          "lacp_rate", "fast"));
  EXPECT_EQ(bond.at("m0").not_kept, "");
}

TEST(NetplanMasters, TheFirstSettingThatNoWordMakesIsNamed) {
  EXPECT_EQ(ReadMasters(FormatMasterLink("bridge", R"("vlan_filtering":1)")).at("m0").not_kept,
            "vlan_filtering");
  EXPECT_EQ(ReadMasters(FormatMasterLink("bond", R"("mode":"active-backup","ad_user_port_key":7)"))
                .at("m0")
                .not_kept,
            "ad_user_port_key");
  EXPECT_EQ(ReadMasters(FormatMasterLink("bond", R"("mode":"a; reboot")")).at("m0").not_kept,
            "mode");
  EXPECT_EQ(ReadMasters(FormatMasterLink("bond", R"("mode":"--help")")).at("m0").not_kept, "mode");
  EXPECT_EQ(ReadMasters(FormatMasterLink("bond", R"("miimon":{})")).at("m0").not_kept, "miimon");
  EXPECT_THAT(ReadMasters(FormatMasterLink("bond", R"("arp_ip_target":["10.0.0.1","10.0.0.2"])"))
                  .at("m0")
                  .options,
              ElementsAre("arp_ip_target", "10.0.0.1,10.0.0.2"));
}

TEST(NetplanMasters, WhatIsNotReadIsNotThere) {
  EXPECT_THAT(ReadMasters("", 1), IsEmpty());
  EXPECT_THAT(ReadMasters("{}"), IsEmpty());
  EXPECT_THAT(ReadMasters("[7, {}, {\"ifname\":\"m0\",\"linkinfo\":7}]"), IsEmpty());
  EXPECT_THAT(ReadMasters(R"([{"ifname":"m0","linkinfo":{"info_kind":"bridge"}}])"), IsEmpty());
  EXPECT_THAT(ReadMasters(FormatMasterLink("veth", "")), IsEmpty());
  EXPECT_EQ(ReadMasters(R"([{"ifname":"m0","linkinfo":{"info_kind":"vrf"}}])").at("m0").kind,
            "vrf");
}

}  // namespace
}  // namespace reconciler::plugins::netplan
