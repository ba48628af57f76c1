#include "plugins/common/gpu/gpu_reach.h"

#include <fmt/format.h>

#include "plugins/common/gpu/gpu_facts.h"
#include "reconciler/base/number.h"

namespace reconciler::plugins {
namespace {

using Answer = GpuReach::Answer;

// GB10's drivers were queried for the attributes up to this branch, and denied them.
constexpr int kLastRefusingBranch = 580;
constexpr const char* kAttribute116 = "CUDA attribute 116 (GPUDirect RDMA)";
constexpr const char* kAttribute124 = "CUDA attribute 124 (dma-buf)";
constexpr const char* kHcaProbe = "the HCA's own dma-buf probe";

// "580.95.05": 580.
int ReadBranch(std::string_view version) { return ConsumeNumber<int>(version).value_or(0); }

// What both ways need: a driver, a GPU, and that the GPU does not refuse.
struct Common {
  GpuReach reach = {.answer = Answer::kUndecided};  // anything else: it is decided
  bool open = false;
  bool gb10 = false;
  std::string model = {};
};

Common Decide(Common common, Answer answer, std::string why) {
  common.reach.answer = answer;
  common.reach.why = std::move(why);
  return common;
}

// Empty: not read, or there was an answer.
std::string ExplainUnanswered(const Fact<bool>& fact) {
  const Unknown* unknown = FindUnknown(fact);
  return unknown == nullptr ? "" : unknown->why;
}

Common JudgeCommon(const NodeFacts& facts) {
  Common common;
  const Observed<NvidiaDriver> driver = reconciler::Answer(facts.gpudirect.driver);
  if (const auto* unknown = std::get_if<Unknown>(&driver)) {
    return Decide(std::move(common), Answer::kUnknown, unknown->why);
  }
  const auto* loaded = Known(driver);
  if (loaded == nullptr) {
    return Decide(std::move(common), Answer::kNo, "no NVIDIA driver is loaded");
  }
  common.open = loaded->open;
  common.reach.driver = loaded->version;
  const Observed<std::string> gpu = reconciler::Answer(facts.gpudirect.gpu);
  if (const auto* unknown = std::get_if<Unknown>(&gpu)) {
    return Decide(std::move(common), Answer::kUnknown, unknown->why);
  }
  if (Known(gpu) == nullptr) {
    return Decide(std::move(common), Answer::kNo, "the NVIDIA driver has no GPU");
  }
  common.model = *Known(gpu);
  common.gb10 = common.model.find("GB10") != std::string::npos;
  const Fact<bool>& attribute = facts.gpudirect.cuda_rdma;
  if (IsKnownNo(attribute)) {
    std::string why =
        fmt::format("CUDA says that {} has no GPUDirect RDMA (attribute 116 is 0)", common.model);
    return Decide(std::move(common), Answer::kNo, std::move(why));
  }
  if (Known(attribute) == nullptr) common.reach.unread.emplace_back(kAttribute116);
  if (common.gb10 && Known(attribute) == nullptr &&
      ReadBranch(common.reach.driver) <= kLastRefusingBranch) {
    return Decide(std::move(common), Answer::kNo,
                  "GB10 has no GPUDirect RDMA: its memory is the machine's memory");
  }
  if (const std::string why = ExplainUnanswered(attribute); !why.empty()) {
    return Decide(std::move(common), Answer::kUnknown, why);
  }
  return common;
}

GpuReach SetAnswer(GpuReach reach, Answer answer, std::string why) {
  reach.answer = answer;
  reach.why = std::move(why);
  return reach;
}

GpuReach JudgeReachOnceLoaded(const Common& common) {
  // Nothing confirms it for a GB10: its drivers denied it as long as they were queried.
  if (common.gb10 && !common.reach.unread.empty()) {
    return SetAnswer(common.reach, Answer::kUndecided, "nvidia_peermem has no effect there");
  }
  return SetAnswer(common.reach, Answer::kYes,
                   "nvidia_peermem lets the HCA read the memory of " + common.model);
}

// We loaded it, so that a manifest that does not require it removes it. What hangs on it is
// decided as it will be then, or the next plan would decide otherwise.
bool IsOursToUnload(const NodeFacts& facts) {
  const auto* ledger = Known(facts.ledger);
  return ledger != nullptr && ledger->Find(fmt::format("module/{}", kPeermemModule)) != nullptr;
}

GpuReach JudgeAnyReach(const NodeFacts& facts, bool loads) {
  const GpuReach peermem = JudgePeermemReach(facts, loads);
  const GpuReach dmabuf = JudgeDmabufReach(facts);
  for (const Answer answer : {Answer::kYes, Answer::kUnknown}) {
    for (const GpuReach* reach : {&peermem, &dmabuf}) {
      if (reach->answer == answer) return *reach;
    }
  }
  if (peermem.why == dmabuf.why) return peermem;
  GpuReach both = dmabuf;
  if (peermem.answer == Answer::kUndecided) both.answer = Answer::kUndecided;
  both.why = fmt::format("{}, and {}", dmabuf.why, peermem.why);
  return both;
}

}  // namespace

GpuReach JudgePeermemReach(const NodeFacts& facts, bool loads) {
  const Common common = JudgeCommon(facts);
  if (common.reach.answer != Answer::kUndecided) return common.reach;
  const Observed<ModuleState> module = FindModule(facts, std::string(kPeermemModule));
  if (IsModuleThere(facts, std::string(kPeermemModule)) && (loads || !IsOursToUnload(facts))) {
    return JudgeReachOnceLoaded(common);
  }
  if (IsKnownNo(facts.gpudirect.symbol)) {
    return SetAnswer(common.reach, Answer::kNo,
                     fmt::format("nvidia_peermem cannot be loaded: {}", kNoPeerSymbol));
  }
  if (std::holds_alternative<Absent>(module)) {
    return SetAnswer(common.reach, Answer::kNo, "this kernel has no module nvidia_peermem");
  }
  if (const auto* unknown = std::get_if<Unknown>(&module)) {
    return SetAnswer(common.reach, Answer::kUnknown, "nvidia_peermem: " + unknown->why);
  }
  if (loads) return JudgeReachOnceLoaded(common);
  return SetAnswer(common.reach, Answer::kUndecided, "nvidia_peermem is not loaded");
}

GpuReach JudgeDmabufReach(const NodeFacts& facts) {
  Common common = JudgeCommon(facts);
  if (common.reach.answer != Answer::kUndecided) return common.reach;
  GpuReach& reach = common.reach;
  if (!common.open) {
    return SetAnswer(reach, Answer::kNo, "the proprietary NVIDIA driver exports no GPU memory");
  }
  if (IsKnownNo(facts.gpudirect.dmabuf)) {
    return SetAnswer(reach, Answer::kNo, "the kernel is built without dma-buf");
  }
  const Fact<bool>& attribute = facts.gpudirect.cuda_dmabuf;
  if (IsKnownNo(attribute)) {
    return SetAnswer(
        reach, Answer::kNo,
        fmt::format("CUDA says that {} exports no memory as dma-buf (attribute 124 is 0)",
                    common.model));
  }
  const Fact<bool>& hca = facts.gpudirect.hca_dmabuf;
  if (IsKnownNo(hca)) {
    return SetAnswer(reach, Answer::kNo, "the HCA takes no dma-buf");
  }
  for (const Fact<bool>* fact : {&attribute, &hca}) {
    if (std::string why = ExplainUnanswered(*fact); !why.empty()) {
      return SetAnswer(reach, Answer::kUnknown, std::move(why));
    }
  }
  if (Known(attribute) == nullptr) reach.unread.emplace_back(kAttribute124);
  if (Known(hca) == nullptr) reach.unread.emplace_back(kHcaProbe);
  if (reach.unread.empty()) {
    return SetAnswer(
        reach, Answer::kYes,
        fmt::format("{} exports its memory as dma-buf, and the HCA takes it", common.model));
  }
  return SetAnswer(reach, Answer::kUndecided,
                   Known(attribute) == nullptr
                       ? fmt::format("no file says that {} exports its memory", common.model)
                       : "no HCA reported that it takes dma-buf");
}

GpuReach JudgeReach(const std::optional<GpuSection>& section, const NodeFacts& facts) {
  const bool loads = section && section->Loads(kPeermemModule);
  switch (section ? section->mode : GpuMode::kAuto) {
    case GpuMode::kAuto:
      return JudgeAnyReach(facts, loads);
    case GpuMode::kOff:
      return {Answer::kNo, "gpudirect is off in the manifest", {}, {}};
    case GpuMode::kPeermem:
      return JudgePeermemReach(facts, loads);
    case GpuMode::kDmabuf:
      return JudgeDmabufReach(facts);
  }
  return {};
}

bool IsWorthQuerying(const std::optional<GpuSection>& section, const NodeFacts& facts) {
  const GpuReach reach = JudgeReach(section, facts);
  const bool open = reach.answer == Answer::kYes || reach.answer == Answer::kUndecided;
  return open && !reach.unread.empty();
}

std::string DescribeWithDriver(const GpuReach& reach) {
  return reach.driver.empty() ? reach.why : fmt::format("{} (driver {})", reach.why, reach.driver);
}

}  // namespace reconciler::plugins
