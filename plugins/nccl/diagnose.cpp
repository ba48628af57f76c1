#include "plugins/nccl/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plugins/nccl/gid.h"
#include "plugins/nccl/leftovers/settings.h"
#include "plugins/nccl/leftovers/unknown_devices.h"
#include "plugins/nccl/library.h"
#include "plugins/nccl/lint.h"
#include "plugins/nccl/needs.h"
#include "plugins/nccl/selection.h"
#include "plugins/nccl/wanted.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kRemoveItThere = "remove it there";
constexpr const char* kCorrectItThere = "correct it there, or remove it";

class Finder {
 public:
  Finder(const Section& section, const PluginInput& input, const Environment& environment)
      : section_(section), input_(input), environment_(environment) {}

  std::vector<Diagnostic> Run() {
    CheckLibrary();
    CheckManifest();
    CheckGids();
    const Observed<std::vector<NcclSetting>> settings = Answer(input_.facts.nccl.settings);
    if (const auto* unknown = std::get_if<Unknown>(&settings)) {
      Add({.severity = Severity::kWarns,
           .code = "nccl-settings-unknown",
           .message = "cannot determine what other files set: " + unknown->why,
           .subject = "other settings"});
    }
    for (const auto* fact : {&input_.facts.nccl.settings, &input_.facts.nccl.others}) {
      const auto* list = Known(*fact);
      if (list == nullptr) continue;
      for (const NcclSetting& setting : *list) CheckVariable(setting);
    }
    return std::move(found_);
  }

  // After Run.
  const VariablesByFile& Removable() const { return removable_; }

 private:
  void Add(Diagnostic found) { Add(std::move(found), section_.position); }

  void Add(Diagnostic found, Position position) {
    found.message = fmt::format("{}: {}", found.subject, found.message);
    found.where = input_.cluster.Mark(position);
    found_.push_back(std::move(found));
  }

  void CheckLibrary() {
    const Observed<NcclLibrary> library = Answer(input_.facts.nccl.library);
    if (const auto* unknown = std::get_if<Unknown>(&library)) {
      Add({.severity = Severity::kWarns,
           .code = "nccl-library-unknown",
           .message = "cannot determine which one programs load: " + unknown->why,
           .subject = "library"});
    }
    library_ = Known(library) != nullptr ? *Known(library) : NcclLibrary{};
    context_ = MakeLintContext(section_, input_.cluster, input_.fabric);
    context_.library = Known(library) != nullptr ? &library_ : nullptr;
    context_.on_node = true;
    if (context_.library == nullptr) {
      if (!section_.library.empty() && std::holds_alternative<Absent>(library)) {
        Add({.severity = Severity::kWarns,
             .code = "nccl-library-missing",
             .message = section_.library + " is not there",
             .next_step = "install it there, or correct nccl.library",
             .subject = "library"});
      }
      return;
    }
    if (!library_.Knows(std::string(kSubnetAware)) && CagesDiffer(input_.fabric)) {
      Add({.severity = Severity::kWarns,
           .code = "nccl-library-too-old",
           .message = FormatLabel(library_) +
                      " cannot pair HCAs by subnet, which cables without a switch need",
           .next_step = "install NCCL 2.30.7 or later, or a build patched for it",
           .subject = "library"});
    }
    CheckPackage();
    CheckVersions();
  }

  // What counts is what programs load, whatever is installed.
  void CheckPackage() {
    const std::string wanted = section_.build ? section_.build->tag : section_.package_version;
    const std::string number = wanted.starts_with('v') ? wanted.substr(1) : wanted;
    const std::string upstream = number.substr(0, number.find_first_of("-+~"));
    if (wanted.empty() || !IsOlder(library_.version, upstream)) return;
    Add({.severity = Severity::kWarns,
         .code = "nccl-library-older",
         .message =
             fmt::format("wanted {} or later, and programs load {}", wanted, FormatLabel(library_)),
         .next_step = "remove that library, or what makes the loader prefer it: ldconfig -p shows "
                      "them",
         .subject = "library"});
  }

