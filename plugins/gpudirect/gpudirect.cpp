#include "plugins/gpudirect/gpudirect.h"

#include <fmt/format.h>

#include <map>

#include "plugins/common/gpu/gpu_facts.h"
#include "plugins/common/gpu/gpu_reach.h"
#include "plugins/gpudirect/loader.h"
#include "plugins/gpudirect/modules.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::gpudirect {
namespace {

using Answer = GpuReach::Answer;

// `off` without modules asks nothing of a node.
bool UsesGpu(const std::optional<GpuSection>& section) {
  return section && (section->mode != GpuMode::kOff || !section->listed.empty());
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric&, const NodeSpec&) {
  const auto section = ReadGpuSection(cluster);
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

// What the manifest promises and this node must be able to do. Where the module of `peermem` is not
// there, that tells it.
std::vector<Resource> MakePromise(const GpuSection& section, const PluginInput& input) {
  if (section.mode == GpuMode::kAuto && !section.required) return {};
  if (section.mode == GpuMode::kOff) return {};
  if (section.mode == GpuMode::kPeermem &&
      !IsModuleThere(input.facts, std::string(kPeermemModule))) {
    return {};
  }
  const GpuReach reach = JudgeReach(section, input.facts);
  Observed<ResourceState> observed = ResourceState("possible");
  if (reach.answer == Answer::kNo) observed = ResourceState("ruled out");
  if (reach.answer == Answer::kUnknown) observed = Unknown{reach.why};
  return {{.kind = "gpudirect",
           .name = std::string(ToString(section.mode)),
           .node = input.node.name,
           .desired = ResourceState("possible"),
           .observed = std::move(observed),
           .blocked = DescribeWithDriver(reach),
           .where = input.cluster.Mark(section.position)}};
}

std::vector<Resource> Resources(const PluginInput& input) {
  const auto section = ReadGpuSection(input.cluster);
  if (!UsesGpu(section)) return {};
  std::vector<Resource> resources = MakePromise(*section, input);
  for (Resource& one : ListModuleResources(*section, input)) resources.push_back(std::move(one));
  return resources;
}

Errors Refuse(const PluginInput& input) {
  const auto section = ReadGpuSection(input.cluster);
  if (!section || !section->required) return {};
  const GpuReach reach = JudgeReach(section, input.facts);
  if (reach.answer != Answer::kNo) return {};
  const std::string wanted = section->mode == GpuMode::kAuto
                                 ? "wanted GPUDirect in any way"
                                 : fmt::format("wanted {}", ToString(section->mode));
  return {{.kind = ErrorKind::kManifest,
           .message = fmt::format("gpudirect: {} on {}, found that {} [{}]", wanted,
                                  input.node.name, reach.why, FormatGpuEvidence(input.facts)),
           .where = input.cluster.Mark(section->position),
           .hint = "write `gpudirect: auto`, or required: false to have the rest applied"}};
}

std::string FormatUnasked(const GpuReach& reach) {
  return reach.unasked.empty() ? "" : "; not asked: " + Join(reach.unasked, ", ");
}

// What a promise or `auto` comes to where that does not show in a change.
std::string FormatDecision(const GpuSection& section, const NodeFacts& facts) {
  const GpuReach reach = JudgeReach(section, facts);
  if (section.required && reach.answer == Answer::kNo) {
    return fmt::format(
        "gpudirect {} is required and cannot hold: apply changes nothing until the manifest says "
        "otherwise",
        ToString(section.mode));
  }
  if (section.mode == GpuMode::kDmabuf && reach.answer == Answer::kUndecided) {
    return fmt::format("gpudirect dmabuf: nothing rules it out{}", FormatUnasked(reach));
  }
  if (section.mode != GpuMode::kAuto) return {};
  switch (reach.answer) {
    case Answer::kYes:
      return "gpudirect auto: adapters read GPU memory: " + reach.why;
    case Answer::kNo:
      return fmt::format("gpudirect auto: GPU memory goes through the host's: {}{}",
                         DescribeWithDriver(reach), FormatUnasked(reach));
    case Answer::kUndecided:
      return fmt::format("gpudirect auto: GPU memory is taken to go through the host's: {}{}",
                         DescribeWithDriver(reach), FormatUnasked(reach));
    case Answer::kUnknown:
      return "gpudirect auto: cannot tell: " + reach.why;
  }
  return {};
}

std::vector<std::string> Notes(const PluginInput& input) {
  const auto section = ReadGpuSection(input.cluster);
  if (!UsesGpu(section)) return {};
  std::vector<std::string> notes;
  if (std::string text = FormatDecision(*section, input.facts); !text.empty()) {
    notes.push_back(std::move(text));
  }
  for (std::string& text : ListLoaderNotes(*section, input.facts)) notes.push_back(std::move(text));
  return notes;
}

bool NeedsSparkVerify(const ClusterSpec& cluster, const NodeFacts& facts) {
  const auto section = ReadGpuSection(cluster);
  return section && IsWorthAsking(section, facts);
}

Errors Check(const ClusterSpec& cluster, const Fabric&) {
  Errors errors;
  const auto section = ReadGpuSection(cluster);
  if (!section) return errors;
  const auto complain = [&](Position position, std::string message, std::string hint) {
    errors.push_back({.kind = ErrorKind::kManifest,
                      .message = std::move(message),
                      .where = cluster.Mark(position),
                      .hint = std::move(hint)});
  };
  const bool off = section->mode == GpuMode::kOff;
  if (off && section->required) {
    complain(section->position, "gpudirect: wanted a mode to require, found off",
             "take `required` out, or name a mode");
  }
  std::map<std::string, std::string> seen;  // as the kernel writes it → as written
  for (const GpuModule& module : section->listed) {
    const auto [first, fresh] = seen.emplace(module.name, module.written);
    if (!fresh) {
      complain(module.position,
               fmt::format("gpudirect: '{}' and '{}' are the same module", first->second,
                           module.written),
               "keep one of them");
    } else if (off && module.name == kPeermemModule) {
      complain(module.position,
               fmt::format("gpudirect: wanted no {} with mode off, found it among the modules",
                           kPeermemModule),
               "write mode: peermem, or take the module out");
    }
  }
  const Value* nccl = cluster.settings.At({"nccl", "mode"});
  if (off && nccl != nullptr && nccl->ScalarText() == "dmabuf") {
    complain(nccl->position, "nccl: wanted mode auto or safe with gpudirect off, found dmabuf",
             "write `gpudirect: dmabuf`, or mode: safe");
  }
  return errors;
}

}  // namespace

Plugin Get() {
  return {.name = "gpudirect",
          .after = {},
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .check = Check,
          .refuse = Refuse,
          .needs_spark_verify = NeedsSparkVerify,
          .notes = Notes};
}

}  // namespace reconciler::plugins::gpudirect
