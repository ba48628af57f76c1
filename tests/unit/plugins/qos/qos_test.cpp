#include "plugins/qos/qos.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/qos/boot.h"
#include "reconciler/base/mark.h"
#include "reconciler/planning/diff.h"
#include "tests/unit/plugins/pair_scenario.h"

namespace reconciler::plugins::qos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kUnit = "/etc/systemd/system/spark-reconcile-qos.service";

using Members = std::vector<std::pair<std::string, Value>>;

Members Roce() {
  return {{"pfc", test::List({test::Number(3)})},
          {"dscp", test::Map({{"26", test::Number(3)}, {"48", test::Number(6)}})},
          {"tos", test::Number(106)}};
}

std::string Reply(const std::string& pfc, const std::string& dscp, const std::string& tos,
                  const std::string& unit = "") {
  std::string text = "unit " + unit + "\ndcb yes\ncma_roce_tos yes\n";
  for (const std::string port : {"enp1s0f1np1", "enP2p1s0f1np1"}) {
    text += "pfc " + port + " ok prio-pfc " + pfc + "\n";
    text += "dscp " + port + " ok " + (dscp.empty() ? "" : "dscp-prio " + dscp) + "\n";
    text += "tos " + port + " ok " + tos + "\n";
  }
  return text;
}

constexpr const char* kOff = "0:off 1:off 2:off 3:off 4:off 5:off 6:off 7:off ";
constexpr const char* kThree = "0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off ";

struct Scenario : test::PairScenario {
  explicit Scenario(Members members = Roce()) {
    cluster.settings = test::Map({{"qos", test::At(20, test::Map(std::move(members)))}});
    facts.files[kUnit] = Absent{};
  }
  Scenario& Read(const std::string& out, int status = 0) {
    Get().parse({.commands = {{"qos.ports", {.exit_code = status, .out = out}}}}, facts);
    return *this;
  }
  Change Plan(const std::string& name) const {
    return Diff(Find(Get(), name), "qos").value_or(Change());
  }
  std::string Said() const {
    const ClusterFacts all;
    std::string text;
    for (const Diagnostic& one :
         Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all})) {
      EXPECT_EQ(one.severity, Severity::kWarns);
      text += one.code + ": " + one.message + ": " + one.next_step + "\n";
    }
    return text;
  }
};

Resource Find(const Scenario& scenario, const std::string& name) {
  return scenario.Find(Get(), name);
}

TEST(Qos, EachPortGetsItsPrioritiesAndARevertWhatItHad) {
  Scenario scenario;
  scenario.Read(Reply(kOff, "0:0 26:4", "0"));
  const Change pfc = scenario.Plan("flow control of enp1s0f1np1");
  EXPECT_EQ(pfc.detail, "none → 3");
  EXPECT_THAT(test::Lines(pfc.actions),
              ElementsAre("dcb pfc set dev enp1s0f1np1 prio-pfc all:off 3:on"));
  EXPECT_THAT(test::Lines(pfc.revert), ElementsAre("dcb pfc set dev enp1s0f1np1 prio-pfc all:off"));
  const Change dscp = scenario.Plan("DSCP of enP2p1s0f1np1");
  EXPECT_EQ(dscp.detail, "0:0 26:4 → 26:3 48:6");
  EXPECT_THAT(test::Lines(dscp.actions),
              ElementsAre("dcb app flush dev enP2p1s0f1np1 dscp-prio",
                          "dcb app add dev enP2p1s0f1np1 dscp-prio 26:3 48:6"));
  EXPECT_THAT(test::Lines(dscp.revert),
              ElementsAre("dcb app flush dev enP2p1s0f1np1 dscp-prio",
                          "dcb app add dev enP2p1s0f1np1 dscp-prio 0:0 26:4"));
  const Change tos = scenario.Plan("ToS of rocep1s0f1");
  EXPECT_EQ(tos.detail, "0 → 106");
  EXPECT_THAT(test::Lines(tos.actions), ElementsAre("cma_roce_tos -d rocep1s0f1 -t 106"));
  EXPECT_THAT(test::Lines(tos.revert), ElementsAre("cma_roce_tos -d rocep1s0f1 -t 0"));
  const auto& revert = std::get<RunCommand>(tos.revert.front());
  EXPECT_EQ(revert.sets, "/sys/class/net/enp1s0f1np1");
  EXPECT_TRUE(revert.must_succeed);
}

