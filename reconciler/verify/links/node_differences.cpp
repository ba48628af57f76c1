#include "reconciler/verify/links/node_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// What nodes have, by version, in node order of the manifest.
using NodesByVersion = std::vector<std::pair<std::string, std::vector<NodeName>>>;

void Add(NodesByVersion& versions, const std::string& version, const NodeName& node) {
  if (version.empty()) return;
  for (auto& [known, nodes] : versions) {
    if (known != version) continue;
    if (nodes.back() != node) nodes.push_back(node);
    return;
  }
  versions.push_back({version, {node}});
}

// The first node of the fewest with one version: it is the one that differs. Of as many, the first.
NodeName FindNodeThatDiffers(const NodesByVersion& versions) {
  const auto fewest = std::min_element(
      versions.begin(), versions.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  return fewest->second.front();
}

// "kernel: 6.11.0 on spark-1, spark-3; 6.17.0 on spark-2"
Check MakeDifference(std::string_view what, const NodesByVersion& versions) {
  std::vector<std::string> texts;
  for (const auto& [version, nodes] : versions) {
    texts.push_back(fmt::format("{} on {}", version, Join(nodes, ", ")));
  }
  return {.level = VerifyLevel::kFacts,
          .what = "versions",
          .from = FindNodeThatDiffers(versions),
          .subject = std::string(what),
          .outcome = Outcome::kWarn,
          .symptom = Symptom::kVersionsDiffer,
          .expected = fmt::format("one {} on all nodes of one kind", what),
          .measured = fmt::format("{}: {}", what, Join(texts, "; "))};
}

std::string FindKernel(const NodeFacts& facts) {
  const HostFact* host = Known(facts.host);
  return host != nullptr ? MakePrintable(host->kernel) : "";
}

std::string FindDriver(const NodeFacts& facts) {
  const NvidiaDriver* driver = Known(facts.gpudirect.driver);
  return driver != nullptr ? MakePrintable(driver->version) : "";
}

// Machines of one maker and model: "ASUSTeK/GX10".
std::string DescribeModel(const NodeFacts& facts) {
  const HostFact* host = Known(facts.host);
  return host != nullptr ? host->vendor + "/" + host->product : "";
}

std::string FindBios(const NodeFacts& facts) {
  const HostFact* host = Known(facts.host);
  return host != nullptr ? MakePrintable(host->bios) : "";
}

// Of the HCAs: "DMA-FQ", or several.
std::string FindIommu(const NodeFacts& facts) {
  std::set<std::string> modes;
  for (const auto& [name, hca] : facts.hcas) {
    if (!hca.iommu.empty()) modes.insert(MakePrintable(hca.iommu));
  }
  return Join({modes.begin(), modes.end()}, " and ");
}

}  // namespace

std::vector<Check> CheckDifferences(const ClusterSpec& cluster, const ClusterFacts& facts) {
  std::map<std::string, NodesByVersion> kernels;    // by hardware profile
  std::map<std::string, NodesByVersion> drivers;    // likewise
  std::map<std::string, NodesByVersion> firmwares;  // by board
  std::map<std::string, NodesByVersion> bioses;     // by maker and model
  std::map<std::string, NodesByVersion> iommus;     // likewise
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = facts.nodes.find(node.name);
    if (found == facts.nodes.end()) continue;
    Add(kernels[node.hardware], FindKernel(found->second), node.name);
    Add(drivers[node.hardware], FindDriver(found->second), node.name);
    Add(bioses[DescribeModel(found->second)], FindBios(found->second), node.name);
    Add(iommus[DescribeModel(found->second)], FindIommu(found->second), node.name);
    for (const auto& [name, hca] : found->second.hcas) {
      if (hca.board_id.empty()) continue;
      Add(firmwares[hca.board_id], MakePrintable(hca.firmware), node.name);
    }
  }
  std::vector<Check> checks;
  for (const auto& [what, kinds] :
       {std::pair("kernel", &kernels), std::pair("NVIDIA driver", &drivers),
        std::pair("HCA firmware", &firmwares), std::pair("BIOS", &bioses),
        std::pair("IOMMU mode", &iommus)}) {
    for (const auto& [kind, versions] : *kinds) {
      if (versions.size() > 1) checks.push_back(MakeDifference(what, versions));
    }
  }
  return checks;
}

}  // namespace reconciler
