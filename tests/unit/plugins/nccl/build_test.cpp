#include "plugins/nccl/build/build.h"

#include <gmock/gmock.h>

#include "tests/unit/plugins/nccl/nccl_scenario.h"

namespace reconciler::plugins::nccl {
namespace {

using testing::ElementsAre;

constexpr const char* kTag = "v2.28.9-1";
constexpr const char* kFolder = "/opt/spark-reconcile/nccl/v2.28.9-1-sm_121";
constexpr const char* kScript = "/usr/local/lib/spark-reconcile/build-nccl.sh";
constexpr const char* kLoaderFile = "/etc/ld.so.conf.d/00-spark-reconcile-nccl.conf";
constexpr const char* kAllTools = "tool git\ntool make\ntool g++\ntool nvcc\n";

struct BuildScenario : NcclScenario {
  explicit BuildScenario(const std::string& reply, const std::string& library = "build v2.28.9-1")
      : NcclScenario({{"library", test::Text(library)}}) {
    for (const char* path : {kScript, kLoaderFile}) facts.files[path] = Absent{};
    Read({.out = reply});
  }

  void Read(const CommandReply& reply) {
    Get().parse({.commands = {{"nccl.builds", reply}}}, facts);
  }
  Resource Find(const std::string& kind, const std::string& name) {
    for (Resource& resource : Wanted()) {
      if (resource.kind == kind && resource.name == name) return resource;
    }
    ADD_FAILURE() << "there is no " << kind << " " << name;
    return {};
  }
  std::string Plan(const std::string& folder = kFolder) {
    const auto change = Diff(Find("nccl", folder), "nccl");
    if (!change) return "none";
    return (change->change == ChangeKind::kBlocked ? "blocked: " : "") + change->detail;
  }
};

std::string Join(const RunCommand& command) { return reconciler::Join(command.argv, " "); }

TEST(NcclBuild, ATagIsBuiltForTheGpuOfTheNode) {
  BuildScenario node(std::string(kAllTools) + "gpu 12.1\n");
  const Resource build = node.Find("nccl", kFolder);
  ASSERT_EQ(build.apply.size(), 1u);
  EXPECT_EQ(Join(std::get<RunCommand>(build.apply[0])),
            std::string("sh ") + kScript + " " + kFolder +
                " v2.28.9-1 https://github.com/NVIDIA/nccl.git 121");
  EXPECT_EQ(build.label, "NCCL v2.28.9-1 for sm_121, built on the node: some minutes");
  EXPECT_EQ(node.Body(kScript).find("# shellcheck shell=dash\n"),
            node.Body(kScript).find("# shell"));
  EXPECT_THAT(node.Body(kLoaderFile),
              testing::EndsWith("/opt/spark-reconcile/nccl/v2.28.9-1-sm_121/lib\n"));
}

TEST(NcclBuild, WhatIsBuiltIsNotBuiltAgain) {
  const std::string built = std::string("built ") + kFolder + " " + kTag;
  EXPECT_EQ(BuildScenario(kAllTools + ("gpu 12.1\n" + built) +
                          " https://github.com/NVIDIA/nccl.git 121\n")
                .Plan(),
            "none");
  EXPECT_EQ(
      BuildScenario("gpu 12.1\n" + built + " https://github.com/NVIDIA/nccl.git 121\n").Plan(),
      "none")
      << "the tools are for a build only";
}

TEST(NcclBuild, AnotherRepositoryHasAFolderOfItsOwn) {
  BuildScenario node(std::string(kAllTools) + "gpu 12.1\n",
                     "build v2.28.9-1 https://example.org/nccl.git");
  const std::string folder = kFolder + std::string("-0732f550");
  EXPECT_EQ(
      Join(std::get<RunCommand>(node.Find("nccl", folder).apply.at(0))),
      std::string("sh ") + kScript + " " + folder + " v2.28.9-1 https://example.org/nccl.git 121");
}

TEST(NcclBuild, ANodeThatCannotBuildIsBlockedBeforeAnythingIsChanged) {
  EXPECT_EQ(BuildScenario("tool git\ntool make\ngpu 12.1\n").Plan(),
            "blocked: the node has no g++, nvcc, which the build needs: add git and "
            "build-essential to packages; nvcc is CUDA's");
  EXPECT_EQ(BuildScenario(kAllTools).Plan(std::string("/opt/spark-reconcile/nccl/") + kTag),
            "blocked: nvidia-smi finds no GPU, for whose architecture NCCL would be built");
}

TEST(NcclBuild, WhatIsReadFromTheNodeIsUnknownWhereItCannotBeRead) {
  BuildScenario node("");
  node.Read({.exit_code = 124});
  const auto change =
      Diff(node.Find("nccl", std::string("/opt/spark-reconcile/nccl/") + kTag), "nccl");
  ASSERT_TRUE(change);
  EXPECT_EQ(change->change, ChangeKind::kBlocked);
}

TEST(NcclBuild, ABuildWaitsForThePackagesOfTheSameApply) {
  BuildScenario node("gpu 12.1\n");
  node.facts.packages.packages["build-essential"].status = "not-installed";
  EXPECT_TRUE(std::holds_alternative<KnownAfterApply>(node.Find("nccl", kFolder).desired));
  node.facts.packages.packages["build-essential"].status = "installed";
  EXPECT_THAT(node.Plan(), testing::StartsWith("blocked: the node has no git, make, g++, nvcc"));
}

TEST(NcclBuild, ARevertAndAPruneRemoveTheBuild) {
  BuildScenario node(std::string(kAllTools) + "gpu 12.1\n");
  const Resource build = node.Find("nccl", kFolder);
  ASSERT_EQ(build.revert.size(), 1u);
  const RunCommand& removal = std::get<RunCommand>(build.revert[0]);
  EXPECT_EQ(removal.argv.back(), kFolder);
  EXPECT_TRUE(removal.at_boot);
  ASSERT_TRUE(build.prune_commands);
  ASSERT_EQ(build.prune_commands->after.size(), 2u);
  EXPECT_EQ(build.prune_commands->after[0], removal);
  EXPECT_THAT(build.prune_commands->after[1].argv, ElementsAre("ldconfig"));
}

// Its file may be there already, from a pass in which the build waited for packages.
TEST(NcclBuild, ABuildReachesTheLoaderAlsoWhereItsFileIsThereAlready) {
  BuildScenario node(std::string(kAllTools) + "gpu 12.1\n");
  const std::vector<RunCommand> triggers = node.Find("nccl", kFolder).triggers;
  ASSERT_EQ(triggers.size(), 1u);
  EXPECT_THAT(triggers[0].argv, ElementsAre("ldconfig"));
  EXPECT_EQ(triggers, node.Find("file", kLoaderFile).triggers) << "of one id: it runs once";
}

TEST(NcclBuild, AnOlderLibraryThatProgramsStillLoadIsWarnedOf) {
  BuildScenario node(std::string(kAllTools) + "gpu 12.1\n");
  NcclScenario::AddLibrary(node.facts, "2.26.2", "NCCL_IB_HCA");
  EXPECT_THAT(node.Warnings(),
              testing::Contains("library: wanted v2.28.9-1 or later, and programs load NCCL 2.26.2 "
                                "(/usr/lib/libnccl.so.2): remove that library, or what makes the "
                                "loader prefer it: ldconfig -p shows them"));
  NcclScenario::AddLibrary(node.facts, "2.28.9", "NCCL_IB_HCA");
  EXPECT_THAT(node.Warnings(), testing::Not(testing::Contains(testing::HasSubstr("wanted v2"))));
}

TEST(NcclBuild, NothingIsBuiltWhereTheManifestHasNone) {
  NcclScenario node;
  EXPECT_EQ(node.Wanted().size(), 2u);
  const auto count = [&] {
    return Get().probe(node.cluster, node.fabric, node.cluster.nodes.front()).size();
  };
  const std::size_t without = count();
  node.cluster.settings =
      test::Map({{"nccl", test::Map({{"library", test::Text("build v2.28.9-1")}})}});
  EXPECT_EQ(count(), without + 3);
}

}  // namespace
}  // namespace reconciler::plugins::nccl