TEST(Qos, TheToSIsThatOfTheHcaAsTheNodeCallsIt) {
  Scenario scenario({{"tos", test::Number(106)}, {"dscp", test::Map({{"26", test::Number(3)}})}});
  scenario.Read(Reply(kOff, "", "0") + "hca enp1s0f1np1 ok mlx5_1\n");
  EXPECT_THAT(test::Lines(scenario.Plan("ToS of mlx5_1").actions),
              ElementsAre("cma_roce_tos -d mlx5_1 -t 106"));
  EXPECT_THAT(scenario.File(Get(), kUnit).content,
              HasSubstr("ExecStart=-/usr/bin/env cma_roce_tos -d mlx5_1 -t 106\n"));
}

TEST(Qos, WhereNoDscpHadAPriorityARevertLeavesNone) {
  Scenario scenario;
  scenario.Read(Reply(kOff, "", "0"));
  EXPECT_THAT(test::Lines(scenario.Plan("DSCP of enp1s0f1np1").revert),
              ElementsAre("dcb app flush dev enp1s0f1np1 dscp-prio"));
}

TEST(Qos, AfterItsChangesNothingDiffers) {
  Scenario scenario;
  scenario.Read(Reply(kThree, "26:3 48:6", "106", "enabled"));
  scenario.facts.files[kUnit] = scenario.File(Get(), kUnit);
  for (const std::string& name : scenario.Names(Get())) {
    EXPECT_EQ(scenario.Detail(Get(), name), "holds") << name;
  }
}

TEST(Qos, AUnitSetsItAtBoot) {
  Scenario scenario;
  scenario.fabric.ports["spark-1"].pop_back();
  scenario.Read(Reply(kOff, "", "0"));
  EXPECT_EQ(scenario.File(Get(), kUnit).content,
            FormatOwnedFile("homelab",
                            "[Unit]\n"
                            "Description=Traffic classes of the fabric's ports\n"
                            "Wants=sys-subsystem-net-devices-enp1s0f1np1.device\n"
                            "After=sys-subsystem-net-devices-enp1s0f1np1.device\n"
                            "[Service]\n"
                            "Type=oneshot\n"
                            "RemainAfterExit=yes\n"
                            "TimeoutStartSec=60\n"
                            "ExecStart=-/usr/bin/env dcb pfc set dev enp1s0f1np1 prio-pfc all:off "
                            "3:on\n"
                            "ExecStart=-/usr/bin/env dcb app flush dev enp1s0f1np1 dscp-prio\n"
                            "ExecStart=-/usr/bin/env dcb app add dev enp1s0f1np1 dscp-prio 26:3 "
                            "48:6\n"
                            "ExecStart=-/usr/bin/env cma_roce_tos -d rocep1s0f1 -t 106\n"
                            "[Install]\n"
                            "WantedBy=multi-user.target\n"));
  const Change link = scenario.Plan("spark-reconcile-qos.service");
  EXPECT_THAT(test::Lines(link.actions),
              ElementsAre("systemctl --no-reload enable -- spark-reconcile-qos.service"));
  EXPECT_THAT(test::Lines(link.prune_commands.before),
              ElementsAre("systemctl --no-reload disable -- spark-reconcile-qos.service"));
}

TEST(Qos, WhatTheManifestLeavesOutIsNotTouched) {
  Scenario scenario({{"pfc", test::List({})}});
  scenario.Read(Reply(kThree, "26:3", "106"));
  EXPECT_THAT(scenario.Names(Get()),
              ElementsAre(kUnit, "spark-reconcile-qos.service", "flow control of enp1s0f1np1",
                          "flow control of enP2p1s0f1np1"));
  EXPECT_EQ(scenario.Detail(Get(), "flow control of enp1s0f1np1"), "3 → none");
  EXPECT_THAT(scenario.File(Get(), kUnit).content, Not(HasSubstr("cma_roce_tos")));
}

