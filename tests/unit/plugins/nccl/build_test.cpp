#include "plugins/nccl/build/build.h"

#include <fmt/format.h>
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
  Change Prune(const std::string& folder, bool uninstall = false) {
    Change change{.kind = "nccl",
                  .name = folder,
                  .node = facts.node,
                  .plugin = "nccl",
                  .triggers = {{.argv = {"sh", "-c", "rm -rf -- \"$1\"", "sh", folder}}},
                  .prune = true};
    const NodeSpec& node = cluster.nodes.front();
    EXPECT_EQ(Get().check_prune({cluster, fabric, node, facts, all, uninstall}, change),
              Ownership::kOurs);
    return change;
  }
  std::string Plan(const std::string& folder = kFolder) {
    const auto change = Diff(Find("nccl", folder), "nccl");
    if (!change) return "none";
    return (change->change == ChangeKind::kBlocked ? "blocked: " : "") + change->detail;
  }
};

// A package of the manifest, and what apt would install for it.
void AddPackage(const std::string& name, const std::vector<std::string>& steps,
                BuildScenario& node) {
  PackageFact package{.status = "not-installed", .steps = std::vector<PackageStep>()};
  for (const std::string& step : steps) {
    std::get<std::vector<PackageStep>>(*package.steps).push_back({.name = step, .to = "1"});
  }
  node.facts.packages.packages[name] = std::move(package);
}

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

