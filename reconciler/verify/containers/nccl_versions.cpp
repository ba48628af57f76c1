#include "reconciler/verify/containers/nccl_versions.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"
#include "reconciler/verify/links/known_bad.h"

namespace reconciler {

std::string FindWantedNccl(const Fabric& fabric, const NodeFacts& facts,
                           const ContainerNccl& found) {
  if (CagesDiffer(fabric) && !found.pairs_by_subnet) {
    return "NCCL 2.30.7 or later, or a build patched for it: it pairs HCAs by subnet";
  }
  const NcclLibrary* host = Known(facts.nccl.library);
  if (host == nullptr || !IsOlderVersion(found.version, host->version)) return {};
  return fmt::format("NCCL {} or later, which programs on the node load",
                     MakePrintable(host->version));
}

std::string FormatNodesByNccl(const NodesByNccl& nodes) {
  std::vector<std::string> texts;
  for (const auto& [version, names] : nodes) {
    texts.push_back(fmt::format("{} on {}", version, Join(names, ", ")));
  }
  return "NCCL " + Join(texts, "; ");
}

}  // namespace reconciler
