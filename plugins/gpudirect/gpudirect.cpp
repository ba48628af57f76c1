#include "plugins/gpudirect/gpudirect.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "plugins/common/gpu/gpu_facts.h"
#include "plugins/common/gpu/gpu_reach.h"
#include "plugins/gpudirect/loader.h"
#include "plugins/gpudirect/modules.h"
#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::gpudirect {
namespace {

using Answer = GpuReach::Answer;

// `off` without modules needs nothing of a node.
bool UsesGpu(const std::optional<GpuSection>& section) {
  return section && (section->mode != GpuMode::kOff || !section->listed.empty());
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec& node) {
  const auto section = ReadGpuSection(cluster, node.name);
  if (!UsesGpu(section)) return {};
  std::vector<Read> reads = ListGpuReads(section);
  reads.push_back(MakeLoaderProbe());
  if (!section->Modules().empty()) reads.push_back(ReadFile{std::string(kModulesFile)});
  return reads;
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  StoreGpuFacts(reply, facts);
  StoreLoader(reply, facts);
}

std::vector<Resource> Resources(const PluginInput& input) {
  const auto section = ReadGpuSection(input.cluster, input.node.name);
  if (!UsesGpu(section)) return {};
  return ListModuleResources(*section, input);
}

std::string FormatUnread(const GpuReach& reach) {
  return reach.unread.empty() ? "" : "; not read: " + Join(reach.unread, ", ");
}

// A mode by name, or any way at all: the node must be able to do it.
bool IsPromise(const GpuSection& section) {
  return section.mode != GpuMode::kOff && (section.mode != GpuMode::kAuto || section.required);
}

// The manifest promises what the node cannot do.
Diagnostic MakeUnsupported(const GpuSection& section, const GpuReach& reach,
                           const NodeFacts& facts) {
  const std::string wanted = section.mode == GpuMode::kAuto
                                 ? "wanted GPUDirect in any way"
                                 : fmt::format("wanted {}", ToString(section.mode));
  return {.severity = section.required ? Severity::kBlocks : Severity::kInforms,
          .code = "gpudirect-unsupported",
          .message = fmt::format("gpudirect: {}, found that {} [{}]", wanted, reach.why,
                                 FormatGpuEvidence(facts)),
          .next_step = section.required
                           ? "write `gpudirect: auto`, or required: false to have the rest applied"
                           : "write `gpudirect: auto`"};
}

// What keeps a promise from holding. Where the module of `peermem` is not there, its own resource
// reports what is unknown, and what the manifest lists besides.
std::optional<Diagnostic> DiagnosePromise(const GpuSection& section, const GpuReach& reach,
                                          const NodeFacts& facts) {
  if (!IsPromise(section)) return std::nullopt;
  const bool is_missing =
      section.mode == GpuMode::kPeermem && !IsModuleThere(facts, std::string(kPeermemModule));
  const bool module_reports = is_missing && (reach.answer != Answer::kNo ||
                                             (section.Lists(kPeermemModule) && !section.required));
  if (reach.answer == Answer::kNo && !module_reports) {
    return MakeUnsupported(section, reach, facts);
  }
  if (reach.answer != Answer::kUnknown || module_reports) return std::nullopt;
  return Diagnostic{.severity = Severity::kWarns,
                    .code = "gpudirect-unknown",
                    .message = fmt::format("gpudirect {}: cannot determine: {}",
                                           ToString(section.mode), reach.why)};
}

// What a promise or `auto` comes to where that does not show in a change.
std::optional<Diagnostic> DiagnoseReach(const GpuSection& section, const NodeFacts& facts) {
  const GpuReach reach = JudgeReach(section, facts);
  if (auto broken = DiagnosePromise(section, reach, facts)) return broken;
  if (section.mode == GpuMode::kDmabuf && reach.answer == Answer::kUndecided) {
    return Diagnostic{
        .code = "gpudirect-undecided",
        .message = fmt::format("gpudirect dmabuf: nothing rules it out{}", FormatUnread(reach))};
  }
  if (section.mode != GpuMode::kAuto) return std::nullopt;
  switch (reach.answer) {
    case Answer::kYes:
      return Diagnostic{.code = "gpudirect-direct",
                        .message = "gpudirect auto: HCAs read GPU memory: " + reach.why};
    case Answer::kNo:
      return Diagnostic{
          .code = "gpudirect-through-host",
          .message = fmt::format("gpudirect auto: GPU memory goes through the host's: {}{}",
                                 DescribeWithDriver(reach), FormatUnread(reach))};
    case Answer::kUndecided:
      return Diagnostic{.code = "gpudirect-through-host",
                        .message = fmt::format(
                            "gpudirect auto: GPU memory is taken to go through the host's: {}{}",
                            DescribeWithDriver(reach), FormatUnread(reach))};
    case Answer::kUnknown:
      return Diagnostic{.code = "gpudirect-unknown",
                        .message = "gpudirect auto: unknown: " + reach.why};
  }
  return std::nullopt;
}

std::vector<Diagnostic> Diagnose(const PluginInput& input) {
  const auto section = ReadGpuSection(input.cluster, input.node.name);
  if (!UsesGpu(section)) return {};
  std::vector<Diagnostic> diagnostics;
  if (auto one = DiagnoseReach(*section, input.facts)) diagnostics.push_back(std::move(*one));
  for (Diagnostic& one : DiagnoseLoader(*section, input.facts)) {
    diagnostics.push_back(std::move(one));
  }
  for (Diagnostic& one : diagnostics) one.where = input.cluster.Mark(section->position);
  return diagnostics;
}

bool NeedsSparkVerify(const ClusterSpec& cluster, const NodeFacts& facts) {
  const auto section = ReadGpuSection(cluster, facts.node);
  return section && IsWorthQuerying(section, facts);
}

// `mode`: nccl.mode, which may need what `gpudirect` rules out; nullptr: none.
Errors CheckSection(const ClusterSpec& cluster, const GpuSection& section, const Value* mode) {
  Errors errors;
  const auto add = [&](std::string code, Position position, std::string message, std::string hint) {
    errors.push_back(MakeManifestError(std::move(code), cluster.Mark(position), std::move(message),
                                       std::move(hint)));
  };
  const bool off = section.mode == GpuMode::kOff;
  if (off && section.required) {
    add("gpudirect-contradicts", section.position, "gpudirect: wanted a mode to require, found off",
        "remove `required`, or name a mode");
  }
  std::map<std::string, std::string> seen;  // as the kernel writes it → as written
  for (const GpuModule& module : section.listed) {
    const auto [first, fresh] = seen.emplace(module.name, module.written);
    if (!fresh) {
      add("gpudirect-module-twice", module.position,
          fmt::format("gpudirect: '{}' and '{}' are the same module", first->second,
                      module.written),
          "keep one of them");
    } else if (off && module.name == kPeermemModule) {
      add("gpudirect-contradicts", module.position,
          fmt::format("gpudirect: wanted no {} with mode off, found it among the modules",
                      kPeermemModule),
          "write mode: peermem, or remove the module");
    }
  }
  if (off && mode != nullptr && mode->ScalarText() == "dmabuf") {
    add("gpudirect-contradicts", mode->position,
        "nccl: wanted mode auto or safe with gpudirect off, found dmabuf",
        "write `gpudirect: dmabuf`, or mode: safe");
  }
  return errors;
}

Errors Check(const ClusterSpec& cluster, const Fabric&) {
  Errors errors;
  std::set<std::pair<const Member*, const Member*>> checked;  // most nodes have the cluster's
  for (const NodeSpec& node : cluster.nodes) {
    const Member* gpudirect = cluster.FindSection(node.name, "gpudirect");
    const Member* nccl = cluster.FindSection(node.name, "nccl");
    const auto section = ReadGpuSection(gpudirect);
    if (!section || !checked.emplace(gpudirect, nccl).second) continue;
    const Value* mode = nccl != nullptr ? nccl->value.Find("mode") : nullptr;
    for (Error& error : CheckSection(cluster, *section, mode)) errors.push_back(std::move(error));
  }
  return errors;
}

}  // namespace

Plugin Get() {
  return {.name = "gpudirect",
          .after = {"packages"},  // which may bring modules
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .check = Check,
          .diagnose = Diagnose,
          .needs_spark_verify = NeedsSparkVerify};
}

}  // namespace reconciler::plugins::gpudirect
