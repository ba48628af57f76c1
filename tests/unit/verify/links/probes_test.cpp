#include "reconciler/verify/links/probes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;

NodeProbes Of(const Sample& sample, std::size_t node, Rung up_to) {
  return ProbesOf(sample.cluster, sample.fabric, sample.cluster.nodes[node], up_to);
}

std::vector<std::string> Hosts(const NodeProbes& probes) {
  std::vector<std::string> hosts;
  for (const SshProbe& login : probes.logins) hosts.push_back(login.host);
  return hosts;
}

TEST(Probes, EveryPeerOnEveryRail) {
  const NodeProbes probes = Of(OnSwitch(3), 1, Rung::kSsh);
  std::vector<std::string> pings;
  for (const PingProbe& ping : probes.pings) {
    pings.push_back(fmt::format("{} {} {} {}", ping.to, ping.netdev, ping.address, ping.mtu));
  }
  EXPECT_THAT(pings, ElementsAre("spark-1 enp1s0f1np1 192.168.177.1 9000",
                                 "spark-1 enP2p1s0f1np1 192.168.178.1 9000",
                                 "spark-3 enp1s0f1np1 192.168.177.3 9000",
                                 "spark-3 enP2p1s0f1np1 192.168.178.3 9000"));
  EXPECT_THAT(Hosts(probes),
              ElementsAre("spark-1-rail0", "spark-1-rail1", "spark-3-rail0", "spark-3-rail1"));
}

TEST(Probes, EachNodeBeginsWithTheOneAfterIt) {
  const Sample sample = OnSwitch(3);
  std::vector<std::size_t> first;
  for (std::size_t node = 0; node < 3; ++node)
    first.push_back(Of(sample, node, Rung::kSsh).first_ping);
  EXPECT_THAT(first, ElementsAre(0, 2, 4));  // 4: past the last, which is the first again
}

TEST(Probes, OnlyNodesOnTheSameSegmentMeet) {
  EXPECT_THAT(Hosts(Of(Ring(), 0, Rung::kSsh)),
              ElementsAre("spark-2-rail0", "spark-2-rail1", "spark-3-rail4", "spark-3-rail5"));
}

TEST(Probes, ALowerRungLeavesOutWhatIsAbove) {
  EXPECT_TRUE(Of(OnSwitch(2), 0, Rung::kFacts).pings.empty());
  EXPECT_EQ(Of(OnSwitch(2), 0, Rung::kPing).pings.size(), 2u);
  EXPECT_TRUE(Of(OnSwitch(2), 0, Rung::kPing).logins.empty());
}

TEST(Probes, NoMeshNoLogins) {
  Sample sample = OnSwitch(2);
  sample.cluster.settings = Settings(Text("unlimited"), false);
  EXPECT_TRUE(Of(sample, 0, Rung::kSsh).logins.empty());
  sample.cluster.settings = {};
  EXPECT_TRUE(Of(sample, 0, Rung::kSsh).logins.empty());
}

TEST(Probes, TheMeshUserIsTheSectionsOrTheAccessUser) {
  Sample sample = OnSwitch(2);
  EXPECT_EQ(Of(sample, 0, Rung::kSsh).user, "nvidia");
  sample.cluster.settings = Map({Entry("ssh", Map({Entry("user", Text("mesh"))}))});
  EXPECT_EQ(Of(sample, 0, Rung::kSsh).user, "mesh");
  sample.cluster.settings = Map({Entry("ssh", Map({Entry("user", Text(""))}))});
  EXPECT_EQ(Of(sample, 0, Rung::kSsh).user, "nvidia");
}

}  // namespace
}  // namespace reconciler