TEST(Qos, WithoutTheProgramsAllIsLeftAsItIsAndThatIsAWarning) {
  Scenario scenario;
  scenario.Read("unit \ndcb no\ncma_roce_tos no\n");
  EXPECT_EQ(scenario.Resources(Get()).size(), 8u);  // what was applied stays required
  for (const Resource& one : scenario.Resources(Get())) EXPECT_TRUE(one.left_as_is) << one.name;
  EXPECT_EQ(scenario.Said(),
            "qos-no-dcb: qos: `pfc` and `dscp` are not set: dcb is not installed: install iproute2 "
            "5.11 or later, which has it\n"
            "qos-no-cma-roce-tos: qos: `tos` is not set: cma_roce_tos is not installed: install "
            "mlnx-tools, which has it; NCCL itself takes the byte from NCCL_IB_TC\n");
}

TEST(Qos, WithoutOneOfTheProgramsTheUnitSetsWhatTheOtherCan) {
  Scenario scenario;
  scenario.Read(Reply(kOff, "", "0") + "dcb no\n");
  EXPECT_TRUE(Find(scenario, "DSCP of enp1s0f1np1").left_as_is);
  EXPECT_EQ(scenario.Detail(Get(), "ToS of rocep1s0f1"), "0 → 106");
  EXPECT_THAT(Find(scenario, kUnit).needs, IsEmpty());
  EXPECT_FALSE(Find(scenario, kUnit).left_as_is);
  EXPECT_THAT(scenario.File(Get(), kUnit).content, Not(HasSubstr("dcb ")));
}

TEST(Qos, WhatAProgramThatIsGoneSetIsNotSetBackAndTheRestIs) {
  Scenario scenario;
  scenario.Read("unit \ndcb no\ncma_roce_tos yes\n");
  const auto prune = [&](const std::string& kind, RunCommand command, std::string& detail) {
    const ClusterFacts all;
    Change change{.kind = kind, .detail = "uninstall", .triggers = {std::move(command)}};
    const Ownership owner = Get().check_prune(
        {scenario.cluster, scenario.fabric, scenario.cluster.nodes.front(), scenario.facts, all},
        change);
    detail = change.detail;
    return owner;
  };
  std::string detail;
  EXPECT_EQ(prune("qos", ListPfcCommands("enp1s0f1np1", "none").front(), detail),
            Ownership::kNoOnes);
  EXPECT_EQ(detail,
            "qos: what dcb set stays until the node restarts: it is not installed any more");
  for (const std::string kind : {"qos", "unit", "file"}) {
    EXPECT_EQ(prune(kind, {.argv = {kind == "qos" ? "cma_roce_tos" : "systemctl"}}, detail),
              Ownership::kOurs);
    EXPECT_EQ(detail, "uninstall");
  }
}

TEST(Qos, APruneOfTheUnitFailsNothingWhereItIsGone) {
  Scenario scenario;
  scenario.Read(Reply(kOff, "", "0"));
  Change prune{.kind = "unit"};
  for (const RunCommand& command :
       scenario.Plan("spark-reconcile-qos.service").prune_commands.before) {
    prune.actions.emplace_back(command);
  }
  const ClusterFacts all;
  EXPECT_EQ(Get().check_prune({scenario.cluster, scenario.fabric, scenario.cluster.nodes.front(),
                               scenario.facts, all},
                              prune),
            Ownership::kOurs);
  ASSERT_EQ(prune.actions.size(), 1u);
  const std::vector<std::string>& argv = std::get<RunCommand>(prune.actions[0]).argv;
  EXPECT_THAT(std::vector<std::string>(argv.end() - 4, argv.end()),
              ElementsAre("sh", "spark-reconcile-qos.service", "--no-reload", "disable"));
}

