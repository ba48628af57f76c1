#include "reconciler/verify/nccl/evidence/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// A Spark with 2.28.9, as it prints them.
constexpr std::string_view kSpark = R"(
spark-1:23491:23491 [0] NCCL INFO ENV/Plugin: Could not find: libnccl-env.so
spark-1:23491:23491 [0] NCCL INFO NCCL_SOCKET_IFNAME set to enP7s7
spark-1:23491:23491 [0] NCCL INFO cudaDriverVersion 13000
spark-1:23491:23491 [0] NCCL INFO NCCL version 2.28.9+cuda13.0
spark-1:23491:23491 [0] NCCL INFO NET/Plugin: Could not find: libnccl-net.so
spark-1:23491:23491 [0] NCCL INFO NET/IB: [1] rocep1s0f1:uverbs1:1/RoCE provider=Mlx5 speed=200000 context=0xbca554388f70 pciPath=/sys/devices/pci0000:00/0000:00:00.0/0000:01:00.0 ar=0
spark-1:23491:23491 [0] NCCL INFO NET/IB : Made virtual device [0] name=rocep1s0f1 speed=200000 ndevs=1
spark-1:23491:23491 [0] NCCL INFO NET/IB : Made virtual device [1] name=roceP2p1s0f1 speed=200000 ndevs=1
spark-1:23491:23491 [0] NCCL INFO NET/IB : Using [0]rocep1s0f1:1/RoCE [1]roceP2p1s0f1:1/RoCE [RO]; OOB enP7s7:192.168.1.21<0>
spark-1:23491:23491 [0] NCCL INFO Initialized NET plugin IB
spark-1:23491:23491 [0] NCCL INFO Assigned NET plugin IB to comm
spark-1:23491:23491 [0] NCCL INFO Using network IB
spark-1:23491:23491 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'rocep1s0f1'
spark-1:23491:23491 [0] NCCL INFO Channel 00/16 : 0 1
spark-1:23491:23491 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0
spark-1:23491:23491 [0] NCCL INFO Channel 01/0 : 1[0] -> 0[0] [receive] via NET/IB/1
spark-1:23491:23491 [0] NCCL INFO Channel 02/0 : 0[0] -> 1[0] [send] via NET/IB/0
spark-1:23491:23491 [0] NCCL INFO Connected all rings, use ring PXN 0 GDR 0
)";

TEST(NcclLog, ASparkWith228IsReadWhole) {
  const NcclLog log = ParseNcclLog(kSpark);
  EXPECT_EQ(log.version, "2.28.9+cuda13.0");
  EXPECT_EQ(log.network, "IB");
  EXPECT_THAT(log.devices, ElementsAre(Pair(0, "rocep1s0f1"), Pair(1, "roceP2p1s0f1")));
  EXPECT_THAT(log.channels, ElementsAre(Pair(NcclChannel{"IB", 0, false}, 2),
                                        Pair(NcclChannel{"IB", 1, false}, 1)));
  EXPECT_FALSE(log.no_ib_device);
  EXPECT_THAT(log.warnings, IsEmpty());
}

TEST(NcclLog, Before226LinesHaveOtherPlaces) {
  const NcclLog log = ParseNcclLog(R"(
n1:1:1 [0] NCCL INFO Bootstrap : Using eth0:192.0.2.1<0>
NCCL version 2.21.5+cuda12.4
n1:1:9 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:192.0.2.1<0>
n1:1:9 [0] NCCL INFO Using non-device net plugin version 0
n1:1:9 [0] NCCL INFO Using network IB
n1:1:9 [0] NCCL INFO Channel 00/0 : 1[81000] -> 0[81000] [receive] via NET/IB/0/GDRDMA/Shared

n1:1:9 [0] misc/socket.cc:567 NCCL WARN socketStartConnect: Connect to 192.0.2.2<35133> failed : Software caused connection abort
)");
  EXPECT_EQ(log.version, "2.21.5+cuda12.4");
  EXPECT_THAT(log.channels, ElementsAre(Pair(NcclChannel{"IB", 0, true}, 1)));
  EXPECT_THAT(log.warnings, ElementsAre("socketStartConnect: Connect to 192.0.2.2<35133> failed : "
                                        "Software caused connection abort"));
}

