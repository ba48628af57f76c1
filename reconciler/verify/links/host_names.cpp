#include "reconciler/verify/links/host_names.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

Check MakeCheck(const NodeProbes& probes, const NameProbe& name, std::string_view addresses) {
  return {.level = VerifyLevel::kPing,
          .what = "host-name",
          .from = probes.from,
          .to = name.to,
          .rail = name.rail,
          .subject = name.name,
          .outcome = Outcome::kWarn,
          .symptom = Symptom::kHostNameWrong,
          .expected = fmt::format("{} has the address {} and no other", name.name, name.address),
          .measured = addresses.empty()
                          ? fmt::format("{} has no address", name.name)
                          : fmt::format("{} has {}", name.name, MakePrintable(addresses))};
}

}  // namespace

std::vector<Check> JudgeNames(const NodeProbes& probes, std::string_view found) {
  std::vector<Check> checks;
  for (const std::string& line : SplitLines(found)) {
    const std::size_t blank = line.find(' ');
    for (const NameProbe& name : probes.names) {
      if (line.substr(0, blank) != name.name) continue;
      const std::string addresses = blank == std::string::npos ? "" : line.substr(blank + 1);
      if (Trim(addresses) == name.address) continue;
      checks.push_back(MakeCheck(probes, name, Trim(addresses)));
    }
  }
  return checks;
}

}  // namespace reconciler
