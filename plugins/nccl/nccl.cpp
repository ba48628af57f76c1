#include "plugins/nccl/nccl.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/common/access/login_users.h"
#include "plugins/common/adopt/list_of_all.h"
#include "plugins/common/firewall/ufw.h"
#include "plugins/common/gpu/gpu_facts.h"
#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/common/ports/links.h"
#include "plugins/nccl/bootstrap/bootstrap.h"
#include "plugins/nccl/build/build.h"
#include "plugins/nccl/diagnose.h"
#include "plugins/nccl/firewall.h"
#include "plugins/nccl/gid.h"
#include "plugins/nccl/gpu.h"
#include "plugins/nccl/leftovers/adopted_lines.h"
#include "plugins/nccl/leftovers/settings.h"
#include "plugins/nccl/library.h"
#include "plugins/nccl/lint.h"
#include "plugins/nccl/needs.h"
#include "plugins/nccl/section.h"
#include "plugins/nccl/selection.h"
#include "plugins/nccl/wanted.h"
#include "reconciler/base/manifest_error.h"
#include "reconciler/base/mark.h"
#include "reconciler/fabric/neighbours.h"

namespace reconciler::plugins::nccl {
namespace {

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec& node) {
  const auto section = ReadSection(cluster, node.name);
  if (!section) return {};
  std::vector<Read> reads = {ReadFile{std::string(kShellFile)}, ReadFile{std::string(kServiceFile)},
                             MakeHcaProbe(), MakeSettingsProbe(ListLoginUsers(cluster, node)),
                             MakeLibraryProbe(*section)};
  if (section->build) {
    for (Read& read : ListBuildReads()) reads.push_back(std::move(read));
  }
  for (Read& read : ListLineReads(cluster, node.name)) reads.push_back(std::move(read));
  for (Read& read : ListGidReads(*section)) reads.push_back(std::move(read));
  for (Read& read : ListUfwReads()) reads.push_back(std::move(read));
  if (section->mode != Mode::kSafe) {
    for (Read& read : ListGpuReads(ReadGpuSection(cluster, node.name))) {
      reads.push_back(std::move(read));
    }
  }
  return reads;
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  const auto store = [&](const RunProbe& probe, void (*into)(const CommandReply&, NodeFacts&)) {
    const auto found = reply.commands.find(probe.id);
    if (found != reply.commands.end()) into(found->second, facts);
  };
  store(MakeSettingsProbe({}), StoreSettings);
  store(MakeLibraryProbe({}), StoreLibrary);
  StoreBuilds(reply, facts);
  StoreHcas(reply, facts);
  StoreGids(reply, facts);
  StoreGpuFacts(reply, facts);
}

Resource MakeOwnedFile(const Section& section, const PluginInput& input, std::string_view path,
                       const Result<Environment>& environment, const std::string& body) {
  const std::string name(path);
  Resource file{
      .kind = "file",
      .name = name,
      .node = input.node.name,
      .desired = ResourceState(FileState{.content = FormatOwnedFile(input.cluster.name, body)}),
      .observed = AsState(FindFile(input.facts, name)),
      .needs = ListLinkIds(ListCollectivePorts(input.fabric, input.node.name)),
      .where = input.cluster.Mark(section.position)};
  if (!environment) {
    // It is unknown what it should hold: it stays as it is.
    file.desired = KnownAfterApply{"the variables"};
    file.blocked = {.code = "nccl-variables-undecided", .why = environment.error().message};
    return file;
  }
  BlockUnlessOurs(file, input.cluster.name, input.cluster.former_name);
  return file;
}

Result<Environment> BuildEnvironment(const PluginInput& input) {
  const auto section = ReadSection(input.cluster, input.node.name);
  return section ? BuildWantedEnvironment(*section, input) : Environment{};
}

std::vector<Resource> Resources(const PluginInput& input) {
  const auto section = ReadSection(input.cluster, input.node.name);
  if (!section) return {};
  const Result<Environment> environment = BuildWantedEnvironment(*section, input);
  const Environment wanted = environment ? *environment : Environment{};
  std::vector<Resource> resources;
  if (section->build) {
    resources = ListBuildResources(*section->build, input.cluster.Mark(section->position), input);
  }
  resources.push_back(MakeOwnedFile(*section, input, kShellFile, environment, FormatShell(wanted)));
  resources.push_back(
      MakeOwnedFile(*section, input, kServiceFile, environment, FormatEnvironmentFile(wanted)));
  for (Resource& lines : MakeAdoptedLines(input)) resources.push_back(std::move(lines));
  return resources;
}

std::vector<Diagnostic> Diagnose(const PluginInput& input) {
  const auto section = ReadSection(input.cluster, input.node.name);
  if (!section) return {};
  const Result<Environment> environment = BuildWantedEnvironment(*section, input);
  std::vector<Diagnostic> found =
      DiagnoseSettings(*section, input, environment ? *environment : Environment{});
  for (Diagnostic& one : FindDeniedPeers(*section, input)) found.push_back(std::move(one));
  const SourceMark where = input.cluster.Mark(section->position);
  if (section->FindVariable("NCCL_SOCKET_IFNAME") == nullptr) {
    const BootstrapChoice choice =
        ChooseBootstrap(input.cluster, input.fabric, input.facts, input.all);
    for (Diagnostic& one : FindWirelessBootstrap(input, choice, where)) {
      found.push_back(std::move(one));
    }
    if (StaysOnFabric(input, choice)) found.push_back(MakeStaysNote(choice, where));
  }
  return found;
}

bool MayBeAdopted(const Fact<std::vector<NcclSetting>>& fact) {
  const auto* settings = Known(fact);
  return settings != nullptr &&
         std::any_of(settings->begin(), settings->end(),
                     [](const NcclSetting& one) { return CanHaveLinesAdopted(one.path); });
}

VariablesByFile ListRemovableOf(const PluginInput& input) {
  const auto section = ReadSection(input.cluster, input.node.name);
  // On most nodes no such file sets anything, and all that is judged is judged for nothing.
  const bool may_have =
      MayBeAdopted(input.facts.nccl.settings) || MayBeAdopted(input.facts.nccl.others);
  if (!section || !may_have) return {};
  const Result<Environment> environment = BuildWantedEnvironment(*section, input);
  return ListRemovable(*section, input, environment ? *environment : Environment{});
}

std::vector<AdoptableFile> ListAdoptable(const ClusterSpec& cluster, const Fabric& fabric,
                                         const ClusterFacts& all) {
  // Of all nodes: they have one entry for each file.
  VariablesByFile removable;
  for (const NodeSpec& node : cluster.nodes) {
    const auto facts = all.nodes.find(node.name);
    if (facts == all.nodes.end()) continue;
    for (const auto& [path, names] : ListRemovableOf({cluster, fabric, node, facts->second, all})) {
      removable[path].insert(names.begin(), names.end());
    }
  }
  return ListOfAll<PluginInput>(cluster, fabric, all, [&](const PluginInput& input) {
    return ListAdoptableLines(input, removable);
  });
}

Ownership CheckPrune(const PluginInput& input, Change& change) {
  const auto section = ReadSection(input.cluster, input.node.name);
  CheckBuildPrune(section && !input.uninstall ? section->build : std::nullopt, input, change);
  return Ownership::kOurs;
}

// What the manifest may not say about a variable because another key says it.
Mistake JudgeOwner(const std::string& name) {
  if (name == "NCCL_IB_GID_INDEX") {
    return {MistakeKind::kOwned, kOneGidIndex, "remove it; to pin the index, set nccl.gid_index"};
  }
  if (name == "NCCL_NET_GDR_LEVEL") {
    return {MistakeKind::kOwned, "is decided by nccl.mode",
            "mode safe sets LOC, mode dmabuf sets SYS"};
  }
  return {};
}

std::string ChooseCode(MistakeKind kind) {
  std::string code;
  switch (kind) {
    case MistakeKind::kMisspelled:
    case MistakeKind::kUnknown:
      code = "nccl-env-misspelled";
      break;
    case MistakeKind::kUnread:
      code = "nccl-env-unread";
      break;
    case MistakeKind::kMisread:
    case MistakeKind::kReadAsMeant:
      code = "nccl-env-misread";
      break;
    case MistakeKind::kNoEffect:
      code = "nccl-env-no-effect";
      break;
    case MistakeKind::kAgainstFabric:
      code = "nccl-env-against-fabric";
      break;
    case MistakeKind::kOwned:
      code = "nccl-env-decided-elsewhere";
      break;
  }
  return code;
}

Errors CheckVariables(const ClusterSpec& cluster, const Fabric& fabric, const Section& section) {
  Errors errors;
  const LintContext context = MakeLintContext(section, cluster, fabric);
  for (const ManifestVariable& variable : section.env) {
    Mistake wrong = JudgeOwner(variable.name);
    if (wrong.Empty()) wrong = JudgeSetting(variable.name, variable.value, context);
    if (wrong.Empty()) wrong = JudgeByProfiles(variable, cluster);
    if (wrong.Empty()) continue;
    errors.push_back(MakeManifestError(ChooseCode(wrong.kind), cluster.Mark(variable.position),
                                       fmt::format("nccl.env: {}: {}", variable.name, wrong.what),
                                       wrong.hint));
  }
  return errors;
}

// What nodes may not have otherwise than the cluster.
Errors CheckAgreement(const ClusterSpec& cluster, const NodeSpec& node) {
  Errors errors;
  const auto ours = ReadSection(cluster, node.name);
  const auto all = ReadSection(cluster, {});
  for (const ManifestVariable& variable : ours ? ours->env : std::vector<ManifestVariable>()) {
    const ManifestVariable* other = all ? all->FindVariable(variable.name) : nullptr;
    // Variables of other libraries name a node's own interfaces.
    const bool is_of_nccl = variable.name.starts_with("NCCL_");
    if (!is_of_nccl || !MustAgree(variable.name) ||
        (other != nullptr && other->value == variable.value))
      continue;
    errors.push_back(MakeManifestError(
        "nccl-env-must-agree", cluster.Mark(variable.position),
        fmt::format("nccl.env: {}: wanted the same value on all nodes, found one for {} alone",
                    variable.name, node.name),
        "ranks with different values can hang: write it in the cluster's nccl.env"));
  }
  if (ours && all && ours->mode != all->mode &&
      (ours->mode == Mode::kDmabuf || all->mode == Mode::kDmabuf)) {
    errors.push_back(MakeManifestError(
        "nccl-modes-differ", cluster.Mark(ours->position),
        fmt::format(
            "nccl: wanted one mode on all nodes where one is dmabuf, found {} for {} and {} "
            "for the cluster",
            ToString(ours->mode), node.name, ToString(all->mode)),
        "write `mode: auto` in the cluster's nccl, which takes dmabuf where every node can"));
  }
  return errors;
}

Errors Check(const ClusterSpec& cluster, const Fabric& fabric) {
  Errors errors = CheckBootstrap(cluster, fabric);
  for (Error& error : CheckAdoptedLines(cluster)) errors.push_back(std::move(error));
  const auto add = [&](Errors found) {
    std::move(found.begin(), found.end(), std::back_inserter(errors));
  };
  for (const Member* section : cluster.ListSections("nccl")) {
    add(CheckVariables(cluster, fabric, *ReadSection(section)));
  }
  for (const NodeSpec& node : cluster.nodes) {
    if (!node.sections.empty()) add(CheckAgreement(cluster, node));
  }
  std::stable_sort(errors.begin(), errors.end(), [](const Error& a, const Error& b) {
    return a.where->position.line < b.where->position.line ||
           (a.where->position.line == b.where->position.line &&
            a.where->position.column < b.where->position.column);
  });
  return errors;
}

}  // namespace

Plugin Get() {
  return {.name = "nccl",
          .after = {"packages"},  // which may bring what a build needs
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .check_prune = CheckPrune,
          .check = Check,
          .diagnose = Diagnose,
          .adoptable = ListAdoptable,
          .noted_with = "nccl: {}",
          .needs_spark_verify = NeedsSparkVerify,
          .environment = BuildEnvironment};
}

}  // namespace reconciler::plugins::nccl
