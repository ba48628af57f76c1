#include "reconciler/verify/links/host_names.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

Check MakeCheck(const NodeProbes& probes, const NameProbe& name) {
  return {.level = VerifyLevel::kFacts,
          .what = "host-name",
          .from = probes.from,
          .subject = name.name,
          .expected = fmt::format("{} has the address {} and no other", name.name, name.address)};
}

// nullopt: the name has its one address, be it by several lines.
std::optional<Check> JudgeName(const NodeProbes& probes, const NameProbe& name,
                               std::string_view found) {
  std::vector<std::string> addresses = Split(std::string(found), ' ');
  std::erase(addresses, "");
  std::erase(addresses, name.address);
  Check check = MakeCheck(probes, name);
  if (found == "?") {
    check.outcome = Outcome::kSkipped;
    check.why = "getent gave no answer, or none within its time limit";
    return check;
  }
  if (addresses.empty() && !found.empty()) return std::nullopt;
  check.outcome = Outcome::kWarn;
  check.symptom = Symptom::kHostNameWrong;
  constexpr std::size_t kWidth = 200;
  check.measured =
      found.empty() ? fmt::format("{} has no address", name.name)
                    : fmt::format("{} has {}", name.name, MakePrintable(found.substr(0, kWidth)));
  return check;
}

}  // namespace

std::vector<Check> JudgeNames(const NodeProbes& probes, std::string_view found) {
  std::map<std::string, std::string> by_name;
  for (const std::string& line : SplitLines(found)) {
    const std::size_t blank = line.find(' ');
    by_name[line.substr(0, blank)] =
        blank == std::string::npos ? "" : std::string(Trim(line.substr(blank + 1)));
  }
  std::vector<Check> checks;
  for (const NameProbe& name : probes.names) {
    const auto answer = by_name.find(name.name);
    if (answer == by_name.end()) continue;
    if (auto check = JudgeName(probes, name, answer->second)) checks.push_back(std::move(*check));
  }
  return checks;
}

}  // namespace reconciler