TEST(NcclLog, Since230DevicesReportRailAndPlaneAndWarningsTheTime) {
  const NcclLog log = ParseNcclLog(R"(
n1:1:1 [0] NCCL INFO NCCL version 2.30.7+cuda13.0
n1:1:1 [0] NCCL INFO NCCL git version stable dcf2a2fbe
n1:1:9 [0] NCCL INFO NET/IB : Made virtual device [4] name=rocep1s0f0+rocep1s0f1 speed=400000 ndevs=2 rail=0 plane=0
n1:1:9 [0] NCCL INFO NET/IB : Using [0]rocep1s0f0:1:0:0/RoCE [1]rocep1s0f1:1:0:0/RoCE [RO]; OOB enP7s7:10.0.0.1<0>
n1:1:9 [0] NCCL INFO NET/IB: Subnet-aware routing: overriding dev 0 with dev 2
n1:1:9 [0] NCCL INFO Channel 01/0 : 0[0] -> 1[0] [send] via NET/IB/4(1)/GDRDMA(PCI)
[2026-11-02 11:12:13] n1:1:9 [0] transport/net_ib/common.cc:12 NCCL WARN NET/IB : rocep1s0f0:1 Got non-fatal async event: port error(10)
)");
  EXPECT_FALSE(IsDevelopmentBuild(log));
  EXPECT_THAT(log.devices, ElementsAre(Pair(0, "rocep1s0f0"), Pair(1, "rocep1s0f1"),
                                       Pair(4, "rocep1s0f0+rocep1s0f1")));
  EXPECT_THAT(log.channels, ElementsAre(Pair(NcclChannel{"IB", 4, true}, 1)));
  EXPECT_THAT(log.warnings,
              ElementsAre("NET/IB : rocep1s0f0:1 Got non-fatal async event: port error(10)"));
}

TEST(NcclLog, WithoutADeviceTheUsingLineNamesNone) {
  const NcclLog log = ParseNcclLog(R"(
n1:1:1 [0] NCCL INFO NET/IB : No device found.
n1:1:1 [0] NCCL INFO NET/IB : Using [RO]; OOB eth0:192.0.2.2<0>
n1:1:1 [0] NCCL INFO NET/Socket : Using [0]eth0:192.0.2.2<0>
n1:1:1 [0] NCCL INFO Using network Socket
n1:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0
)");
  EXPECT_TRUE(log.no_ib_device);
  EXPECT_THAT(log.devices, IsEmpty());
  EXPECT_EQ(log.network, "Socket");
  EXPECT_THAT(log.channels, ElementsAre(Pair(NcclChannel{"Socket", 0, false}, 1)));
}

TEST(NcclLog, TextThatIsNoLogSaysNothing) {
  for (const std::string_view text :
       {"", "\n\n", "NCCL version soon", "via NET/", " via NET/IB/", " via NET/IB/x",
        "NET/IB : Using [", "NET/IB : Using [9", "Made virtual device [", "\x01\xff NCCL"}) {
    const NcclLog log = ParseNcclLog(text);
    EXPECT_EQ(log.version, "") << text;
    EXPECT_THAT(log.devices, IsEmpty()) << text;
    EXPECT_THAT(log.channels, IsEmpty()) << text;
  }
}

TEST(NcclLog, WarningsAreFewAndPrintable) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "n1:1:1 [0] NCCL WARN \x1b[2Jbad\n";
  const NcclLog log = ParseNcclLog(text);
  EXPECT_EQ(log.warnings.size(), 20u);
  EXPECT_EQ(log.warnings.front(), "\\x1b[2Jbad");
}

TEST(NcclLog, ABuildThatIsNoReleaseIsKnownByItsSuffixOrBranch) {
  const auto build = [](std::string version, std::string branch) {
    return IsDevelopmentBuild({.version = std::move(version), .branch = std::move(branch)});
  };
  for (const char* branch : {"", "HEAD", "master", "stable", "v2.28.9-1"}) {
    EXPECT_FALSE(build("2.28.9+cuda13.0", branch)) << branch;
  }
  EXPECT_TRUE(build("2.29.7+cuda13.2", "dgxspark-3node-ring"));
  EXPECT_TRUE(build("2.30.0a1+cuda13.0", ""));
  EXPECT_TRUE(build("2.30.0-dev", ""));
  EXPECT_FALSE(build("", "feature"));
}

TEST(NcclLog, VariablesAreReadWithWhetherTheInitNeededThem) {
  const NcclLog log = ParseNcclLog(R"(
n:1:1 [0] NCCL INFO NCCL_SOCKET_IFNAME set to enP7s7
n:1:1 [0] NCCL INFO NCCL_PROTO set by environment to LL
n:1:9 [0] NCCL INFO ncclCommInitRankConfig comm 0x1 rank 0 nranks 2 - Init COMPLETE
n:1:9 [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.
n:1:9 [0] NCCL INFO Connected rings set to ring
)");
  EXPECT_TRUE(log.initialized);
  EXPECT_THAT(log.variables, ElementsAre(Pair("NCCL_IB_TIMEOUT", NcclVariable{"22", false}),
                                         Pair("NCCL_PROTO", NcclVariable{"LL", true}),
                                         Pair("NCCL_SOCKET_IFNAME", NcclVariable{"enP7s7", true})));
}

TEST(NcclLog, AMissingLibibverbsIsRead) {
  EXPECT_TRUE(ParseNcclLog("n:1:1 [0] NCCL INFO Failed to open libibverbs.so[.1]").no_libibverbs);
}

}  // namespace
}  // namespace reconciler
