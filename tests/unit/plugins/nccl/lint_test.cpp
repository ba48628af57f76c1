#include "plugins/nccl/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plugins/nccl/leftovers/settings.h"
#include "plugins/nccl/variables.h"
#include "reconciler/base/text.h"
#include "reconciler/manifest/schema/schema_check.h"
#include "reconciler/manifest/schema/schema_text.h"
#include "tests/unit/plugins/nccl/nccl_scenario.h"

namespace reconciler::plugins::nccl {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Said(const Mistake& mistake) {
  return mistake.Empty() ? "fine" : mistake.what + " | " + mistake.hint;
}

std::string Judge(const std::string& name, const std::string& value,
                  const LintContext& context = {}) {
  return Said(JudgeSetting(name, value, context));
}

// The codes of what `validate` says of that variable in the manifest.
std::vector<std::string> Refuse(const std::string& name, const std::string& value) {
  return NcclScenario({{"env", Env({{name, test::Text(value)}})}}).RefusalCodes();
}

const NcclLibrary& Old() {
  static const NcclLibrary kOld{.path = "/usr/lib/libnccl.so.2",
                                .version = "2.28.9",
                                .names = {"NCCL_DEBUG", "NCCL_IB_HCA", "NCCL_PATCHED_IN"}};
  return kOld;
}

TEST(NcclLint, NameThatNoNcclReadsIsFoundWithWhatToUseInstead) {
  EXPECT_EQ(Judge("NCCL_NCHANNELS", "4"),
            "no NCCL reads it | NCCL_MIN_CTAS and NCCL_MAX_CTAS bound the channels");
  EXPECT_EQ(Judge("NCCL_TIMEOUT", "1800"),
            "no NCCL reads it | a process group takes its timeout as an argument; NCCL_IB_TIMEOUT "
            "is that of one packet");
  EXPECT_EQ(Judge("NCCL_ASYNC_ERROR_HANDLING", "1"),
            "no NCCL reads it | PyTorch reads TORCH_NCCL_ASYNC_ERROR_HANDLING");
  EXPECT_EQ(Judge("NCCL_TREE_THRESHOLD", "0"), "no NCCL reads it | removed from NCCL years ago");
  EXPECT_THAT(Refuse("NCCL_TIMEOUT", "1800"), ElementsAre("nccl-env-unread"));
}

// The schema has these hints on its own, since it is read before any plugin.
TEST(NcclLint, WhatTheSchemaHintsInPlaceOfTrueIsWhatTheVariableTakes) {
  const auto& values =
      GetClusterSchema()["properties"]["nccl"]["properties"]["env"]["additionalProperties"];
  for (const std::string& name : ListKnownVariables()) {
    const Rule* rule = FindRule(name);
    const std::string hint = FindTypeHint(name, Value{true}, values);
    if (rule == nullptr) continue;
    const bool takes_words = rule->form == Form::kWord || rule->form == Form::kWordNoCase;
    if (hint == "write 1 or 0") {
      EXPECT_TRUE(JudgeValue(*rule, "0").Empty()) << name;
      EXPECT_TRUE(JudgeValue(*rule, "1").Empty()) << name;
    } else if (!hint.empty()) {
      EXPECT_TRUE(takes_words) << name;
      EXPECT_EQ(hint, "write " + JoinWithOr(Split(rule->choices, '/'))) << name;
    }
    const bool is_switch = rule->form == Form::kNumber && rule->least == 0 && rule->most == 1;
    EXPECT_TRUE(!is_switch || hint == "write 1 or 0") << name;
  }
  EXPECT_EQ(FindTypeHint("NCCL_DEBUG", Value{true}, values),
            "write VERSION, WARN, INFO, ABORT or TRACE");
  EXPECT_EQ(FindTypeHint("NCCL_IB_TIMEOUT", Value{true}, values), "");
}

TEST(NcclLint, NumberWithALeadingZeroIsReadAsAnotherOneThanItLooksLike) {
  EXPECT_EQ(Judge("NCCL_IB_TIMEOUT", "022"),
            "wanted a number, found '022', which NCCL reads as 18 | write 22");
  EXPECT_EQ(Judge("NCCL_IB_TIMEOUT", "+08"),
            "wanted a number, found '+08', which NCCL reads as 0 | write 8");
  EXPECT_EQ(Judge("NCCL_IB_TIMEOUT", "0100"),
            "wanted a number, found '0100', which NCCL reads as 64 | a number from 1 to 31");
  EXPECT_EQ(Judge("NCCL_IB_TIMEOUT", "07"), "fine");
  EXPECT_EQ(Judge("NCCL_IB_TIMEOUT", "0x12"), "fine");
  EXPECT_THAT(Refuse("NCCL_IB_TIMEOUT", "022"), ElementsAre("nccl-env-misread"));
}

TEST(NcclLint, SlipOfTheKeyboardIsFoundWithoutALibrary) {
  EXPECT_EQ(Judge("NCCL_IB_HAC", "=rocep1s0f1"),
            "no NCCL that is known here has such a variable | did you mean 'NCCL_IB_HCA'?");
  EXPECT_THAT(Refuse("NCCL_IB_HAC", "=rocep1s0f1"), ElementsAre("nccl-env-misspelled"));
}

TEST(NcclLint, NameThatOnlyTheNodesLibraryCanKnowWaitsForIt) {
  EXPECT_EQ(Judge("NCCL_PATCHED_IN", "1"), "fine");
  EXPECT_EQ(Judge("NCCL_PATCHED_IN", "1", {.library = &Old(), .on_node = true}), "fine");
  EXPECT_EQ(Judge("NCCL_PATCHED_IN", "1", {.on_node = true}),
            "no NCCL that is known here has such a variable | remove it");
  EXPECT_EQ(Judge("NCCL_OTHER_PATCH", "1", {.library = &Old(), .on_node = true}),
            "NCCL 2.28.9 (/usr/lib/libnccl.so.2) has no such variable | remove it");
  EXPECT_EQ(Judge("NCCL_DEBGU", "WARN", {.library = &Old(), .on_node = true}),
            "NCCL 2.28.9 (/usr/lib/libnccl.so.2) has no such variable | did you mean "
            "'NCCL_DEBUG'?");
}

TEST(NcclLint, NameOfPrivatePatchesIsTakenWhereTheLibraryHasIt) {
  NcclLibrary patched = Old();
  patched.names.insert("NCCL_SKIP_TREE_CONNECT");
  EXPECT_EQ(Judge("NCCL_SKIP_TREE_CONNECT", "1", {.library = &patched, .on_node = true}), "fine");
  EXPECT_EQ(Judge("NCCL_SKIP_TREE_CONNECT", "1", {.library = &Old(), .on_node = true}),
            "only private patches read it, and NCCL 2.28.9 (/usr/lib/libnccl.so.2) has none of "
            "them | remove it");
  EXPECT_EQ(Judge("NCCL_SKIP_TREE_CONNECT", "1", {.on_node = true}),
            "only private patches read it, and no libnccl was found to check | remove it");
  EXPECT_EQ(Judge("NCCL_SKIP_TREE_CONNECT", "1"), "fine");
}

TEST(NcclLint, VariableOfALaterReleaseIsFound) {
  EXPECT_EQ(Judge("NCCL_IB_SUBNET_AWARE_ROUTING", "1", {.library = &Old(), .on_node = true}),
            "NCCL 2.28.9 (/usr/lib/libnccl.so.2) has no such variable and ignores it | it came "
            "with 2.30.7");
  EXPECT_EQ(Judge("NCCL_IB_TC", "106", {.library = &Old(), .on_node = true}),
            "NCCL 2.28.9 (/usr/lib/libnccl.so.2) has no such variable and ignores it | remove it");
}

TEST(NcclLint, WordInANumberFieldIsReadAsZeroAndFound) {
  EXPECT_EQ(Judge("NCCL_IB_DISABLE", "true"),
            "wanted a number, found 'true', which NCCL silently reads as 0 | a number from 0 to 1");
  EXPECT_EQ(Judge("NCCL_IB_TIMEOUT", "22s"),
            "wanted a number, found '22s', which NCCL silently reads as 22 | a number from 1 to "
            "31; 0 and more than 31 mean that a lost packet waits forever");
  EXPECT_EQ(Judge("NCCL_IB_TC", "0x6a"), "fine");
  EXPECT_EQ(
      Judge("NCCL_IB_TIMEOUT", "1000"),
      "wanted 1 to 31, found 1000 | 0 and more than 31 mean that a lost packet waits forever");
  EXPECT_THAT(Refuse("NCCL_IB_TIMEOUT", "22s"), ElementsAre("nccl-env-misread"));
}

TEST(NcclLint, UnknownWordIsFoundWithTheKnownOnes) {
  EXPECT_EQ(Judge("NCCL_SOCKET_FAMILY", "ipv4"),
            "unknown word 'ipv4', which NCCL ignores silently | one of AF_INET, AF_INET6");
  EXPECT_EQ(Judge("NCCL_NET_MERGE_LEVEL", "port"),
            "found 'port' in the wrong case, which NCCL ignores silently | one of LOC, PORT, PIX, "
            "PXB, PHB, SYS");
  EXPECT_EQ(Judge("NCCL_DEBUG", "info"), "fine");
  EXPECT_EQ(Judge("NCCL_ALGO", "allreduce:tree,ring;broadcast:^ring"), "fine");
  EXPECT_EQ(Judge("NCCL_PROTO", "LL,Simpel"),
            "unknown word 'Simpel': the rank that has it fails to start and all others wait for it "
            "| known: ll, ll128, simple");
}

TEST(NcclLint, ListThatMatchesMoreThanItsNamesIsFound) {
  EXPECT_EQ(Judge("NCCL_IB_HCA", "rocep1s0f1"), "fine");  // without names: see NcclPrefixes
  EXPECT_EQ(Judge("NCCL_IB_HCA", "=^mlx5_0"),
            "found '=^mlx5_0', whose '^' is part of a name there | write '^=' to leave out exactly "
            "those");
  EXPECT_EQ(
      Judge("NCCL_SOCKET_IFNAME", "=enP7s7, wlP9s9"),
      "found a blank in '=enP7s7, wlP9s9', which NCCL takes for a part of the name | separate "
      "names with commas alone");
  EXPECT_EQ(Judge("NCCL_IB_HCA", "=rocep1s0f1,roceP2p1s0f1"), "fine");
}

TEST(NcclLint, ATreeAloneIsFoundWhereAnotherCollectiveIsMeasured) {
  const LintContext gathers{.gathers = "all_gather"};
  EXPECT_EQ(Judge("NCCL_ALGO", "Tree", gathers),
            "only all_reduce can use a tree: all_gather ends with an error, or ignores this | "
            "write 'allreduce:tree'");
  for (const char* value : {"allreduce:tree", "tree,ring", "^tree", "Ring"}) {
    EXPECT_EQ(Judge("NCCL_ALGO", value, gathers), "fine") << value;
  }
  EXPECT_EQ(Judge("NCCL_ALGO", "tree"), "fine");
}

TEST(NcclLint, EmptyValueIsFoundForEveryVariable) {
  for (const char* name : {"NCCL_IB_GID_INDEX", "NCCL_NET", "NCCL_DEBUG"}) {
    EXPECT_EQ(Judge(name, ""),
              "is empty: NCCL takes its default, and no longer looks into nccl.conf for it | give "
              "it a value, or remove it");
  }
  EXPECT_THAT(Refuse("NCCL_NET", ""), ElementsAre("nccl-env-misread"));
}

TEST(NcclLint, VariableWithoutEffectHereIsFoundWithTheReason) {
  EXPECT_EQ(Judge("NCCL_NVLS_ENABLE", "0"),
            "has no effect here: GB10 has no NVLink multicast | remove it");
  EXPECT_EQ(Judge("NCCL_NET_GDR_READ", "1"),
            "has no effect here: GB10 has no GPUDirect RDMA | remove it");
  EXPECT_EQ(Judge("NCCL_P2P_DISABLE", "1"), "has no effect here: a node has one GPU | remove it");
  EXPECT_EQ(Judge("NCCL_IB_MERGE_NICS", "0"),
            "has no effect here: NCCL fuses the two cages of one PCI domain, and one has a cable | "
            "remove it");
  EXPECT_EQ(Judge("NCCL_IB_MERGE_NICS", "0", {.two_cages = true}), "fine");
  EXPECT_EQ(Judge("NCCL_P2P_DISABLE", "1", {.sparks = false}), "fine");
  EXPECT_EQ(Judge("NCCL_NET_GDR_READ", "1", {.sparks = false}), "fine");
  EXPECT_EQ(Judge("NCCL_IB_ADDR_FAMILY", "AF_INET", {.gid_pinned = true}),
            "has no effect here: nccl.gid_index pins the index that it would choose | remove it");
  EXPECT_EQ(Judge("NCCL_IB_ADDR_FAMILY", "AF_INET"), "fine");
  EXPECT_THAT(Refuse("NCCL_NVLS_ENABLE", "0"), ElementsAre("nccl-env-no-effect"));
}

TEST(NcclLint, WhatTurnsRdmaOffIsRefusedOnEveryFabric) {
  EXPECT_EQ(Judge("NCCL_IB_DISABLE", "1"),
            "turns RDMA off: all traffic would go over TCP | remove it");
  EXPECT_EQ(Judge("NCCL_IB_DISABLE", "0"), "fine");
  EXPECT_EQ(Judge("NCCL_NET", "socket"), "chooses TCP: RDMA would not be used | remove it");
  EXPECT_EQ(Judge("NCCL_NET", "IB"), "fine");
  EXPECT_THAT(Refuse("NCCL_IB_DISABLE", "1"), ElementsAre("nccl-env-against-fabric"));
}

TEST(NcclLint, ValueThatTheFabricCannotWorkWithIsRefusedWithItsReason) {
  const LintContext context{.two_cages = true,
                            .needed = {{"NCCL_ALGO", "Ring", "only rings have cables"}}};
  EXPECT_EQ(Judge("NCCL_ALGO", "Tree", context),
            "wanted Ring on this fabric, found Tree: only rings have cables | remove it");
  EXPECT_EQ(Judge("NCCL_ALGO", "ring", context), "fine");
  EXPECT_EQ(Judge("NCCL_ALGO", "Tree"), "fine");
}

// What NCCL's param.cc and env parsers make of values:
// https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
TEST(NcclMeaning, ValuesAreComparedAsNcclReadsThem) {
  EXPECT_TRUE(MeanTheSame("NCCL_IB_TC", "0x6a", "106"));
  EXPECT_TRUE(MeanTheSame("NCCL_DEBUG", "info", "INFO"));
  EXPECT_TRUE(MeanTheSame("NCCL_ALGO", "Ring,Tree", "tree,ring"));
  EXPECT_TRUE(
      MeanTheSame("NCCL_ALGO", "broadcast:ring;allreduce:tree", "allreduce:tree;broadcast:ring"));
  EXPECT_TRUE(MeanTheSame("NCCL_IB_HCA", "=rocep1s0f1,roceP2p1s0f1", "=roceP2p1s0f1:1,rocep1s0f1"));
  EXPECT_TRUE(MeanTheSame("NCCL_NET_PLUGIN", "none", "none"));
  EXPECT_FALSE(MeanTheSame("NCCL_IB_TC", "106", "104"));
  EXPECT_FALSE(MeanTheSame("NCCL_IB_DISABLE", "no", "0"));  // a mistake, whatever it does
  EXPECT_FALSE(MeanTheSame("NCCL_SOCKET_FAMILY", "af_inet", "AF_INET"));
  EXPECT_FALSE(MeanTheSame("NCCL_ALGO", "^ring", "ring"));
  EXPECT_FALSE(MeanTheSame("NCCL_IB_HCA", "rocep1s0f1", "=rocep1s0f1"));
  EXPECT_FALSE(MeanTheSame("NCCL_IB_HCA", "=rocep1s0f1", "=rocep1s0f1,roceP2p1s0f1"));
  EXPECT_FALSE(MeanTheSame("NCCL_IB_HCA", "=rocep1s0f1:2", "=rocep1s0f1"));
  EXPECT_FALSE(MeanTheSame("NCCL_NET_PLUGIN", "None", "none"));
}

TEST(NcclLint, OtherProgramsVariablesAreNotJudged) {
  EXPECT_EQ(Judge("TORCH_NCCL_BLOCKING_WAIT", "true"), "fine");
  EXPECT_EQ(Judge("NCCL_TESTS_MIN_BW", "10"), "fine");
}

TEST(NcclLint, NamesAreSortedSoThatTheyAreFound) {
  EXPECT_TRUE(std::is_sorted(ListKnownVariables().begin(), ListKnownVariables().end()));
  EXPECT_TRUE(IsKnownName("NCCL_ALGO"));
  EXPECT_TRUE(IsKnownName("NCCL_WORK_FIFO_BYTES"));
  EXPECT_FALSE(IsKnownName("NCCL_NCHANNELS"));
}

TEST(NcclLines, ConfFileIsTakenByteForByteAsNcclTakesIt) {
  const std::string conf = "/etc/nccl.conf";
  const auto one = [&](std::string_view text) -> std::string {
    const auto found = ParseLine(conf, 1, text);
    return found.empty() ? "nothing" : found.front().name + "|" + found.front().value;
  };
  EXPECT_EQ(one("NCCL_DEBUG=INFO "), "NCCL_DEBUG|INFO ");
  EXPECT_EQ(one("NCCL_IB_HCA==mlx5_0"), "NCCL_IB_HCA|=mlx5_0");
  EXPECT_EQ(one("NCCL_DEBUG=\"INFO\""), "NCCL_DEBUG|\"INFO\"");
  EXPECT_EQ(one("export NCCL_DEBUG=INFO"), "export NCCL_DEBUG|INFO");
  EXPECT_EQ(one(" # NCCL_DEBUG=INFO"), " # NCCL_DEBUG|INFO");
  EXPECT_EQ(one("#NCCL_DEBUG=INFO"), "nothing");
  EXPECT_EQ(one("NCCL_DEBUG=INFO\r"), "NCCL_DEBUG|INFO\\x0d");
  EXPECT_EQ(one("NCCL_DEBUG"), "nothing");
}

TEST(NcclLines, ShellAndUnitLinesYieldTheirVariablesAlone) {
  const auto all = [](std::string_view text) {
    std::vector<std::string> found;
    for (const NcclSetting& one : ParseLine("/etc/profile.d/a.sh", 1, text)) {
      found.push_back(one.name + "|" + one.value);
    }
    return found;
  };
  EXPECT_THAT(all("export NCCL_DEBUG=INFO NCCL_PROTO='LL' # why"),
              ElementsAre("NCCL_DEBUG|INFO", "NCCL_PROTO|LL"));
  EXPECT_THAT(all("Environment=\"NCCL_ALGO=allreduce:tree;x\" HF_TOKEN=secret NCCL_NET=IB"),
              ElementsAre("NCCL_ALGO|allreduce:tree;x", "NCCL_NET|IB"));
  EXPECT_THAT(all("ExecStart=/usr/bin/docker run -e NCCL_DEBUG=INFO image"),
              ElementsAre("NCCL_DEBUG|INFO"));
  EXPECT_THAT(all("export MY_NCCL_DEBUG=1; echo $NCCL_DEBUG ${NCCL_DEBUG:=2}"), IsEmpty());
  EXPECT_THAT(all("  # export NCCL_DEBUG=INFO"), IsEmpty());
  EXPECT_THAT(all("export NCCL_DEBUG="), ElementsAre("NCCL_DEBUG|"));
  EXPECT_THAT(all("export NCCL_ALGO='Ri''ng' NCCL_DEBUG=\"IN\\$FO\" NCCL_NET=I\\B\\"),
              ElementsAre("NCCL_ALGO|Ring", "NCCL_DEBUG|IN$FO", "NCCL_NET|IB"));
  EXPECT_THAT(all("echo 'export NCCL_DEBUG=INFO' HF_TOKEN='secret'"),
              ElementsAre("NCCL_DEBUG|INFO"));
  EXPECT_THAT(all("echo 'export NCCL_DEBUG=' HF_TOKEN='secret'"),
              ElementsAre("NCCL_DEBUG| HF_TOKEN="));
}

}  // namespace
}  // namespace reconciler::plugins::nccl
