#include "reconciler/verify/links/run/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

std::vector<std::string> ListWords(std::string_view line) {
  std::vector<std::string> words = Split(line, ' ');
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

using MacByAddress = std::map<std::pair<std::string, std::string>, std::string>;

// "192.168.177.2 dev enp1s0f1np1 lladdr 4c:bb:47:01:02:03 REACHABLE", by interface and address.
MacByAddress ParseNeighbours(std::string_view text) {
  constexpr std::string_view kConfirmed[] = {"REACHABLE", "DELAY", "PROBE"};
  MacByAddress macs;
  for (const std::string& line : SplitLines(text)) {
    const std::vector<std::string> words = ListWords(line);
    const auto find_after = [&words](std::string_view key) {
      const auto found = std::find(words.begin(), words.end(), key);
      return found == words.end() || found + 1 == words.end() ? std::string() : *(found + 1);
    };
    if (words.empty()) continue;
    const std::string netdev = find_after("dev");
    const std::string mac = find_after("lladdr");
    if (netdev.empty() || mac.empty()) continue;
    if (std::find(std::begin(kConfirmed), std::end(kConfirmed), words.back()) ==
        std::end(kConfirmed)) {
      continue;
    }
    macs[{netdev, words.front()}] = MakePrintable(ToLower(mac));
  }
  return macs;
}

}  // namespace

std::vector<Check> JudgeNeighbours(const NodeProbes& probes, std::string_view text) {
  const MacByAddress macs = ParseNeighbours(text);
  std::vector<Check> checks;
  for (const PingProbe& ping : probes.pings) {
    const auto found = macs.find({ping.netdev, ping.address});
    if (ping.mac.empty() || found == macs.end() || found->second == ping.mac) continue;
    const auto owner = probes.ports_by_mac.find(found->second);
    const bool is_known = owner != probes.ports_by_mac.end();
    const bool is_of_peer = is_known && owner->second.node == ping.to;
    checks.push_back(
        {.level = VerifyLevel::kPing,
         .what = "neighbour",
         .from = probes.from,
         .to = ping.to,
         .rail = ping.rail,
         // The peer's other port may lead to the same place; what it costs, RDMA shows.
         .outcome = is_of_peer ? Outcome::kWarn : Outcome::kFail,
         .symptom = is_of_peer ? Symptom::kNeighbourOtherPort : Symptom::kNeighbourWrong,
         .expected =
             fmt::format("the port of {} answers for {} ({})", ping.to, ping.address, ping.mac),
         .measured =
             is_known ? fmt::format("{} answers, which is {} of {}", found->second,
                                    MakePrintable(owner->second.netdev), owner->second.node)
                      : fmt::format("{} answers, which is no port of these nodes", found->second)});
  }
  return checks;
}

}  // namespace reconciler
