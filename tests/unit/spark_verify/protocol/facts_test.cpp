#include "reconciler/spark_verify/protocol/facts.h"

#include <gtest/gtest.h>

#include "reconciler/spark_verify/facts/facts.h"

namespace reconciler::spark_verify {
namespace {

TEST(ParseFacts, ReadsADeviceAndTheGpu) {
  const auto facts = ParseFacts(
      R"({"devices":[{"hca":"mlx5_1","netdev":"enp1s0f1np1","dmabuf":"supported","link_mbps":200000,
          "pcie_width":4,"pcie_max_width":16,"pcie_gts":32.0,"ports":[{"port":1,"active_mtu":4096}]}],
          "gpu":{"gpu_direct_rdma":0,"dma_buf":1}})");
  ASSERT_TRUE(facts) << facts.error().message;
  ASSERT_EQ(facts->devices.size(), 1u);
  const DeviceFacts& device = facts->devices.front();
  EXPECT_EQ(device.hca, "mlx5_1");
  EXPECT_EQ(device.netdev, "enp1s0f1np1");
  EXPECT_TRUE(device.dmabuf.value().value());
  EXPECT_EQ(device.active_mtu, 4096);
  EXPECT_EQ(device.limits.link_mbps, 200000);
  EXPECT_EQ(device.limits.pcie_width, 4);
  EXPECT_EQ(device.limits.pcie_max_width, 16);
  EXPECT_EQ(device.limits.pcie_gts, 32.0);
  ASSERT_TRUE(facts->gpu);
  EXPECT_EQ(facts->gpu->gpu_direct_rdma, false);
  EXPECT_EQ(facts->gpu->dma_buf, true);
}

TEST(ParseFacts, ReadsWhyThereIsNothing) {
  const auto facts = ParseFacts(
      R"({"devices":[{"hca":"rxe0","netdev":"lo","error":"No such device"}],
          "error":"no libibverbs","gpu":{"error":"cuInit says 999"}})");
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->error, "no libibverbs");
  EXPECT_EQ(facts->devices.at(0).active_mtu, 0);
  EXPECT_EQ(facts->gpu->error, "cuInit says 999");
  EXPECT_FALSE(facts->gpu->dma_buf);
}

TEST(ParseFacts, ReadsWhetherADeviceTakesDmabuf) {
  const auto read = [](const std::string& members) {
    const auto facts = ParseFacts(R"({"devices":[{"hca":"a")" + members + "}]}");
    const auto& dmabuf = facts.value().devices.at(0).dmabuf;
    if (!dmabuf) return std::string("not tried");
    return *dmabuf ? std::string(**dmabuf ? "yes" : "no") : dmabuf->error().message;
  };
  EXPECT_EQ(read(""), "not tried");
  EXPECT_EQ(read(R"(,"dmabuf":"supported")"), "yes");
  EXPECT_EQ(read(R"(,"dmabuf":"unsupported")"), "no");
  EXPECT_EQ(read(R"(,"dmabuf":"unknown: Cannot allocate memory")"), "Cannot allocate memory");
  EXPECT_EQ(read(R"(,"dmabuf":"perhaps")"), "not understood: 'perhaps'");
}

TEST(ParseFacts, RefusesWhatTheProgramDoesNotPrint) {
  for (const char* text :
       {"", "{}", "[]", "7", "Last login: today", "\xff", R"({"devices":7})", R"({"devices":{}})",
        R"({"devices":[{}]})", R"({"devices":[7]})", R"({"devices":[{"hca":7}]})",
        R"({"devices":[{"hca":"a","dmabuf":true}]})", R"({"devices":[{"hca":"a","ports":[7]}]})",
        R"({"devices":[{"hca":"a","ports":7}]})", R"({"devices":[],"gpu":7})",
        R"({"devices":[],"gpu":{"dma_buf":"1"}})"}) {
    EXPECT_FALSE(ParseFacts(text)) << text;
  }
}

TEST(ParseFacts, ReadsTheLineThatTheProgramPrintsHere) {
  const std::string line = FormatFactsLine();
  EXPECT_TRUE(ParseFacts(line)) << line;
}

}  // namespace
}  // namespace reconciler::spark_verify
