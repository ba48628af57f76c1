#include "plugins/nccl/build/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "plugins/common/commands/failure.h"
#include "plugins/common/commands/one_line.h"
#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/nccl/build/build_nccl.sh.h"
#include "plugins/nccl/build/read_build.sh.h"
#include "plugins/nccl/build/remove_build.sh.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kProbe = "nccl.builds";
constexpr const char* kFolder = "/opt/spark-reconcile/nccl";
constexpr const char* kScript = "/usr/local/lib/spark-reconcile/build-nccl.sh";
// Before the folders of packages: of several libraries the loader takes the first.
constexpr const char* kLoaderFile = "/etc/ld.so.conf.d/00-spark-reconcile-nccl.conf";
constexpr const char* kTools[] = {"git", "make", "g++", "nvcc"};
constexpr int kBuildLimitS = 3600;  // ten minutes on a Spark, by guides; nearly all is nvcc
constexpr int kLoaderLimitS = 60;
constexpr int kRemoveLimitS = 60;
constexpr std::string_view kRemoveSh = FindLastLine(kRemoveBuildSh);

// "12.1" as nvcc names it: "121". Empty: it is no compute capability.
std::string ReadArchitecture(const std::string& capability) {
  std::string digits;
  for (const char c : capability) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digits += c;
    } else if (c != '.') {
      return {};
    }
  }
  return digits.size() <= 4 ? digits : std::string();
}

RunCommand MakeLoaderCommand() {
  return {.argv = {"ldconfig"}, .time_limit_s = kLoaderLimitS, .id = "ldconfig"};
}

class Maker {
 public:
  Maker(const NcclSource& source, const SourceMark& where, const PluginInput& input)
      : input_(input), source_(source), where_(where), builds_(Answer(input.facts.nccl.builds)) {
    if (const NcclBuilds* builds = Known(builds_)) architecture_ = builds->architecture;
    folder_ = fmt::format("{}/{}", kFolder, source_.tag);
    if (!architecture_.empty()) folder_ += "-sm_" + architecture_;
    if (source_.url != kNcclUrl) folder_ += "-" + ComputeSha256Hex(source_.url).substr(0, 8);
  }

  std::vector<Resource> Run() const {
    const Resource build = MakeBuild();
    Resource loader = MakeFile(kLoaderFile, folder_ + "/lib\n");
    loader.needs = {build.Id()};
    loader.triggers = {MakeLoaderCommand()};
    loader.settles = {"library"};
    return {MakeFile(kScript, std::string(kBuildNcclSh)), build, loader};
  }

 private:
  Resource MakeFile(const std::string& path, const std::string& body) const {
    Resource file{
        .kind = "file",
        .name = path,
        .node = input_.node.name,
        .desired = ResourceState(FileState{.content = FormatOwnedFile(input_.cluster.name, body)}),
        .observed = AsState(FindFile(input_.facts, path)),
        .where = where_};
    BlockUnlessOurs(file, input_.cluster.name, input_.cluster.former_name);
    return file;
  }

  std::string FormatBuilt() const {
    return fmt::format("{} {} {}", source_.tag, source_.url, architecture_);
  }

  Observed<std::string> DescribeObserved() const {
    if (const auto* unknown = std::get_if<Unknown>(&builds_)) return *unknown;
    const NcclBuilds* builds = Known(builds_);
    if (builds == nullptr) return Unknown{"nothing was read about it"};
    const auto built = builds->built.find(folder_);
    if (built == builds->built.end()) return Absent{};
    return built->second == FormatBuilt() ? "built" : "another one: " + built->second;
  }

