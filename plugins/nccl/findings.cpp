#include "plugins/nccl/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/nccl/gid.h"
#include "plugins/nccl/library.h"
#include "plugins/nccl/lint.h"
#include "plugins/nccl/needs.h"
#include "plugins/nccl/selection.h"
#include "plugins/nccl/settings.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kRemoveItThere = "take it out there";

class Finder {
 public:
  Finder(const Section& section, const PluginInput& input, const Environment& environment)
      : section_(section), input_(input), environment_(environment) {}

  std::vector<Resource> Run() {
    CheckLibrary();
    CheckManifest();
    CheckGids();
    const Observed<std::vector<NcclSetting>> settings = Answer(input_.facts.nccl.settings);
    if (const auto* unknown = std::get_if<Unknown>(&settings)) {
      found_.push_back({.kind = "nccl",
                        .name = "other settings",
                        .node = input_.node.name,
                        .desired = ResourceState("none that disagree"),
                        .observed = *unknown,
                        .where = input_.cluster.Mark(section_.position)});
    }
    if (const auto* list = Known(settings)) {
      for (const NcclSetting& setting : *list) CheckVariable(setting);
    }
    return std::move(found_);
  }

 private:
  void Add(std::string name, std::string wanted, std::string observed, std::string why,
           Position position) {
    found_.push_back({.kind = "nccl",
                      .name = std::move(name),
                      .node = input_.node.name,
                      .desired = ResourceState(std::move(wanted)),
                      .observed = ResourceState(std::move(observed)),
                      .blocked = std::move(why),
                      .where = input_.cluster.Mark(position)});
  }

  void CheckLibrary() {
    const Observed<NcclLibrary> library = Answer(input_.facts.nccl.library);
    if (const auto* unknown = std::get_if<Unknown>(&library)) {
      found_.push_back({.kind = "nccl",
                        .name = "library",
                        .node = input_.node.name,
                        .desired = ResourceState("known"),
                        .observed = *unknown,
                        .where = input_.cluster.Mark(section_.position)});
    }
    library_ = Known(library) != nullptr ? *Known(library) : NcclLibrary{};
    context_ = MakeLintContext(section_, input_.cluster, input_.fabric);
    context_.library = Known(library) != nullptr ? &library_ : nullptr;
    context_.on_node = true;
    const bool subnets = CagesDiffer(input_.fabric);
    if (context_.library == nullptr) {
      if (!section_.library.empty() && std::holds_alternative<Absent>(library)) {
        Add("library", section_.library, "absent", section_.library + " is not there",
            section_.position);
      }
      return;
    }
    if (subnets && !library_.Knows(std::string(kSubnetAware))) {
      Add("library", std::string(kSubnetAware), FormatLabel(library_),
          FormatLabel(library_) +
              " cannot pair adapters by subnet, which cables without a switch need: it takes "
              "2.30.7 or a patched build",
          section_.position);
    }
    CheckVersions();
  }

  // Said of the nodes that are behind.
  void CheckVersions() {
    for (const auto& [name, peer] : input_.all.nodes) {
      const NcclLibrary* theirs = Known(peer.nccl.library);
      const std::string other = theirs == nullptr ? "" : theirs->version;
      if (!IsOlder(library_.version, other)) continue;
      Add("library version", other, library_.version,
          fmt::format("{}, and {} has {}: all ranks must run one version", FormatLabel(library_),
                      name, other),
          section_.position);
      return;
    }
  }

  void CheckGids() {
    for (const RailPort& port : ListCollectivePorts(input_.fabric, input_.node.name)) {
      const std::string why = ExplainWrongGid(section_, port, input_.facts);
      if (why.empty()) continue;
      Add("gid_index on " + port.hca, "its IPv4 address", "another", why, section_.position);
    }
  }

  // What `check` could not say without the node's library.
  void CheckManifest() {
    for (const ManifestVariable& variable : section_.env) {
      Complaint wrong = JudgeSetting(variable.name, variable.value, context_);
      if (wrong.Empty()) wrong = JudgeSelection(variable, input_);
      if (wrong.Empty()) continue;
      Add(variable.name, "read by NCCL", "not read", wrong.OneLine(), variable.position);
    }
  }