  // Said of the nodes that are behind.
  void CheckVersions() {
    for (const auto& [name, peer] : input_.all.nodes) {
      const NcclLibrary* theirs = Known(peer.nccl.library);
      if (theirs != nullptr && theirs->version == library_.version) continue;
      const std::string other = theirs == nullptr ? "" : theirs->version;
      if (!IsOlder(library_.version, other)) continue;
      Add({.severity = Severity::kWarns,
           .code = "nccl-versions-differ",
           .message = fmt::format("{}, and {} has {}", FormatLabel(library_), name, other),
           .next_step = "install one version on all nodes",
           .subject = "library version"});
      return;
    }
  }

  void CheckGids() {
    for (const RailPort& port : ListCollectivePorts(input_.fabric, input_.node.name)) {
      std::string why = ExplainWrongGid(section_, port, input_.facts);
      if (why.empty()) continue;
      Add({.severity = Severity::kWarns,
           .code = "nccl-gid-index-wrong",
           .message = std::move(why),
           .next_step = "remove gid_index, and NCCL finds it automatically",
           .subject = "gid_index on " + FindHcaName(port, input_.facts)});
    }
  }

  // A list without "=" is fine where it means on this node what it seems to say.
  void CheckList(const ManifestVariable& variable) {
    const Mistake entries = JudgeEntries(variable.name, variable.value, input_);
    if (!entries.Empty()) {
      Add({.severity = Severity::kInforms,
           .code = "nccl-list-unknown-name",
           .message = entries.what,
           .next_step = entries.hint,
           .subject = variable.name},
          variable.position);
    }
    const Mistake prefixes = JudgePrefixes(variable.name, variable.value, input_);
    if (prefixes.Empty()) return;
    const bool is_clear = prefixes.kind == MistakeKind::kReadAsMeant;
    Add({.severity = is_clear ? Severity::kInforms : Severity::kBlocks,
         .code = "nccl-list-by-prefix",
         .message = prefixes.what,
         .next_step = prefixes.hint,
         .subject = variable.name},
        variable.position);
  }

  // What `check` could not say without the node's library.
  void CheckManifest() {
    for (const ManifestVariable& variable : section_.env) {
      CheckList(variable);
      Mistake wrong = JudgeSetting(variable.name, variable.value, context_);
      if (wrong.Empty()) wrong = JudgeSelection(variable, input_);
      if (wrong.Empty()) continue;
      Diagnostic found = wrong.kind == MistakeKind::kUnknown
                             ? MakeUnknownVariable(wrong)
                             : Diagnostic{.severity = Severity::kWarns,
                                          .code = "nccl-variable-wrong",
                                          .message = wrong.what,
                                          .next_step = wrong.hint};
      found.subject = variable.name;
      Add(std::move(found), variable.position);
    }
  }

  void CheckVariable(const NcclSetting& setting) {
    const bool twice = std::any_of(checked_.begin(), checked_.end(), [&](const auto& one) {
      return one.path == setting.path && one.name == setting.name &&
             MeanTheSame(one.name, one.value, setting.value);
    });
    if (twice) return;
    checked_.push_back(setting);
    std::optional<Diagnostic> wrong = FindWrong(setting);
    if (!wrong) return;
    wrong->subject = FormatSubject(setting);
    const bool removable =
        wrong->next_step == kRemoveItThere || wrong->next_step == kCorrectItThere;
    if (removable && CanHaveLinesAdopted(setting.path)) {
      removable_[setting.path].insert(setting.name);
      wrong->next_step = AdviseOnLine(input_, setting.path, setting.name, wrong->next_step);
    }
    Add(std::move(*wrong));
  }

  // A name that is not known here, so that its effect is not known either.
  static Diagnostic MakeUnknownVariable(const Mistake& mistake) {
    return {.severity = Severity::kInforms,
            .code = "nccl-variable-unknown",
            .message = mistake.what,
            .next_step = "remove it, unless the NCCL of your programs is newer and reads it"};
  }

