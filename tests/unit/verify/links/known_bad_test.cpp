#include "reconciler/verify/links/known_bad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/verify/links/health_sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class KnownBadTest : public testing::Test {
 protected:
  NodeFacts& Node() { return sample_.facts.nodes.at("spark-2"); }
  void SetHost(HostFact host) { Node().host = std::move(host); }
  std::vector<std::string> Found() const {
    return DescribeFindings(sample_, CheckKnownBad(sample_.cluster, sample_.facts));
  }

  Sample sample_ = HealthyPair();
};

TEST_F(KnownBadTest, HealthySparksHaveNoCheck) { EXPECT_THAT(Found(), IsEmpty()); }

TEST_F(KnownBadTest, OldFirmwareIsBadOnMachinesOfMsiAlone) {
  for (auto& [name, hca] : Node().hcas) hca.firmware = "28.43.2026";
  EXPECT_THAT(Found(), IsEmpty());
  SetHost({.vendor = "Micro-Star International Co., Ltd."});
  EXPECT_THAT(Found(), ElementsAre("known-bad-version spark-2: HCA firmware 28.43.2026"));
  for (auto& [name, hca] : Node().hcas) hca.firmware = "28.45.4028";
  EXPECT_THAT(Found(), IsEmpty());
}

// Names of versions as owners published them.
TEST_F(KnownBadTest, ABiosThatWiresTwoLanesIsKnownByItsDay) {
  const auto found = [this](const std::string& bios) {
    SetHost({.product = "GX10", .vendor = "ASUSTeK COMPUTER INC.", .bios = bios});
    return !Found().empty();
  };
  EXPECT_TRUE(found("GX10DGX.0102.2025.1111.1531"));
  EXPECT_TRUE(found("GX10DGX.0103.2026.0129.1152"));
  EXPECT_TRUE(found("GX10DGX.0104.2026.0326.1657"));
  EXPECT_FALSE(found("GX10DGX.0105.2026.0505.1153"));
  EXPECT_FALSE(found("GX10DGX.0110.2027.0103.0103"));
  EXPECT_FALSE(found("0103"));
}

TEST_F(KnownBadTest, AClosedDriverIsNamed) {
  Node().gpudirect.driver = NvidiaDriver{.open = false, .version = "580.95.05"};
  EXPECT_THAT(Found(), ElementsAre("known-bad-version spark-2: NVIDIA driver 580.95.05"));
  SetHost({.product = "Z8 G4 Workstation"});
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(KnownBadTest, AKernelIsNamedWhereItCountsTooMuchMemory) {
  SetHost({.kernel = "7.0.0-1019-nvidia"});
  EXPECT_THAT(Found(), IsEmpty());  // as with kho=off
  Node().rdma.cma = CmaMemory{0, 940604};
  EXPECT_THAT(Found(), ElementsAre("known-bad-version spark-2: kernel 7.0.0-1019-nvidia"));
}

TEST_F(KnownBadTest, TheFindingNamesWhatIsWantedAndItsSource) {
  SetHost({.product = "GX10",
           .vendor = "ASUSTeK COMPUTER INC.",
           .bios = "GX10DGX.0103.2026.0129.1152"});
  const auto findings = Diagnose(sample_.cluster, sample_.fabric, sample_.facts,
                                 CheckKnownBad(sample_.cluster, sample_.facts), {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "known-bad-version");
  EXPECT_EQ(findings[0].expected, "a version from April 2026 or later on ASUS GX10");
  EXPECT_THAT(findings[0].evidence,
              ElementsAre("spark-2: reported at https://forums.developer.nvidia.com/t/367853"));
  EXPECT_EQ(findings[0].next_step,
            "install the version that is wanted on spark-2 (`fwupdmgr update`, `apt "
            "full-upgrade`), and restart it");
}

TEST(Versions, AreComparedNumberByNumber) {
  EXPECT_TRUE(IsOlderVersion("28.43.2026", "28.45.4028"));
  EXPECT_TRUE(IsOlderVersion("28.9.1", "28.10.0"));
  EXPECT_FALSE(IsOlderVersion("28.45.4028", "28.45.4028"));
  EXPECT_FALSE(IsOlderVersion("28.47.1", "28.45.4028"));
  EXPECT_FALSE(IsOlderVersion("", "28.45.4028"));
  EXPECT_FALSE(IsOlderVersion("28.x.1", "28.45.4028"));
}

}  // namespace
}  // namespace reconciler
