#include "reconciler/verify/links/port_errors.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using Counters = std::map<std::string, std::uint64_t>;  // by name

std::map<std::string, Counters> ParseCountersByNetdev(std::string_view text) {
  std::map<std::string, Counters> ports;
  for (const std::string& line : SplitLines(text)) {
    const std::vector<std::string> words = Split(line, ' ');
    if (words.size() != 3) continue;
    if (const auto number = ParseNumber<std::uint64_t>(words[2]))
      ports[words[0]][words[1]] = *number;
  }
  return ports;
}

// A counter that fell was set back, or is one of 32 bits that began again.
std::vector<std::string> ListGrownCounters(const Counters& before, const Counters& after) {
  std::vector<std::string> texts;
  for (const auto& [name, now] : after) {
    const auto then = before.find(name);
    if (then == before.end() || now <= then->second) continue;
    texts.push_back(
        fmt::format("{} grew by {} to {}", MakePrintable(name), now - then->second, now));
  }
  return texts;
}

}  // namespace

std::vector<Check> JudgeErrors(const NodeProbes& probes, std::string_view before,
                               std::string_view after) {
  const auto earlier = ParseCountersByNetdev(before);
  const auto later = ParseCountersByNetdev(after);
  std::map<int, std::string> netdevs;  // by rail
  for (const PingProbe& ping : probes.pings) netdevs.try_emplace(ping.rail, ping.netdev);
  std::vector<Check> checks;
  for (const auto& [rail, netdev] : netdevs) {
    const auto then = earlier.find(netdev);
    const auto now = later.find(netdev);
    if (then == earlier.end() || now == later.end()) continue;
    Check check{.level = VerifyLevel::kFacts,
                .what = "errors",
                .from = probes.from,
                .rail = rail,
                .expected = fmt::format("no error counter of {} grows while verify runs", netdev)};
    const std::vector<std::string> grown = ListGrownCounters(then->second, now->second);
    check.measured = grown.empty() ? "none grew" : Join(grown, ", ");
    if (!grown.empty()) {
      check.outcome = Outcome::kWarn;
      check.symptom = Symptom::kErrorsGrew;
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace reconciler