  static Diagnostic MakeHarmless(std::string message, std::string next_step = {}) {
    return {.severity = Severity::kInforms,
            .code = "nccl-setting-harmless",
            .message = std::move(message),
            .next_step = std::move(next_step)};
  }

  static Diagnostic MakeWrong(const Mistake& mistake) {
    switch (mistake.kind) {
      case MistakeKind::kUnknown:
        return MakeUnknownVariable(mistake);
      case MistakeKind::kUnread:
      case MistakeKind::kReadAsMeant:
      case MistakeKind::kNoEffect:
        return MakeHarmless(mistake.what, mistake.hint);
      case MistakeKind::kMisspelled:
      case MistakeKind::kMisread:
      case MistakeKind::kAgainstFabric:
      case MistakeKind::kOwned:
        break;
    }
    return {.severity = Severity::kWarns,
            .code = "nccl-setting-wrong",
            .message = mistake.what,
            .next_step = mistake.hint};
  }

  // A line of nccl.conf that a shell would read otherwise than NCCL does.
  std::optional<Diagnostic> FindMisreadLine(const NcclSetting& setting) const {
    const NcclSetting meant = ReadAsMeant(setting);
    if (!setting.InConf() || meant == setting) return std::nullopt;
    const bool by_name = meant.name != setting.name;
    const std::string sets =
        fmt::format("nccl.conf takes every byte for what it is, so that this sets '{}'",
                    by_name ? setting.name : setting.value);
    if (meant.name.starts_with('#')) return MakeHarmless(sets);  // a comment behind blanks
    const EnvVariable* ours = FindDesired(meant.name);
    if (ours != nullptr && MeanTheSame(meant.name, ours->value, meant.value)) {
      return MakeHarmless(sets + "; the manifest sets what it means");
    }
    if (!by_name) return std::nullopt;
    return Diagnostic{.severity = Severity::kWarns,
                      .code = "nccl-setting-malformed",
                      .message = sets,
                      .next_step = "begin the line with the name"};
  }

  static Diagnostic MakeContradiction(const EnvVariable& ours, const NcclSetting& setting) {
    return {.severity = Severity::kWarns,
            .code = "nccl-setting-contradicts",
            .message = fmt::format("the manifest has {}: {}", ours.value, ExplainShadow(setting)),
            .next_step = kRemoveItThere};
  }

  // They name a node's own interfaces and HCAs, so that nodes may differ.
  std::optional<Diagnostic> FindWrongOther(const NcclSetting& setting) const {
    const std::vector<std::string> unknown = ListUnknownDevices(input_, setting.value);
    if (!unknown.empty()) {
      return Diagnostic{
          .severity = Severity::kWarns,
          .code = "nccl-other-library",
          .message = fmt::format("the node has no interface or HCA called {}", Join(unknown, ", ")),
          .next_step = kCorrectItThere};
    }
    // The value that a shell makes at login is not known.
    if (setting.value.find_first_of("$`") != std::string::npos) return std::nullopt;
    const EnvVariable* ours = FindDesired(setting.name);
    if (ours == nullptr || MeanTheSame(setting.name, ours->value, setting.value)) {
      return std::nullopt;
    }
    return MakeContradiction(*ours, setting);
  }

