#include "reconciler/verify/report/section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/base/size.h"
#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"

namespace reconciler {
namespace {

using spark_verify::Collective;
using testing::ElementsAre;

constexpr std::string_view kPair = R"(api_version: spark-reconcile/v1
cluster: lab
nodes:
  - {name: spark-1, address: 192.168.1.21}
  - {name: spark-2, address: 192.168.1.22}
fabric:
  topology: direct
  subnets: [192.168.177.0/24, 192.168.178.0/24]
)";

ClusterSpec Pair(std::string_view verify) {
  return *LoadClusterSpec(std::string(kPair) + std::string(verify), "cluster.yaml");
}

TEST(VerifySection, ItsStructsDefaultsAreThoseOfTheSchema) {
  const VerifySection section = ReadVerifySection(Pair(""));
  EXPECT_EQ(section.level, VerifySection().level);
  EXPECT_EQ(section.automatic, VerifySection().automatic);
  EXPECT_TRUE(section.automatic);
  EXPECT_EQ(section.size, VerifySection().size);
  EXPECT_EQ(section.collectives, VerifySection().collectives);
  EXPECT_EQ(section.minimum.busbw, 0);
  EXPECT_FALSE(section.skip_rdma);
}

TEST(VerifyLevel, OneThatIsSetTakesThePlaceOfTheManifests) {
  for (const std::string_view verify :
       {"", "verify: {}\n", "verify: {skip: [rdma]}\n", "verify: {level: nccl, size: 1MiB}\n"}) {
    ClusterSpec cluster = Pair(verify);
    const VerifySection before = ReadVerifySection(cluster);
    SetVerifyLevel(cluster, "rdma");
    EXPECT_EQ(ReadVerifySection(cluster).level, VerifyLevel::kRdma) << verify;
    EXPECT_EQ(ReadVerifySection(cluster).size, before.size) << verify;
    EXPECT_EQ(ReadVerifySection(cluster).skip_rdma, before.skip_rdma) << verify;
    EXPECT_FALSE(ReadVerifySection(cluster).automatic) << verify;
    SetVerifyLevel(cluster, "link");
    EXPECT_EQ(ReadVerifySection(cluster).level, VerifyLevel::kSsh) << verify;
    SetVerifyLevel(cluster, "auto");
    EXPECT_EQ(ReadVerifySection(cluster).level, VerifyLevel::kNccl) << verify;
    EXPECT_TRUE(ReadVerifySection(cluster).automatic) << verify;
  }
}

TEST(VerifySection, IsReadWhole) {
  const VerifySection section = ReadVerifySection(
      Pair("verify:\n  level: nccl\n  collectives: [sendrecv, all_reduce]\n  size: 256MiB\n"
           "  min_busbw: 20.5\n  skip: [rdma]\n"));
  EXPECT_EQ(section.level, VerifyLevel::kNccl);
  EXPECT_THAT(section.collectives, ElementsAre(Collective::kSendRecv, Collective::kAllReduce));
  EXPECT_EQ(section.size, 256u << 20);
  EXPECT_EQ(section.minimum.busbw, 20.5);
  EXPECT_EQ(section.minimum.where.position.line, 13);
  EXPECT_TRUE(section.skip_rdma);
}

Errors CheckMinimumText(const std::string& minimum) {
  const ClusterSpec cluster = Pair("verify: {level: nccl, min_busbw: " + minimum + "}\n");
  return CheckVerifySection(cluster, *ExpandFabric(cluster));
}

TEST(Promise, AboveTheLinksIsAnErrorOfTheManifest) {
  const Errors errors = CheckMinimumText("25");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(
      FormatError(errors[0]),
      "cluster.yaml:9:34: verify.min_busbw: wanted at most 24.5 GB/s, which the links of this "
      "cabling carry, found 25\n"
      "  hint: bus bandwidth is in GB/s, not Gb/s: a cable of 200 Gb/s carries 24.5 at mtu "
      "9000, and two rails behind PCIe 27.9\n");
}

TEST(Promise, ThatTheLinksCanKeepIsTaken) {
  EXPECT_TRUE(CheckMinimumText("24.5").empty());
  EXPECT_TRUE(CheckMinimumText("20").empty());
}

// Two nodes on each of two switches with one cable of 200 Gb/s between them.
std::vector<std::string> CheckOnTwoSwitches(const std::string& verify) {
  const std::string text =
      "api_version: spark-reconcile/v1\ncluster: lab\n"
      "nodes:\n"
      "  - {name: spark-1, address: 192.168.1.21}\n"
      "  - {name: spark-2, address: 192.168.1.22}\n"
      "  - {name: spark-3, address: 192.168.1.23}\n"
      "  - {name: spark-4, address: 192.168.1.24}\n"
      "fabric: {topology: leaf-spine, subnets: [192.168.177.0/24, 192.168.178.0/24]}\n"
      "switches:\n"
      "  - {name: leaf-1, ports: {swp1: spark-1.p1, swp2: spark-2.p1}, uplinks: {up: leaf-2.up}}\n"
      "  - {name: leaf-2, ports: {swp1: spark-3.p1, swp2: spark-4.p1}}\n"
      "verify: {level: nccl, " +
      verify + "}\n";
  const auto cluster = LoadClusterSpec(text, "cluster.yaml");
  if (!cluster) return {FormatErrors(cluster.error())};
  std::vector<std::string> errors;
  for (const Error& error : CheckVerifySection(*cluster, *ExpandFabric(*cluster))) {
    errors.push_back(FormatError(error));
  }
  return errors;
}

TEST(Promise, OfAlltoallAboveTheCablesBetweenSwitchesIsAnErrorOfTheManifest) {
  EXPECT_THAT(
      CheckOnTwoSwitches("collectives: [all_reduce, alltoall], min_busbw: 20"),
      ElementsAre("cluster.yaml:12:71: verify.min_busbw: wanted at most 18.4 GB/s, which the "
                  "cables between switches let through of alltoall, found 20\n"
                  "  hint: lower it, or remove alltoall from verify.collectives\n"));
  EXPECT_THAT(CheckOnTwoSwitches("collectives: [alltoall], min_busbw: 18"), ElementsAre());
  EXPECT_THAT(CheckOnTwoSwitches("collectives: [all_reduce], min_busbw: 20"), ElementsAre());
}

TEST(Collectives, ARingWithoutWaysAcrossRefusesAlltoall) {
  ClusterSpec cluster = Pair("verify: {level: nccl, collectives: [all_reduce, alltoall]}\n");
  EXPECT_TRUE(CheckVerifySection(cluster, *ExpandFabric(cluster)).empty());
  cluster.fabric.ring_collectives_only = true;
  const Errors errors = CheckVerifySection(cluster, {});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(FormatError(errors[0]),
            "cluster.yaml:9:49: verify.collectives: alltoall needs a way between every two nodes, "
            "and ring: collectives-only has none\n"
            "  hint: remove it: all_reduce, all_gather, reduce_scatter and sendrecv go from "
            "neighbour to neighbour\n");
}

TEST(ParseSize, TakesWholeUnitsOnly) {
  EXPECT_EQ(ParseSize("512KiB"), 512u << 10);
  EXPECT_EQ(ParseSize("16GiB"), std::uint64_t{16} << 30);
  for (const char* text : {"", "1", "1GB", "GiB", "1.5GiB", "-1GiB", "1 GiB", "1GiB ",
                           "99999999999999999999GiB", "9999999999GiB"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace reconciler
