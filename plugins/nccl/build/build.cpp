#include "plugins/nccl/build/build.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "plugins/common/commands/failure.h"
#include "plugins/common/commands/one_line.h"
#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/nccl/build/bring_back.sh.h"
#include "plugins/nccl/build/build_nccl.sh.h"
#include "plugins/nccl/build/read_build.sh.h"
#include "plugins/nccl/build/remove_build.sh.h"
#include "plugins/nccl/build/set_aside.sh.h"
#include "plugins/nccl/build/tools.h"
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
constexpr int kBuildLimitS = 3600;  // ten minutes on a Spark, by guides; nearly all is nvcc
constexpr int kLoaderLimitS = 60;
constexpr int kRemoveLimitS = 60;
constexpr std::string_view kRemoveSh = FindLastLine(kRemoveBuildSh);
constexpr std::string_view kAsideSh = FindLastLine(kSetAsideSh);
constexpr std::string_view kBackSh = FindLastLine(kBringBackSh);
constexpr std::string_view kKind = "nccl";

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

std::string FormatFolder(const NcclSource& source, const std::string& architecture) {
  std::string folder = fmt::format("{}/{}", kFolder, source.tag);
  if (!architecture.empty()) folder += "-sm_" + architecture;
  if (source.url != kNcclUrl) folder += "-" + ComputeSha256Hex(source.url).substr(0, 8);
  return folder;
}

// Of which GPU the folder has the build of this source; empty: it is of another source.
std::string FindArchitecture(const NcclSource& source, std::string_view folder) {
  const std::string before = fmt::format("{}/{}-sm_", kFolder, source.tag);
  if (!folder.starts_with(before)) return {};
  const std::string_view rest = folder.substr(before.size());
  std::string architecture(rest.substr(0, rest.find_first_not_of("0123456789")));
  const bool is_its = !architecture.empty() && FormatFolder(source, architecture) == folder;
  return is_its ? architecture : std::string();
}

// Where no GPU answers, that of the build which the ledger has, or which is there: it is required
// still. Empty: there is none.
std::string FindFormerArchitecture(const NcclSource& source, const NodeFacts& facts) {
  std::vector<std::string> folders;
  if (const Ledger* ledger = Known(facts.ledger)) {
    for (const LedgerEntry& entry : ledger->entries) {
      if (entry.kind == kKind) folders.push_back(entry.name);
    }
  }
  if (const NcclBuilds* builds = Known(facts.nccl.builds)) {
    for (const auto& [folder, text] : builds->built) folders.push_back(folder);
  }
  for (const std::string& folder : folders) {
    if (auto found = FindArchitecture(source, folder); !found.empty()) return found;
  }
  return {};
}

RunCommand MakeBringBack(const std::string& folder) {
  return {.argv = {"sh", "-c", std::string(kBackSh), "sh", folder},
          .time_limit_s = kRemoveLimitS,
          .must_succeed = true,
          .at_boot = true};
}

RunCommand MakeLoaderCommand() {
  return {.argv = {"ldconfig"}, .time_limit_s = kLoaderLimitS, .id = "ldconfig"};
}

// A revert at boot restores files after its commands, and runs no triggers: what the loader finds
// is listed when the node has started.
RunCommand MakeLoaderRevert() {
  RunCommand command = MakeLoaderCommand();
  command.after_boot = true;
  return command;
}

class Maker {
 public:
  Maker(const NcclSource& source, const SourceMark& where, const PluginInput& input)
      : input_(input), source_(source), where_(where), builds_(Answer(input.facts.nccl.builds)) {
    if (const NcclBuilds* builds = Known(builds_)) architecture_ = builds->architecture;
    has_gpu_ = !architecture_.empty();
    if (!has_gpu_) architecture_ = FindFormerArchitecture(source_, input.facts);
    folder_ = FormatFolder(source_, architecture_);
  }