  std::optional<Diagnostic> FindWrong(const NcclSetting& setting) const {
    if (IsOfOtherLibrary(setting.name)) return FindWrongOther(setting);
    if (auto misread = FindMisreadLine(setting)) return misread;
    if (const EnvVariable* ours = FindDesired(setting.name)) {
      if (MeanTheSame(setting.name, ours->value, setting.value)) return std::nullopt;
      if (SelectTheSame(setting.name, ours->value, setting.value, input_)) {
        return MakeHarmless(
            fmt::format("the manifest has {}, which selects the same here", ours->value));
      }
      return MakeContradiction(*ours, setting);
    }
    // The value that a shell makes at login is not known; the name is.
    const bool made = !setting.InConf() && setting.value.find_first_of("$`") != std::string::npos;
    const Rule* rule = FindRule(setting.name);
    const bool by_value = rule != nullptr && rule->form != Form::kText;
    const Mistake wrong = JudgeSetting(setting.name, made ? "0" : setting.value, context_);
    if (!wrong.Empty() && !(made && by_value)) return MakeWrong(wrong);
    if (const Mistake prefixes = JudgePrefixes(setting.name, setting.value, input_);
        !prefixes.Empty() && !made) {
      return MakeWrong(prefixes);
    }
    if (setting.name == "NCCL_IB_GID_INDEX") {
      return Diagnostic{.severity = Severity::kWarns,
                        .code = "nccl-setting-wrong",
                        .message = kOneGidIndex,
                        .next_step = kRemoveItThere};
    }
    return FindAlone(setting);
  }

  const EnvVariable* FindDesired(const std::string& name) const {
    for (const EnvVariable& variable : environment_) {
      if (variable.name == name) return &variable;
    }
    return nullptr;
  }

  // Whether a shell of a login reads it after our file.
  static bool IsReadLater(const std::string& path) {
    if (path.starts_with("/etc/profile.d/")) return path > kShellFile;
    if (path.ends_with("/.zshenv") || path.find("/environment.d/") != path.npos) return false;
    return path.find("/.") != path.npos || path == "/etc/bash.bashrc";
  }

  // The manifest has another value for it: which of the two wins?
  static std::string ExplainShadow(const NcclSetting& setting) {
    if (setting.InConf()) {
      return "the environment overrides this line; where it is not set, this line wins";
    }
    if (IsReadLater(setting.path)) {
      return fmt::format("this is read after {} and wins", kShellFile);
    }
    if (setting.path.starts_with("/etc/systemd/")) {
      return fmt::format("this wins in units without EnvironmentFile={}", kServiceFile);
    }
    return fmt::format("this wins where {} is not read", kShellFile);
  }

  // Ranks with different values hang: another node has another value, or none.
  std::optional<Diagnostic> FindAlone(const NcclSetting& setting) const {
    if (!MustAgree(setting.name)) return std::nullopt;
    for (const auto& [name, peer] : input_.all.nodes) {
      if (input_.facts.nccl.settings == peer.nccl.settings) continue;
      const auto* list = Known(peer.nccl.settings);
      if (list == nullptr) continue;
      const auto same_name = [&](const NcclSetting& one) { return one.name == setting.name; };
      const auto same = [&](const NcclSetting& one) {
        return same_name(one) && MeanTheSame(one.name, one.value, setting.value);
      };
      if (std::any_of(list->begin(), list->end(), same)) continue;
      const auto other = std::find_if(list->begin(), list->end(), same_name);
      return Diagnostic{.severity = Severity::kWarns,
                        .code = "nccl-setting-differs",
                        .message = fmt::format("{} has {}: ranks that differ hang", name,
                                               other == list->end() ? "none" : other->value),
                        .next_step = "put it into nccl.env of the manifest, or remove it"};
    }
    return std::nullopt;
  }

  const Section& section_;
  const PluginInput& input_;
  const Environment& environment_;
  NcclLibrary library_ = {};
  LintContext context_ = {};
  std::vector<NcclSetting> checked_ = {};  // other lines that say the same say nothing new
  std::vector<Diagnostic> found_ = {};
  VariablesByFile removable_ = {};  // the advice on these lines is to remove them
};

}  // namespace

std::vector<Diagnostic> DiagnoseSettings(const Section& section, const PluginInput& input,
                                         const Environment& environment) {
  return Finder(section, input, environment).Run();
}

VariablesByFile ListRemovable(const Section& section, const PluginInput& input,
                              const Environment& environment) {
  Finder finder(section, input, environment);
  finder.Run();
  return finder.Removable();
}

}  // namespace reconciler::plugins::nccl
