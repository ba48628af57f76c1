#include "reconciler/verify/finding/cause.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/model/hardware.h"
#include "reconciler/verify/finding/join.h"

namespace reconciler {

bool HasMeasuredNothing(std::string_view code) {
  static constexpr std::string_view kCodes[] = {"no-program",      "no-program-for-machine",
                                                "no-gpu",          "no-libibverbs",
                                                "no-libcuda",      "no-libnccl",
                                                "old-nccl",        "busy",
                                                "memory",          "lost",
                                                "controller-gone", "protocol",
                                                "deadline-start"};
  return std::find(std::begin(kCodes), std::end(kCodes), code) != std::end(kCodes);
}

void AddFinding(const Check& check, Cause cause, std::vector<Finding>& findings) {
  Finding finding{.code = std::move(cause.code),
                  .outcome = check.outcome,
                  .level = check.level,
                  .nodes = std::move(cause.nodes),
                  .expected = check.expected,
                  .measured = check.measured.empty() ? check.why : check.measured,
                  .evidence = check.evidence,
                  .cause = std::move(cause.cause),
                  .next_step = std::move(cause.next_step),
                  .explains = 1};
  if (const std::optional<int> rail = cause.rail ? cause.rail : check.rail) {
    finding.rails.insert(*rail);
  }
  JoinFinding(std::move(finding), findings);
}

std::optional<Cause> ExplainNarrowPcie(const NodeName& node, const std::string& hca,
                                       const std::string& hardware,
                                       const spark_verify::Limits& limits) {
  constexpr int kLanes = 4;
  if (limits.pcie_width <= 0 || limits.pcie_width >= kLanes || limits.pcie_max_width < kLanes) {
    return std::nullopt;
  }
  return Cause{"pcie-width",
               {node},
               fmt::format("{} of {} runs at PCIe x{} where it could x{}", hca, node,
                           limits.pcie_width, kLanes),
               AdviseOnPcieLanes(node, hardware)};
}

// https://forums.developer.nvidia.com/t/367853 has the BIOS.
std::string AdviseOnPcieLanes(const NodeName& node, const std::string& hardware) {
  if (hardware == kDefaultHardware) {
    return fmt::format(
        "update the BIOS of {} (fwupdmgr update; before 2026-04 some wired the second function "
        "with two lanes), then take its power away for a minute",
        node);
  }
  return fmt::format(
      "reseat the card of {}, or put it into a slot with more lanes; some slots share theirs with "
      "another one, which the BIOS sets",
      node);
}

}  // namespace reconciler