  std::vector<Resource> Run() const {
    const Resource build = MakeBuild();
    Resource loader = MakeFile(kLoaderFile, folder_ + "/lib\n");
    loader.needs = {build.Id()};
    loader.revert = {MakeLoaderRevert()};
    loader.triggers = {MakeLoaderCommand()};
    loader.prune_commands = PruneCommands{.after = loader.triggers};
    loader.settles = {"library"};
    return {MakeFile(kScript, std::string(kBuildNcclSh)), build, loader};
  }

  // Why there will be no build; empty: there is one, or it is made, or packages come first.
  std::string ExplainNoBuild() const {
    const Resource build = MakeBuild();
    if (IsBuilt(build)) return {};
    if (const auto* unknown = std::get_if<Unknown>(&build.observed)) return unknown->why;
    return build.blocked.why;
  }

  // Without which the loader finds no NCCL but a former build: see Change::needs.
  std::vector<std::string> ListForLoader() const {
    return {MakeBuild().Id(), fmt::format("{}/file/{}", input_.node.name, kLoaderFile)};
  }

 private:
  static bool IsBuilt(const Resource& build) {
    return build.observed == Observed<ResourceState>(ResourceState("built"));
  }

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
    Resource build{.kind = std::string(kKind),
                   .name = folder_,
                   .node = input_.node.name,
                   .desired = ResourceState("built"),
                   .observed = AsState(DescribeObserved()),
                   .where = where_};
    build.needs = {input_.node.name + "/file/" + kScript};
    if (IsBuilt(build)) return build;
    const std::vector<std::string> missing = ListMissingTools();
    const auto packages = FindPackagesWith(missing, input_.facts.packages);
    build.blocked = FindObstacle(missing, packages.has_value());
    if (!missing.empty() && build.blocked.empty()) {
      build.desired = KnownAfterApply{"the build, once the packages of the manifest are installed"};
      for (const std::string& package : *packages) {
        build.needs.push_back(fmt::format("{}/package/{}", input_.node.name, package));
      }
      return build;
    }
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
    for (const std::string_view tool : kBuildTools) {
      const std::string name(tool);
      if (builds != nullptr && !builds->tools.contains(name)) missing.push_back(name);
    }
    return missing;
  }

  // `come`: packages of the same apply bring what is missing.
  Obstacle FindObstacle(const std::vector<std::string>& missing, bool come) const {
    if (Known(builds_) == nullptr) return {};
    if (!missing.empty() && !come) {
      return {.code = "nccl-build-impossible",
              .why = fmt::format("the node has no {}, which the build needs: add git and "
                                 "build-essential to packages; nvcc is CUDA's",
                                 Join(missing, ", "))};
    }
    if (!has_gpu_) {
      return {.code = "nccl-build-impossible",
              .why = "nvidia-smi finds no GPU, for whose architecture NCCL would be built"};
    }
    return {};
  }

  const PluginInput& input_;
  const NcclSource& source_;
  SourceMark where_;
  Observed<NcclBuilds> builds_;
  std::string architecture_ = {};  // of the folder; empty: not known
  bool has_gpu_ = false;           // it answered
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

void CheckBuildPrune(const std::optional<NcclSource>& source, const PluginInput& input,
                     Change& change) {
  if (change.kind != kKind || !change.name.starts_with(fmt::format("{}/", kFolder))) return;
  const std::string why = source ? Maker(*source, {}, input).ExplainNoBuild() : std::string();
  if (!why.empty()) {
    Block(change, "nccl-build-impossible",
          fmt::format("stays until NCCL {} is built, which cannot be done now: {}", source->tag,
                      why));
    return;
  }
  change.actions = {RunCommand{.argv = {"sh", "-c", std::string(kAsideSh), "sh", change.name},
                               .time_limit_s = kRemoveLimitS}};
  change.triggers = {MakeLoaderCommand()};
  change.revert = {MakeBringBack(change.name), MakeLoaderRevert()};
  if (source) change.needs = Maker(*source, {}, input).ListForLoader();
}

}  // namespace reconciler::plugins::nccl