// A driver that was upgraded, or an nvidia-smi that is slow.
TEST(NcclBuild, ABuildStaysRequiredWhereNoGpuAnswers) {
  const std::string built =
      fmt::format("built {} {} https://github.com/NVIDIA/nccl.git 121\n", kFolder, kTag);
  EXPECT_EQ(BuildScenario(kAllTools + built).Plan(), "none");
  BuildScenario other(kAllTools + built, "build v2.28.9-1 https://example.org/nccl.git");
  EXPECT_THAT(other.Plan("/opt/spark-reconcile/nccl/v2.28.9-1-0732f550"),
              testing::StartsWith("blocked: nvidia-smi finds no GPU"));
  BuildScenario slow("");
  slow.Read({.exit_code = 124});
  slow.facts.ledger = Ledger{
      .entries = {{.kind = "nccl", .name = "/opt/other"}, {.kind = "nccl", .name = kFolder}}};
  EXPECT_EQ(slow.Plan(), "blocked: unknown: nvidia-smi gave no answer in 5 s");
  slow.Read({.out = kAllTools});
  EXPECT_EQ(slow.Plan(),
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
  AddPackage("build-essential", {"make", "g++-12", "g++", "build-essential"}, node);
  AddPackage("cuda-toolkit-13-0", {"cuda-nvcc-13-0", "cuda-toolkit-13-0"}, node);
  AddPackage("git", {"git-man", "git"}, node);
  const Resource build = node.Find("nccl", kFolder);
  EXPECT_TRUE(std::holds_alternative<KnownAfterApply>(build.desired));
  // What keeps a package from being installed is that package's to say.
  EXPECT_THAT(build.needs,
              ElementsAre("spark-1/file/" + std::string(kScript), "spark-1/package/git",
                          "spark-1/package/build-essential", "spark-1/package/cuda-toolkit-13-0"));
}

// It is never made, and the rest of the apply must not be reverted for that.
TEST(NcclBuild, ABuildThatPackagesWillNotMakePossibleIsBlockedAlone) {
  const std::string why =
      "blocked: the node has no {}, which the build needs: add git and build-essential to "
      "packages; nvcc is CUDA's";
  BuildScenario no_nvcc("tool git\ntool make\ntool g++\ngpu 12.1\n");
  AddPackage("nvme-cli", {"nvme-cli"}, no_nvcc);
  EXPECT_EQ(no_nvcc.Plan(), fmt::format(fmt::runtime(why), "nvcc"));
  BuildScenario no_git("tool nvcc\ntool make\ntool g++\ngpu 12.1\n");
  no_git.facts.packages.packages["git"] = {.status = "not-installed", .held = true};
  EXPECT_EQ(no_git.Plan(), fmt::format(fmt::runtime(why), "git"));
  AddPackage("git", {"git"}, no_git);
  EXPECT_THAT(no_git.Plan(), testing::StartsWith("known after apply: "));
  no_git.facts.packages.packages["git"].unreachable = {"deb.debian.org"};
  EXPECT_EQ(no_git.Plan(), fmt::format(fmt::runtime(why), "git"));
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

TEST(NcclBuild, APruneSetsTheBuildAsideSoThatARevertHasItAtOnce) {
  BuildScenario node("gpu 12.1\n");
  const Change change = node.Prune("/opt/spark-reconcile/nccl/v2.27-sm_121", /*uninstall=*/true);
  ASSERT_EQ(change.actions.size(), 1u);
  EXPECT_THAT(Join(std::get<RunCommand>(change.actions[0])), testing::HasSubstr("SPARK_JOURNAL"));
  ASSERT_EQ(change.triggers.size(), 1u);
  EXPECT_THAT(change.triggers[0].argv, ElementsAre("ldconfig"));
  ASSERT_EQ(change.revert.size(), 2u);
  const RunCommand& back = std::get<RunCommand>(change.revert[0]);
  EXPECT_THAT(Join(back), testing::Not(testing::HasSubstr(kScript)));
  EXPECT_EQ(back.argv.back(), change.name);
  EXPECT_TRUE(back.must_succeed);
  EXPECT_TRUE(back.at_boot);
  EXPECT_EQ(change.change, ChangeKind::kModify);
  EXPECT_THAT(change.needs, testing::IsEmpty());
}

// A revert at boot runs no triggers, and its other commands run before files are restored.
TEST(NcclBuild, AfterARevertAtBootTheLoaderListsWhatIsThere) {
  BuildScenario node(std::string(kAllTools) + "gpu 12.1\n");
  const Change prune = node.Prune("/opt/spark-reconcile/nccl/v2.27-sm_121");
  const Resource loader = node.Find("file", kLoaderFile);
  ASSERT_EQ(prune.revert.size(), 2u);
  ASSERT_EQ(loader.revert.size(), 1u);
  for (const Action& action : {prune.revert[1], loader.revert[0]}) {
    const auto& command = std::get<RunCommand>(action);
    EXPECT_THAT(command.argv, ElementsAre("ldconfig"));
    EXPECT_TRUE(command.after_boot);
  }
  ASSERT_TRUE(loader.prune_commands);
  EXPECT_EQ(loader.prune_commands->after, loader.triggers) << "a prune runs it once";
}

// The loader's file names it until then: an edited one, a script of others, a package that is held.
TEST(NcclBuild, TheFormerBuildStaysWhileTheNewOneOrTheLoadersFileIsBlocked) {
  const std::string former = "/opt/spark-reconcile/nccl/v2.27-sm_121";
  const std::vector<std::string> needs = {std::string("spark-1/nccl/") + kFolder,
                                          std::string("spark-1/file/") + kLoaderFile};
  BuildScenario node(std::string(kAllTools) + "gpu 12.1\n");
  EXPECT_EQ(node.Prune(former).needs, needs);
  EXPECT_EQ(node.Find("nccl", kFolder).Id(), needs[0]);
  EXPECT_EQ(node.Find("file", kLoaderFile).Id(), needs[1]);
  node.Read({.out = fmt::format("gpu 12.1\nbuilt {} {} https://github.com/NVIDIA/nccl.git 121\n",
                                kFolder, kTag)});
  EXPECT_EQ(node.Prune(former).needs, needs) << "it is built";
}

// The loader would find none: its file names the former one until the new one is built.
TEST(NcclBuild, TheFormerBuildStaysWhereTheNewOneCannotBeMade) {
  const std::string former = "/opt/spark-reconcile/nccl/v2.27-sm_121";
  BuildScenario node("gpu 12.1\n");
  const Change blocked = node.Prune(former);
  EXPECT_EQ(blocked.change, ChangeKind::kBlocked);
  EXPECT_EQ(blocked.code, "nccl-build-impossible");
  EXPECT_EQ(blocked.detail,
            "stays until NCCL v2.28.9-1 is built, which cannot be done now: the node has no git, "
            "make, g++, nvcc, which the build needs: add git and build-essential to packages; nvcc "
            "is CUDA's");
  node.Read({.exit_code = 124});
  EXPECT_EQ(node.Prune(former).detail,
            "stays until NCCL v2.28.9-1 is built, which cannot be done now: nvidia-smi gave no "
            "answer in 5 s");
  node.Read({.out = std::string(kAllTools) + "gpu 12.1\n"});
  EXPECT_EQ(node.Prune(former).change, ChangeKind::kModify);
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
