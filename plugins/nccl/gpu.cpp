#include "plugins/nccl/gpu.h"

#include <fmt/format.h>

#include <charconv>

#include "plugins/shared/nvidia_driver.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kPeermemFile = "/sys/module/nvidia_peermem/version";
constexpr std::string_view kGpuFolder = "/proc/driver/nvidia/gpus/";
constexpr const char* kDriverKey = "nccl.driver";       // "open 580.142"
constexpr const char* kGpuKey = "nccl.gpu";             // "NVIDIA GB10"
constexpr const char* kPeermemKey = "nccl.peermem";     // the module's version
constexpr const char* kSymbolKey = "nccl.peer_symbol";  // "yes" or "no"
// A constant. The kernel writes ten megabytes of symbols for it (45 ms), so that it is asked only
// where the answer counts: with a driver, and a GPU that is no GB10.
constexpr std::string_view kSymbolScript =
    "[ -e /proc/driver/nvidia/version ] || exit 1\n"
    "grep -qs GB10 /proc/driver/nvidia/gpus/*/information && exit 1\n"
    "grep -qw ib_register_peer_memory_client /proc/kallsyms\n";
// GB10's drivers were asked for the attributes up to this branch, and said no.
constexpr int kLastRefusingBranch = 580;

int BranchOf(std::string_view version) {
  int branch = 0;
  std::from_chars(version.data(), version.data() + version.size(), branch);
  return branch;
}

GpuReach ReachWith(const std::string& driver, const NodeFacts& facts) {
  using Answer = GpuReach::Answer;
  const std::string version = driver.substr(driver.find(' ') + 1);
  if (driver.starts_with("proprietary")) {
    return {Answer::kNo, "the proprietary NVIDIA driver exports no GPU memory", version};
  }
  const Observed<std::string> gpu = ValueOf(facts, kGpuKey);
  if (const auto* unknown = std::get_if<Unknown>(&gpu)) {
    return {Answer::kUnknown, unknown->why, version};
  }
  if (Known(gpu) == nullptr) return {Answer::kNo, "the NVIDIA driver has no GPU", version};
  const std::string& model = *Known(gpu);
  const bool gb10 = model.find("GB10") != std::string::npos;
  if (gb10 && BranchOf(version) <= kLastRefusingBranch) {
    return {Answer::kNo, "GB10 has no GPUDirect RDMA: its memory is the machine's memory", version};
  }
  const Observed<std::string> peermem = ValueOf(facts, kPeermemKey);
  if (!gb10 && Known(peermem) != nullptr) {
    return {Answer::kYes, "nvidia_peermem lets the adapter read the memory of " + model, version};
  }
  const Observed<std::string> symbol = ValueOf(facts, kSymbolKey);
  const bool loadable = Known(symbol) != nullptr && *Known(symbol) == "yes";
  return {Answer::kUntold,
          fmt::format("no file says that {} exports its memory, and nvidia_peermem {}", model,
                      gb10       ? "counts for nothing there"
                      : loadable ? "is not loaded"
                                 : "cannot be loaded: ib_core knows no peer memory"),
          version};
}

std::string WithDriver(const GpuReach& reach) {
  return reach.driver.empty() ? reach.why : fmt::format("{} (driver {})", reach.why, reach.driver);
}

}  // namespace

std::vector<Read> GpuProbe() {
  return {ReadValue{kDriverFile}, ReadValue{kPeermemFile},
          ReadValues{std::string(kGpuFolder) + "*/information"},
          RunProbe{.id = kSymbolKey, .argv = {"sh", "-c", std::string(kSymbolScript)}}};
}

void StoreGpu(const ProbeReply& reply, NodeFacts& facts) {
  const auto symbol = reply.commands.find(kSymbolKey);
  const auto driver = reply.values.find(kDriverFile);
  if (symbol == reply.commands.end() || driver == reply.values.end()) return;  // not asked for
  facts.values[kDriverKey] = ParseNvidiaDriver(driver->second);
  const auto peermem = reply.values.find(kPeermemFile);
  facts.values[kPeermemKey] = peermem == reply.values.end() ? Absent{} : peermem->second;
  Observed<std::string>& gpu = facts.values[kGpuKey];
  gpu = Absent{};
  for (const auto& [path, line] : reply.values) {
    if (!path.starts_with(kGpuFolder)) continue;
    const auto* text = Known(line);
    gpu = text == nullptr
              ? line
              : Observed<std::string>(Printable(Trim(text->substr(text->find(':') + 1))));
    break;  // all GPUs of a machine are of one kind
  }
  facts.values[kSymbolKey] = symbol->second.exit_code == 0 ? "yes" : "no";
}

GpuReach ReachOf(const NodeFacts& facts) {
  const Observed<std::string> driver = ValueOf(facts, kDriverKey);
  if (const auto* unknown = std::get_if<Unknown>(&driver)) {
    return {GpuReach::Answer::kUnknown, unknown->why, {}};
  }
  const auto* text = Known(driver);
  if (text == nullptr) return {GpuReach::Answer::kNo, "no NVIDIA driver is loaded", {}};
  return ReachWith(*text, facts);
}

ModeDecision DecideMode(const Section& section, const ClusterSpec& cluster, const NodeFacts& facts,
                        const ClusterFacts& all) {
  using Answer = GpuReach::Answer;
  if (section.mode == Mode::kSafe) return {.why = "mode safe: GPU memory goes through the host's"};
  const GpuReach own = ReachOf(facts);
  if (section.mode == Mode::kDmabuf) {
    ModeDecision decision{.direct = true,
                          .why = "mode dmabuf: the adapter may read GPU memory at any distance"};
    if (own.answer == Answer::kNo)
      decision.blocked = "mode dmabuf cannot hold here: " + WithDriver(own);
    if (own.answer == Answer::kUnknown) {
      decision.blocked = "cannot tell whether mode dmabuf holds here: " + own.why;
    }
    return decision;
  }
  if (own.answer != Answer::kYes) return {.why = "mode auto is safe here: " + own.why};
  // By name, so that the order of the manifest does not show in a file.
  for (const auto& [name, peer] : all.nodes) {
    const GpuReach reach = ReachOf(peer);
    if (reach.answer == Answer::kNo || reach.answer == Answer::kUntold) {
      return {.why = fmt::format("mode auto is safe here because of {}: {}", name, reach.why)};
    }
  }
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = all.nodes.find(node.name);
    const GpuReach reach = found != all.nodes.end()
                               ? ReachOf(found->second)
                               : GpuReach{Answer::kUnknown, "it was not read", {}};
    if (reach.answer == Answer::kYes) continue;
    return {.blocked = fmt::format("cannot tell what mode auto is, because of {}: {}", node.name,
                                   reach.why)};
  }
  return {.direct = true, .why = "mode auto is dmabuf here: " + own.why};
}

}  // namespace reconciler::plugins::nccl