PackageFact Bringing(const std::string& name) {
  return {.steps = std::vector<PackageStep>{{.name = name, .to = "1"}}};
}

// The unit's text and its link follow from the program.
TEST(Qos, WhatAProgramOfTheSameApplySetsIsKnownAfterIt) {
  Scenario scenario;
  scenario.Read(Reply(kOff, "", "0") + "cma_roce_tos no\n");
  scenario.facts.packages.packages["ofed-tools"] = Bringing("mlnx-tools");
  const std::string later = ", once the packages of the manifest are installed";
  EXPECT_EQ(scenario.Detail(Get(), "ToS of rocep1s0f1"), "known after apply: the ToS" + later);
  for (const std::string& name : {std::string(kUnit), std::string("spark-reconcile-qos.service")}) {
    EXPECT_EQ(scenario.Detail(Get(), name), "known after apply: the unit" + later) << name;
    EXPECT_THAT(Find(scenario, name).needs, ElementsAre("spark-1/package/ofed-tools")) << name;
  }
  EXPECT_THAT(Find(scenario, "ToS of rocep1s0f1").needs, ElementsAre("spark-1/package/ofed-tools"));
  EXPECT_EQ(scenario.Detail(Get(), "flow control of enp1s0f1np1"), "none → 3");
  EXPECT_EQ(scenario.Said(), "");
  EXPECT_TRUE(HoldsOtherwise(Find(scenario, "ToS of rocep1s0f1"))) << "without the package";
  EXPECT_FALSE(HoldsOtherwise(Find(scenario, kUnit))) << "it sets the rest";
  scenario.AddFile(kUnit, "[Service]\n");
  EXPECT_THAT(scenario.Detail(Get(), kUnit), HasSubstr("blocked: "));
}

TEST(Qos, WithoutDcbTheUnitWaitsForTheOtherProgramToo) {
  Scenario scenario;
  scenario.Read("unit \ndcb no\ncma_roce_tos no\n");
  scenario.facts.packages.packages["mlnx-tools"] = Bringing("mlnx-tools");
  EXPECT_FALSE(Find(scenario, kUnit).left_as_is);
  EXPECT_THAT(Find(scenario, kUnit).needs, ElementsAre("spark-1/package/mlnx-tools"));
  for (const std::string& name : {std::string(kUnit), std::string("spark-reconcile-qos.service"),
                                  std::string("ToS of rocep1s0f1")}) {
    EXPECT_TRUE(HoldsOtherwise(Find(scenario, name))) << name << " without the package";
  }
  EXPECT_TRUE(Find(scenario, "DSCP of enp1s0f1np1").left_as_is);
  scenario.facts.packages.packages = {{"jq", Bringing("jq")}};
  EXPECT_TRUE(Find(scenario, kUnit).left_as_is);
  EXPECT_TRUE(Find(scenario, "ToS of rocep1s0f1").left_as_is);
}

TEST(Qos, WhereTheProgramsAreNotReadEverySettingIsBlockedAndTheUnitWithThem) {
  Scenario late;
  late.Read("", 124);
  Scenario unread;
  for (const Scenario* scenario : {&late, &unread}) {
    const bool is_late = scenario == &late;
    EXPECT_EQ(
        scenario->Detail(Get(), "flow control of enp1s0f1np1"),
        is_late ? "blocked: unknown: dcb gave no answer in 30 s" : "blocked: unknown: not read");
    EXPECT_EQ(scenario->Detail(Get(), "ToS of roceP2p1s0f1"),
              is_late ? "blocked: unknown: cma_roce_tos gave no answer in 30 s"
                      : "blocked: unknown: not read");
    for (const std::string& name :
         {std::string(kUnit), std::string("spark-reconcile-qos.service")}) {
      EXPECT_THAT(Find(*scenario, name).needs,
                  ElementsAre("spark-1/qos/flow control of enp1s0f1np1"))
          << name;
    }
    EXPECT_EQ(scenario->Said(), "");
  }
}

