#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/verify/nccl/judge/remedies.h"
#include "tests/unit/verify/nccl_sample.h"
#include "tests/unit/verify/severities.h"

namespace reconciler {
namespace {

struct Row {
  std::string name;
  std::string code;
  std::string text;
  std::string finding;
  std::string cause;
  std::string next_step;
};

class Remedies : public testing::TestWithParam<Row> {};

TEST_P(Remedies, NameTheCauseAndTheNextStep) {
  const Row& row = GetParam();
  const NcclRunError run_error = {
      .code = row.code, .node = "spark-2", .phase = "init", .text = row.text};
  const Cause cause = ExplainRunError(run_error, test::HealthyNccl(2).run);
  EXPECT_EQ(cause.code, row.finding);
  test::CheckSeverity(cause.code,
                      HasMeasuredNothing(row.code) ? Outcome::kCouldNotMeasure : Outcome::kFail);
  EXPECT_EQ(cause.cause, row.cause);
  EXPECT_EQ(cause.next_step, row.next_step);
}

INSTANTIATE_TEST_SUITE_P(
    Nccl, Remedies,
    testing::Values(
        Row{"Root", "root", "wanted …", "nccl-root",
            "NCCL on spark-2 waits where the other nodes may not reach it",
            "write the interface that reaches every node into nccl.env: NCCL_SOCKET_IFNAME"},
        Row{"Killed", "gone", "ended with status 137", "rank-gone",
            "the rank on spark-2 was killed or crashed: it ended without a message (init)",
            "check the kernel log (dmesg) of spark-2: out of memory, a signal, an Xid of the GPU"},
        Row{"Crash", "crash", "signal 11", "rank-crashed", "the rank on spark-2 crashed (init)",
            "check dmesg of spark-2; use a release of NCCL that fits the driver"},
        Row{"Stopped", "silent", "", "rank-stopped",
            "the rank on spark-2 is stopped or hangs (init)",
            "check spark-2: dmesg, an Xid of the GPU, memory that swaps"},
        Row{"Lost", "lost", "", "node-lost", "the connection to spark-2 broke while NCCL ran",
            "check whether spark-2 is up: memory that runs out freezes a Spark"},
        Row{"Hung", "hung", "", "rank-hung",
            "a call into a library did not return on spark-2 (init)",
            "check dmesg of spark-2 for an Xid of the GPU; a reboot clears a driver that hangs"},
        Row{"Environment", "env-differs", "", "env-differs",
            "NCCL's variables differ between the nodes, so that their ranks wait for each other "
            "for "
            "ever",
            "set it in nccl.env of the manifest, or remove it from the files that set it, and "
            "apply"},
        Row{"NoLibrary", "no-libnccl", "", "no-libnccl", "spark-2 has no usable libnccl",
            "install libnccl2 on spark-2, or name the file in the manifest: nccl.library"},
        Row{"OldLibrary", "old-nccl", "", "old-nccl",
            "the libnccl of spark-2 is too old for this run",
            "install a newer libnccl2 on spark-2, the same on all nodes"},
        Row{"NoDriver", "no-libcuda", "", "no-libcuda", "spark-2 has no usable NVIDIA driver",
            "check `nvidia-smi` and dmesg of spark-2"},
        Row{"NotReady", "no-program", "", "not-ready",
            "spark-2 could not be made ready for the run",
            "check what was found; the run starts nothing before every node is ready"},
        Row{"Busy", "busy", "", "gpu-busy", "another program uses the GPU of spark-2",
            "end it, or run verify when it has ended"},
        Row{"Memory", "memory", "", "memory-short",
            "spark-2 has less memory than the test requires",
            "end programs on spark-2, or write a smaller verify.size"},
        Row{"NoInterface", "nccl", "Bootstrap : no socket interface found", "bootstrap-interface",
            "NCCL on spark-2 finds no interface that is up under the name that NCCL_SOCKET_IFNAME "
            "gives",
            "check `ip -br link` on spark-2 and NCCL_SOCKET_IFNAME in nccl.env"},
        Row{"SameHost", "nccl", "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 60",
            "same-host-id", "two nodes have the same NCCL host id, so their GPUs appear as one",
            "give each node a hostname of its own, and remove NCCL_HOSTID from its files"},
        Row{"NoPlugin", "nccl", "Failed to initialize any NET plugin", "no-network",
            "spark-2 has no network of the kind that NCCL_NET names",
            "check `rdma link` on spark-2, and remove NCCL_NET"},
        Row{"BadAlgorithm", "nccl", "Unrecognized element token \"rnig\"", "bad-variable",
            "a variable of NCCL has a value on spark-2 that NCCL does not know",
            "check NCCL_ALGO and NCCL_PROTO on spark-2: in nccl.env, /etc/nccl.conf and the "
            "profiles"},
        Row{"Mismatch", "nccl", "Mismatched NCCL version detected", "nccl-versions",
            "the nodes have loaded different versions of NCCL",
            "install the same libnccl2 on all nodes"},
        Row{"Refused", "deadline",
            "socketPollConnect: connect to 192.168.1.21<43321> returned Connection refused, "
            "retrying (9/10)",
            "root-unreachable", "spark-2 does not reach NCCL's first rank at 192.168.1.21:43321",
            "check the firewalls of both nodes: each needs any TCP port of every other one there"},
        Row{"Memlock", "nccl", "Call to ibv_create_qp failed", "memlock-low",
            "spark-2 may not pin the memory that RDMA needs",
            "raise memlock on spark-2 (`memlock: unlimited` in the manifest)"},
        Row{"Cma", "nccl", "Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory",
            "memlock-low", "spark-2 cannot pin the memory that RDMA needs",
            "raise memlock on spark-2 (`memlock: unlimited`); with CmaFree above CmaTotal in "
            "/proc/meminfo, boot it with kho=off"},
        Row{"ModifyQp", "async", "Call to ibv_modify_qp failed with 110 Connection timed out",
            "no-connection", "a rail of spark-2 does not reach its peer",
            "ping over the rail that the line names, and check its cable and addresses"},
        Row{"RetryExceeded", "async", "with status=IBV_WC_RETRY_EXC_ERR(12)", "no-acknowledgement",
            "what spark-2 writes is not acknowledged: a rail broke, or loses everything",
            "check `ip link` of both ends, the cable and a switch's MTU and VLAN"},
        Row{"RetryExceededBefore228", "async", "with status=12 opcode=129", "no-acknowledgement",
            "what spark-2 writes is not acknowledged: a rail broke, or loses everything",
            "check `ip link` of both ends, the cable and a switch's MTU and VLAN"},
        Row{"Flap", "async", "rocep1s0f1:1 Got non-fatal async event: port error(10)",
            "link-flapped", "a link of spark-2 went down during the run",
            "check its cable and dmesg of spark-2"},
        Row{"NewAddress", "async", "NET/IB : rocep1s0f1:1 GID table changed", "address-changed",
            "an address of spark-2 was set again during the run",
            "check which program configures the interface: netplan apply, NetworkManager"},
        Row{"Deadline", "deadline", "wanted it in 20 s", "nccl-limit-passed",
            "the ranks wait for each other, and none knows why (init)",
            "check firewalls between the nodes, and run `verify --level rdma`"},
        Row{"Other", "nccl", "something new", "nccl-failed", "NCCL failed on spark-2 (init)",
            "check the evidence and dmesg of spark-2"}),
    [](const auto& row) { return row.param.name; });

TEST(Remedies, AFirewallExplainsThatRanksDoNotConnectAndNoLaterWait) {
  const auto explain = [](const std::string& phase, const std::string& text) {
    return ExplainRunError({.code = "deadline", .node = "spark-2", .phase = phase, .text = text},
                           test::HealthyNccl(2).run, {"spark-1", "spark-2"});
  };
  const Cause cause = explain("init", "wanted it in 20 s");
  EXPECT_EQ(cause.code, "firewall");
  EXPECT_THAT(cause.nodes, testing::ElementsAre("spark-1", "spark-2"));
  EXPECT_EQ(cause.cause,
            "the ranks wait for each other (init), as where a firewall drops what one sends: one "
            "is in force on spark-1, spark-2");
  EXPECT_EQ(cause.next_step,
            "allow each node's address on all others (with ufw: `ufw allow from ADDRESS`): NCCL "
            "uses any TCP port of the network that NCCL_SOCKET_IFNAME names");
  EXPECT_EQ(explain("connect", "").code, "firewall");
  EXPECT_EQ(explain("all_reduce", "").code, "nccl-limit-passed");
  EXPECT_EQ(explain("init", "returned Connection refused").code, "root-unreachable");
  EXPECT_EQ(explain("init",
                    "socketPollConnect: connect to 192.168.1.21<4711> returned Connection "
                    "timed out, retrying (1/34)")
                .code,
            "firewall");
}

TEST(Remedies, TwoVersionsExplainWhatNothingElseDoes) {
  test::NcclScenario scenario = test::HealthyNccl(2);
  scenario.Rank(1).hello->nccl_version = 2804;
  EXPECT_EQ(
      ExplainRunError({.code = "async", .node = "spark-2", .text = "truncated"}, scenario.run)
          .cause,
      "the nodes have loaded different versions of NCCL: 2.28.9 on spark-2; 2.8.4 on spark-1");
}

TEST(Remedies, WhatKeptTheProgramFromANodeHasItsOwnNextStep) {
  const NcclRunError run_error = {
      .code = "no-program", .node = "spark-2", .phase = "start", .hint = "use another build"};
  EXPECT_EQ(ExplainRunError(run_error, test::HealthyNccl(2).run).next_step, "use another build");
}

TEST(Remedies, OnlyARunThatCouldNotBeMadeHasMeasuredNothing) {
  for (const char* code : {"no-libnccl", "no-libcuda", "old-nccl", "busy", "memory", "lost",
                           "protocol", "no-program"}) {
    EXPECT_TRUE(HasMeasuredNothing(code)) << code;
  }
  for (const char* code : {"root", "gone", "crash", "silent", "hung", "env-differs", "nccl",
                           "async", "cuda", "deadline"}) {
    EXPECT_FALSE(HasMeasuredNothing(code)) << code;
  }
}

// As NCCL prints it on a ring whose libnccl does not look at subnets
// (https://github.com/eugr/spark-vllm-docker/issues/252).
constexpr const char* kModifyFailed =
    "Call to ibv_modify_qp failed with 110 Connection timed out, on dev rocep1s0f1:1, curr state "
    "INIT, next state RTR, local GID index 3, local GID ::ffff:192.168.177.2, remote GID "
    "::ffff:{}";

Fabric MakeRails() {
  Fabric fabric;
  for (const auto& [node, rail, address] :
       {std::tuple("spark-2", 0, "192.168.177.2/24"), std::tuple("spark-1", 0, "192.168.177.1/24"),
        std::tuple("spark-3", 4, "192.168.181.3/24")}) {
    fabric.ports[node].push_back({.node = node,
                                  .rail = rail,
                                  .netdev = "enp1s0f1np1",
                                  .hca = "rocep1s0f1",
                                  .address = *ParseIpv4Prefix(address)});
  }
  return fabric;
}

// As spark-2 reports it.
Cause ExplainOnPair(const std::string& text) {
  return ExplainRunError({.code = "error", .node = "spark-2", .phase = "connect", .text = text},
                         test::HealthyNccl(2).run, {}, MakeRails());
}

Cause ExplainModify(const std::string& remote) {
  return ExplainOnPair(fmt::format(fmt::runtime(kModifyFailed), remote));
}

TEST(NcclSubnets, HcasOfTwoRailsAreNamedWithTheLoadedVersion) {
  const Cause cause = ExplainModify("192.168.181.3");
  EXPECT_EQ(cause.code, "subnets-crossed");
  EXPECT_THAT(cause.nodes, testing::ElementsAre("spark-2", "spark-3"));
  EXPECT_EQ(cause.cause,
            "NCCL joined rocep1s0f1 of spark-2 on rail0 with rocep1s0f1 of spark-3 on rail4, and "
            "no cable joins these; spark-2 has loaded NCCL 2.28.9");
  EXPECT_EQ(cause.next_step,
            "use NCCL 2.30.7 or later on all nodes (nccl.library names the file), with "
            "NCCL_IB_SUBNET_AWARE_ROUTING=1 and NCCL_IB_MERGE_NICS=0");
}

TEST(NcclSubnets, TwoHcasOfOneRailAreNamedWithTheirNodes) {
  const Cause cause = ExplainModify("192.168.177.1");
  EXPECT_EQ(cause.code, "no-connection");
  EXPECT_THAT(cause.nodes, testing::ElementsAre("spark-2", "spark-1"));
  EXPECT_EQ(cause.cause, "rocep1s0f1 of spark-2 does not reach rocep1s0f1 of spark-1 on rail0");
  EXPECT_EQ(cause.next_step,
            "ping 192.168.177.1 from spark-2 through enp1s0f1np1; check the cable and the "
            "addresses of that rail");
}

TEST(NcclSubnets, AWriteWithoutAcknowledgementNamesBothEnds) {
  const Cause cause = ExplainOnPair(
      "NET/IB: Got completion from peer 192.168.177.1<4791> with status=IBV_WC_RETRY_EXC_ERR(12) "
      "opcode=129 len=0 vendor err 129 (Recv) localGid ::ffff:192.168.177.2 "
      "remoteGids::ffff:192.168.177.1 hca rocep1s0f1");
  EXPECT_EQ(cause.code, "no-acknowledgement");
  EXPECT_THAT(cause.nodes, testing::ElementsAre("spark-2", "spark-1"));
  EXPECT_EQ(cause.cause,
            "what rocep1s0f1 of spark-2 writes to rocep1s0f1 of spark-1 on rail0 is not "
            "acknowledged: the rail broke, or loses everything");
  EXPECT_EQ(cause.next_step,
            "check `ip link` of both ends of rail0, the cable and a switch's MTU and VLAN");
}

TEST(NcclSubnets, AGidThatIsNoAddressOfTheFabricIsNamed) {
  const Cause cause = ExplainModify("10.0.0.1");
  EXPECT_EQ(cause.code, "gid-wrong");
  EXPECT_THAT(cause.nodes, testing::ElementsAre("spark-1"));  // spark-2 reports it of its peer
  EXPECT_EQ(cause.cause,
            "NCCL on spark-1 uses the GID ::ffff:10.0.0.1, which is no address of the fabric");
  EXPECT_EQ(cause.next_step,
            "check NCCL_IB_HCA, and take other addresses off the port: NCCL uses the first one "
            "(`ip addr`)");
}

TEST(NcclSubnets, AGidIndexThatAVariableGivesIsNamedWithItsNode) {
  test::NcclScenario scenario = test::HealthyNccl(2);
  scenario.Rank(2).log += "n:1:1 [0] NCCL INFO NCCL_IB_GID_INDEX set by environment to 0.\n";
  const Cause cause = ExplainRunError(
      {.code = "error",
       .node = "spark-2",
       .phase = "connect",
       .text = "Call to ibv_modify_qp failed with 110 Connection timed out, on dev rocep1s0f1:1, "
               "curr state INIT, next state RTR, local GID index 0, local GID fe80::1, remote GID "
               "::ffff:192.168.177.1"},
      scenario.run, {}, MakeRails());
  EXPECT_EQ(cause.code, "gid-wrong");
  EXPECT_THAT(cause.nodes, testing::ElementsAre("spark-2"));
  EXPECT_EQ(cause.cause,
            "NCCL on spark-2 uses the GID fe80::1 (local GID index 0), which is no address of the "
            "fabric: "
            "NCCL_IB_GID_INDEX=0 on spark-2 (a file nccl.conf)");
  EXPECT_EQ(cause.next_step, "remove NCCL_IB_GID_INDEX: NCCL finds the GID of each HCA itself");
}

TEST(NcclSubnets, AMessageWithoutGidsNamesTheNodeAlone) {
  EXPECT_EQ(ExplainOnPair("Call to ibv_modify_qp failed with 22, on dev rocep1s0f1:1, local GID "
                          "index 3, local GID N/A, remote GID N/A")
                .code,
            "no-connection");
}

}  // namespace
}  // namespace reconciler
