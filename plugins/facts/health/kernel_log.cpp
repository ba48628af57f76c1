#include "plugins/facts/health/kernel_log.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::health {
namespace {

constexpr double kMostSeconds = 1e9;
constexpr std::size_t kLongestLine = 300;

struct Sign {
  std::string_view text;
  std::string_view also;  // empty: nothing else
  KernelEventKind kind;
};

// The first that fits. mlx5's message about 27 W is no sign: healthy Sparks print it
// (https://github.com/NVIDIA/dgx-spark-playbooks/pull/108).
constexpr Sign kSigns[] = {
    {"[UFW BLOCK]", " SYN ", KernelEventKind::kFirewall},
    {"AER: ", "Uncorrect", KernelEventKind::kPcie},
    {"NVRM: Xid", "", KernelEventKind::kGpu},
    {"NV_ERR_NO_MEMORY", "", KernelEventKind::kGpuMemory},
    {"Out of memory: Killed process", "", KernelEventKind::kOutOfMemory},
    {"soft lockup", "", KernelEventKind::kLockup},
    {"hard LOCKUP", "", KernelEventKind::kLockup},
    {"mlx5_core", "compromised", KernelEventKind::kHca},
    {"mlx5_core", "Link down", KernelEventKind::kLinkDown},
};

bool Holds(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

std::optional<KernelEvent> ParseLine(std::string_view line, double uptime_s) {
  if (!line.starts_with('[')) return std::nullopt;
  line = Trim(line.substr(1));
  const auto time = ConsumeNumber<double>(line);
  if (!time || !(*time >= 0) || *time > kMostSeconds || !line.starts_with(']')) {
    return std::nullopt;
  }
  const std::string_view text = Trim(line.substr(1));
  const auto* sign = std::find_if(std::begin(kSigns), std::end(kSigns), [text](const Sign& one) {
    return Holds(text, one.text) && Holds(text, one.also);
  });
  if (sign == std::end(kSigns)) return std::nullopt;
  return KernelEvent{
      .kind = sign->kind,
      .age_s = static_cast<std::int64_t>(std::floor(std::max(uptime_s - *time, 0.0))),
      .text = MakePrintable(text.substr(0, kLongestLine))};
}

}  // namespace

std::vector<KernelEvent> ParseKernelLog(const std::vector<std::string>& lines, double uptime_s) {
  std::vector<KernelEvent> events;
  for (const std::string& line : lines) {
    if (auto event = ParseLine(line, uptime_s)) events.push_back(std::move(*event));
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const KernelEvent& a, const KernelEvent& b) { return a.age_s > b.age_s; });
  return events;
}

}  // namespace reconciler::plugins::health