TEST(Qos, WhereNoPortHasASettingTheUnitIsBlocked) {
  Scenario scenario;
  scenario.Read(
      "unit \ndcb yes\ncma_roce_tos no\n"
      "pfc enp1s0f1np1 failed Operation not supported\n"
      "dscp enp1s0f1np1 failed Operation not supported\n"
      "pfc enP2p1s0f1np1 failed Operation not supported\n"
      "dscp enP2p1s0f1np1 failed Operation not supported\n");
  const std::vector<std::string> first = {"spark-1/qos/flow control of enp1s0f1np1"};
  EXPECT_EQ(Find(scenario, kUnit).needs, first);
  scenario.Read("dscp enP2p1s0f1np1 ok dscp-prio 26:3\n");
  EXPECT_THAT(Find(scenario, kUnit).needs, IsEmpty());
}

TEST(Qos, WhatAPortDoesNotSayIsBlocked) {
  Scenario scenario;
  scenario.Read(
      "unit \ndcb yes\ncma_roce_tos yes\n"
      "pfc enp1s0f1np1 failed RTNETLINK answers: Operation not supported\n"
      "dscp enp1s0f1np1 ok dscp-prio what\n"
      "tos enp1s0f1np1 failed \n"
      "pfc enP2p1s0f1np1 ok \n");
  EXPECT_EQ(scenario.Detail(Get(), "flow control of enp1s0f1np1"),
            "blocked: not supported: the port has no such setting");
  EXPECT_EQ(scenario.Detail(Get(), "DSCP of enp1s0f1np1"),
            "blocked: unknown: not understood: 'dscp-prio what'");
  EXPECT_EQ(scenario.Detail(Get(), "ToS of rocep1s0f1"), "blocked: unknown: no answer in 5 s");
  EXPECT_EQ(scenario.Detail(Get(), "flow control of enP2p1s0f1np1"),
            "blocked: unknown: not understood: ''");
  EXPECT_EQ(scenario.Detail(Get(), "ToS of roceP2p1s0f1"), "blocked: unknown: not read");
}

TEST(Qos, AUnitOfOthersStaysAsItIs) {
  Scenario scenario;
  scenario.Read(Reply(kOff, "", "0"));
  scenario.AddFile(kUnit, "[Service]\n");
  EXPECT_THAT(scenario.Detail(Get(), kUnit), HasSubstr("blocked: "));
  EXPECT_THAT(scenario.Detail(Get(), "spark-reconcile-qos.service"), HasSubstr("blocked: "));
}

std::vector<std::string> Check(Members members) {
  std::vector<std::string> lines;
  for (const Error& error : Get().check(Scenario(std::move(members)).cluster, {})) {
    lines.push_back(error.code + ": " + error.message + ": " + error.hint);
  }
  return lines;
}

TEST(Qos, KeysThatContradictEachOtherAreRefused) {
  EXPECT_THAT(Check(Roce()), IsEmpty());
  EXPECT_THAT(
      Check({{"tos", test::Number(3)}}),
      ElementsAre("qos-tos-without-dscp: qos: tos: wanted the whole ToS byte, found 3, which "
                  "is DSCP 0: DSCP 26 with ECN is 106: the DSCP times 4, plus 2"));
  EXPECT_THAT(Check({{"tos", test::Number(106)}, {"dscp", test::Map({{"24", test::Number(3)}})}}),
              ElementsAre("qos-contradicts: qos: tos 106 is DSCP 26, and `dscp` gives it no "
                          "priority: add \"26\": PRIORITY to `dscp`"));
  Members other = Roce();
  other[0].second = test::List({test::Number(5)});
  EXPECT_THAT(Check(other), ElementsAre("qos-contradicts: qos: tos 106 is DSCP 26, which has "
                                        "priority 3, and `pfc` does not have that: add 3 to `pfc`, "
                                        "or give DSCP 26 another priority"));
}

}  // namespace
}  // namespace reconciler::plugins::qos