  Resource MakeBuild() const {
    Resource build{.kind = "nccl",
                   .name = folder_,
                   .node = input_.node.name,
                   .desired = ResourceState("built"),
                   .observed = AsState(DescribeObserved()),
                   .where = where_};
    build.needs = {input_.node.name + "/file/" + kScript};
    if (build.observed == Observed<ResourceState>(ResourceState("built"))) return build;
    const std::vector<std::string> missing = ListMissingTools();
    if (!missing.empty() && HasPackagesToInstall()) {
      build.desired = KnownAfterApply{"the build, once the packages of the manifest are installed"};
      return build;
    }
    build.blocked = FindObstacle(missing);
    build.apply = {
        RunCommand{.argv = {"sh", kScript, folder_, source_.tag, source_.url, architecture_},
                   .time_limit_s = kBuildLimitS}};
    build.revert = {MakeRemoval()};
    // The loader's file may be there since an earlier pass, or an earlier apply.
    build.triggers = {MakeLoaderCommand()};
    build.prune_commands = PruneCommands{.after = {MakeRemoval(), MakeLoaderCommand()}};
    build.label = fmt::format("NCCL {} for sm_{}, built on the node: some minutes", source_.tag,
                              architecture_);
    return build;
  }

  RunCommand MakeRemoval() const {
    return {.argv = {"sh", "-c", std::string(kRemoveSh), "sh", folder_},
            .time_limit_s = kRemoveLimitS,
            .must_succeed = true,
            .at_boot = true};
  }

  std::vector<std::string> ListMissingTools() const {
    std::vector<std::string> missing;
    const NcclBuilds* builds = Known(builds_);
    for (const char* tool : kTools) {
      if (builds != nullptr && !builds->tools.contains(tool)) missing.emplace_back(tool);
    }
    return missing;
  }

  bool HasPackagesToInstall() const {
    const auto& packages = input_.facts.packages.packages;
    return std::any_of(packages.begin(), packages.end(),
                       [](const auto& one) { return one.second.status != "installed"; });
  }

  Obstacle FindObstacle(const std::vector<std::string>& missing) const {
    if (Known(builds_) == nullptr) return {};
    if (!missing.empty()) {
      return {.code = "nccl-build-impossible",
              .why = fmt::format("the node has no {}, which the build needs: add git and "
                                 "build-essential to packages; nvcc is CUDA's",
                                 Join(missing, ", "))};
    }
    if (architecture_.empty()) {
      return {.code = "nccl-build-impossible",
              .why = "nvidia-smi finds no GPU, for whose architecture NCCL would be built"};
    }
    return {};
  }

  const PluginInput& input_;
  const NcclSource& source_;
  SourceMark where_;
  Observed<NcclBuilds> builds_;
  std::string architecture_ = {};  // empty: not known
  std::string folder_ = {};
};

void ReadBuildLine(const std::string& line, NcclBuilds& builds) {
  const std::vector<std::string> words = Split(line, ' ');
  if (words.size() == 2 && words[0] == "tool") {
    builds.tools.insert(MakePrintable(words[1]));
  } else if (words.size() == 2 && words[0] == "gpu") {
    builds.architecture = ReadArchitecture(words[1]);
  } else if (words.size() == 5 && words[0] == "built") {
    builds.built[MakePrintable(words[1])] =
        MakePrintable(fmt::format("{} {} {}", words[2], words[3], words[4]));
  }
}

}  // namespace

std::vector<Read> ListBuildReads() {
  return {RunProbe{.id = kProbe, .argv = {"sh", "-c", std::string(kReadBuildSh), "sh", kFolder}},
          ReadFile{kScript}, ReadFile{kLoaderFile}};
}

void StoreBuilds(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kProbe);
  if (found == reply.commands.end()) return;
  if (found->second.exit_code != 0) {
    facts.nccl.builds = ExplainFailure(found->second, "nvidia-smi");
    return;
  }
  NcclBuilds builds;
  for (const std::string& line : SplitLines(found->second.out)) ReadBuildLine(line, builds);
  facts.nccl.builds = std::move(builds);
}

std::vector<Resource> ListBuildResources(const NcclSource& source, const SourceMark& where,
                                         const PluginInput& input) {
  return Maker(source, where, input).Run();
}

}  // namespace reconciler::plugins::nccl
