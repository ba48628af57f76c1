#include "reconciler/verify/nccl/evidence/facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/verify/nccl/run/measure.h"
#include "reconciler/verify/nccl/run/run.h"
#include "tests/unit/verify/nccl_sample.h"

namespace reconciler {
namespace {

constexpr std::string_view kFacts =
    R"({"devices":[{"hca":"mlx5_1","netdev":"enp1s0f1np1","link_mbps":200000,"pcie_width":4,)"
    R"("pcie_max_width":16,"pcie_gts":32.0,"ports":[{"port":1,"active_mtu":4096}]},)"
    R"({"hca":"rxe0","netdev":"lo","error":"No such device"}]})";

TEST(ParseHcas, AreReadByName) {
  const auto hcas = ParseHcas(kFacts);
  ASSERT_TRUE(hcas);
  ASSERT_EQ(hcas->size(), 2u);
  const HcaRail& mlx5 = hcas->at("mlx5_1");
  EXPECT_EQ(mlx5.netdev, "enp1s0f1np1");
  EXPECT_EQ(mlx5.rail.active_mtu, 4096);
  EXPECT_EQ(mlx5.rail.limits.link_mbps, 200000);
  EXPECT_EQ(mlx5.rail.limits.pcie_width, 4);
  EXPECT_EQ(hcas->at("rxe0").rail.limits.link_mbps, 0);
}

TEST(ParseHcas, OtherTextIsRefused) {
  for (const char* text : {"", "{}", "[]", "{\"devices\":[{}]}", "\xff"}) {
    const auto hcas = ParseHcas(text);
    ASSERT_FALSE(hcas) << text;
  }
  EXPECT_EQ(ParseHcas("sh: not found").error().message,
            "wanted the facts that spark-verify prints, found other text: sh: not found");
}

TEST(ParseHcas, ANameThatIsNotPrintableIsNoDevice) {
  const auto hcas = ParseHcas(R"({"devices":[{"hca":"mlx\u001b[2J","netdev":"enp1s0f1np1"}]})");
  ASSERT_TRUE(hcas);
  EXPECT_THAT(*hcas, testing::IsEmpty());
}

TEST(ParseHcas, GiveTheFabricTheirNames) {
  const test::NcclScenario scenario = test::HealthyNccl(2);
  const Fabric fabric = ApplyHcas(scenario.fabric, "spark-2", *ParseHcas(kFacts));
  EXPECT_EQ(fabric.ports.at("spark-2").at(0).hca, "mlx5_1");
  EXPECT_EQ(fabric.ports.at("spark-2").at(1).hca, "roceP2p1s0f1");
  EXPECT_EQ(fabric.ports.at("spark-1").at(0).hca, "rocep1s0f1");
  EXPECT_EQ(fabric.segments.at(0).ports.at(1).hca, "mlx5_1");
}

class Bootstrap : public testing::Test {
 protected:
  Bootstrap() {
    node_.address = "192.168.1.21";
    facts_.session.interface = "enP7s7";
    facts_.links["enP7s7"].ipv4 = {*ParseIpv4Prefix("10.9.9.9/24"),
                                   *ParseIpv4Prefix("192.168.1.21/16")};
    facts_.links["wlan0"].ipv4 = {*ParseIpv4Prefix("172.16.0.9/20")};
  }
  std::string FindBootstrap(const std::map<std::string, std::string>& env) {
    const auto network = FindBootstrapNetwork(node_, facts_, env);
    return network ? ToString(network->subnet) + " " + network->netdev : "";
  }
  NodeSpec node_;
  NodeFacts facts_;
};

TEST_F(Bootstrap, IsTheNetworkOfTheInterfaceThatIsNamed) {
  EXPECT_EQ(FindBootstrap({{"NCCL_SOCKET_IFNAME", "=wlan0"}}), "172.16.0.9/20 wlan0");
  EXPECT_EQ(FindBootstrap({{"NCCL_SOCKET_IFNAME", "wlan0,eth0"}}), "172.16.0.9/20 wlan0");
}

TEST_F(Bootstrap, IsThatOfTheSessionWhereNoneIsNamed) {
  EXPECT_EQ(FindBootstrap({}), "192.168.1.21/16 enP7s7");
  EXPECT_EQ(FindBootstrap({{"NCCL_SOCKET_IFNAME", "^docker0"}}), "192.168.1.21/16 enP7s7");
  // Empty is not set; it is no beginning of the first interface's name.
  facts_.links["br0"].ipv4 = {*ParseIpv4Prefix("172.17.0.1/16")};
  EXPECT_EQ(FindBootstrap({{"NCCL_SOCKET_IFNAME", ""}}), "192.168.1.21/16 enP7s7");
}

TEST_F(Bootstrap, ANameWithoutEqualsSignIsABeginning) {
  EXPECT_EQ(FindBootstrap({{"NCCL_SOCKET_IFNAME", "wlan"}}), "172.16.0.9/20 wlan0");
  EXPECT_EQ(FindBootstrap({{"NCCL_SOCKET_IFNAME", "=wlan"}}), "");
}

TEST_F(Bootstrap, WithoutASessionItIsThatOfTheNodesAddress) {
  facts_.session.interface.clear();
  EXPECT_EQ(FindBootstrap({}), "192.168.1.21/16 enP7s7");
}

TEST_F(Bootstrap, IsNotKnownOfAnInterfaceWithoutAddress) {
  EXPECT_EQ(FindBootstrap({{"NCCL_SOCKET_IFNAME", "=eth9"}}), "");
}

TEST(MakeNcclOptions, SweepUpToTheSizeThatIsJudged) {
  const auto options = MakeNcclOptions({spark_verify::Collective::kSendRecv},
                                       std::uint64_t{2} << 30, {.phase_s = 4});
  std::vector<std::size_t> sizes;
  for (const auto& size : options.sizes) sizes.push_back(size.bytes);
  EXPECT_THAT(sizes, testing::ElementsAre(8, 65536, 1 << 20, 32 << 20, std::uint64_t{2} << 30));
  EXPECT_EQ(options.memory_limit, std::uint64_t{2} << 30);
  EXPECT_EQ(options.init_ms, 4000);
  EXPECT_EQ(options.types.size(), 2u);
  const auto brief = MakeNcclOptions({}, 8, {.brief = true});
  EXPECT_EQ(brief.types.size(), 1u);
  EXPECT_LT(brief.budget_ms, options.budget_ms);
  EXPECT_EQ(MakeNcclOptions({}, 8, {}).sizes.size(), 1u);
  EXPECT_EQ(MakeNcclOptions({}, 8, {}).memory_limit, std::uint64_t{1} << 30);
}

TEST(MakeLimits, IsLongerThanEveryDeadlineOfARank) {
  spark_verify::NcclOptions options{.sizes = {{.bytes = 8}, {.bytes = 9, .limit_ms = 60'000}}};
  const NcclLimits limits = MakeLimits(options);
  EXPECT_EQ(limits.init.count(), 22'000);
  EXPECT_EQ(limits.connect.count(), 17'000);
  EXPECT_EQ(limits.test.count(), 62'000);
}

}  // namespace
}  // namespace reconciler