  void CheckVariable(const NcclSetting& setting) {
    const std::string why = ExplainWrong(setting);
    const std::string name =
        fmt::format("{}:{} {}={}", setting.path, setting.line, setting.name, setting.value);
    const bool twice = std::any_of(found_.begin(), found_.end(),
                                   [&](const Resource& one) { return one.name == name; });
    if (!why.empty() && !twice) Add(name, "absent", "there", why, section_.position);
  }

  std::string ExplainWrong(const NcclSetting& setting) const {
    if (!setting.name.starts_with("NCCL_")) {
      return fmt::format(
          "nccl.conf takes every byte for what it is, so that this sets '{}': begin the line with "
          "the name",
          setting.name);
    }
    if (const EnvVariable* ours = Wanted(setting.name)) {
      return ours->value == setting.value ? "" : ExplainShadow(setting, ours->value);
    }
    // The value that a shell makes at login is not known; the name is.
    const bool made = !setting.InConf() && setting.value.find_first_of("$`") != std::string::npos;
    const Rule* rule = FindRule(setting.name);
    const bool by_value = rule != nullptr && rule->form != Form::kText;
    const Complaint wrong = JudgeSetting(setting.name, made ? "0" : setting.value, context_);
    if (!wrong.Empty() && !(made && by_value)) {
      return wrong.OneLine();
    }
    if (setting.name == "NCCL_IB_GID_INDEX") {
      return fmt::format(
          "one index for all adapters, and each adapter's own moves: NCCL finds it "
          "by itself: {}",
          kRemoveItThere);
    }
    return ExplainAlone(setting);
  }

  const EnvVariable* Wanted(const std::string& name) const {
    for (const EnvVariable& variable : environment_) {
      if (variable.name == name) return &variable;
    }
    return nullptr;
  }

  // The manifest has another value for it: which of the two wins?
  std::string ExplainShadow(const NcclSetting& setting, const std::string& ours) const {
    const std::string both = fmt::format("the manifest says {}: ", ours);
    if (setting.InConf()) {
      return fmt::format(
          "{}this is shadowed wherever the environment is set, and wins elsewhere: "
          "{}",
          both, kRemoveItThere);
    }
    const bool later =
        setting.path.starts_with("/etc/profile.d/")
            ? setting.path > kShellFile
            : setting.path.find("/.") != std::string::npos || setting.path == "/etc/bash.bashrc";
    if (later) {
      return fmt::format("{}this is read after {} and wins: {}", both, kShellFile, kRemoveItThere);
    }
    if (setting.path.starts_with("/etc/systemd/")) {
      return fmt::format("{}this wins in units without EnvironmentFile={}: {}", both, kServiceFile,
                         kRemoveItThere);
    }
    return fmt::format("{}this wins where {} is not read: {}", both, kShellFile, kRemoveItThere);
  }

  // Ranks with different values hang: another node has another value, or none.
  std::string ExplainAlone(const NcclSetting& setting) const {
    if (!MustAgree(setting.name)) return {};
    for (const auto& [name, peer] : input_.all.nodes) {
      if (input_.facts.nccl.settings == peer.nccl.settings) continue;
      const auto* list = Known(peer.nccl.settings);
      if (list == nullptr) continue;
      const auto same_name = [&](const NcclSetting& one) { return one.name == setting.name; };
      const auto same = [&](const NcclSetting& one) {
        return same_name(one) && one.value == setting.value;
      };
      if (std::any_of(list->begin(), list->end(), same)) continue;
      const auto other = std::find_if(list->begin(), list->end(), same_name);
      return fmt::format(
          "{} has {}: ranks that differ hang: put it into nccl.env of the manifest, or take it out",
          name, other == list->end() ? "none" : other->value);
    }
    return {};
  }

  const Section& section_;
  const PluginInput& input_;
  const Environment& environment_;
  NcclLibrary library_ = {};
  LintContext context_ = {};
  std::vector<Resource> found_ = {};
};

}  // namespace

std::vector<Resource> ListFindings(const Section& section, const PluginInput& input,
                                   const Environment& environment) {
  return Finder(section, input, environment).Run();
}

}  // namespace reconciler::plugins::nccl
