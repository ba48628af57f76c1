#include "reconciler/verify/links/known_bad.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

const HostFact& GetHost(const NodeFacts& facts) {
  static const HostFact kNone = {};
  const HostFact* host = Known(facts.host);
  return host != nullptr ? *host : kNone;
}

// MSI's EdgeXpert: with older firmware the second function runs at Gen1 or the pair at half its
// speed.
constexpr std::string_view kMsiFirmware = "28.45.4028";

std::string FindOldMsiFirmware(const NodeFacts& facts) {
  const std::string& vendor = GetHost(facts).vendor;
  if (!vendor.starts_with("Micro-Star") && vendor != "MSI") return {};
  for (const auto& [name, hca] : facts.hcas) {
    if (IsOlderVersion(hca.firmware, kMsiFirmware)) return hca.firmware;
  }
  return {};
}

// "GX10DGX.0103.2026.0129.1152": the day that it was made on as year * 10000 + month * 100 + day.
// 0: the name has no such form.
int ReadAsusBiosDay(std::string_view bios) {
  const std::vector<std::string> parts = Split(bios, '.');
  if (parts.size() < 4) return 0;
  const auto year = ParseNumber<int>(parts[2]);
  const auto day = ParseNumber<int>(parts[3]);
  return year && day && *year < 10000 && *day < 1300 ? *year * 10000 + *day : 0;
}

// Its second controller has two lanes; versions from April 2026 on give it four.
std::string FindOldAsusBios(const NodeFacts& facts) {
  constexpr int kFixed = 2026'04'01;
  const HostFact& host = GetHost(facts);
  const bool is_gx10 =
      host.vendor.starts_with("ASUS") && host.product.find("GX10") != std::string::npos;
  const int day = ReadAsusBiosDay(host.bios);
  return is_gx10 && day > 0 && day < kFixed ? host.bios : "";
}

// Blackwell needs the open modules.
std::string FindClosedDriver(const NodeFacts& facts) {
  const NvidiaDriver* driver = Known(facts.gpudirect.driver);
  const bool is_spark = GetHost(facts).product.find("Spark") != std::string::npos;
  return is_spark && driver != nullptr && !driver->open ? driver->version : "";
}

// Scratch memory of kexec handover is counted as contiguous memory: with `kho=off`, and on 6.17,
// it is not.
std::string FindHandoverKernel(const NodeFacts& facts) {
  const std::string& kernel = GetHost(facts).kernel;
  const CmaMemory* cma = Known(facts.rdma.cma);
  if (cma == nullptr || cma->free_kib <= cma->total_kib) return {};
  static constexpr std::string_view kKernels[] = {"7.0.0-1019-nvidia", "7.0.0-30-", "7.0.0-31-"};
  const bool is_known = std::any_of(std::begin(kKernels), std::end(kKernels),
                                    [&](std::string_view one) { return kernel.starts_with(one); });
  return is_known ? kernel : "";
}

struct KnownBad {
  std::string_view what;
  std::string (*find)(const NodeFacts&);  // the version; empty: the node has not this one
  std::string_view wanted;
  std::string_view source;
};

constexpr KnownBad kList[] = {
    {"HCA firmware", FindOldMsiFirmware, "28.45.4028 or later on MSI's machines",
     "https://forums.developer.nvidia.com/t/368025"},
    {"BIOS", FindOldAsusBios, "a version from April 2026 or later on ASUS GX10",
     "https://forums.developer.nvidia.com/t/367853"},
    {"NVIDIA driver", FindClosedDriver, "the open kernel modules",
     "https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/"},
    {"kernel", FindHandoverKernel, "kernel 6.17, or `kho=off` on the kernel's command line",
     "https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1358"},
};

}  // namespace

bool IsOlderVersion(std::string_view version, std::string_view other) {
  const std::vector<std::string> ours = Split(version, '.');
  const std::vector<std::string> theirs = Split(other, '.');
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    const auto a = ParseNumber<int>(ours[i]);
    const auto b = ParseNumber<int>(theirs[i]);
    if (!a || !b) return false;
    if (*a != *b) return *a < *b;
  }
  return false;
}

std::vector<Check> CheckKnownBad(const ClusterSpec& cluster, const ClusterFacts& facts) {
  std::vector<Check> checks;
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = facts.nodes.find(node.name);
    if (found == facts.nodes.end()) continue;
    for (const KnownBad& one : kList) {
      const std::string version = one.find(found->second);
      if (version.empty()) continue;
      checks.push_back({.level = VerifyLevel::kFacts,
                        .what = "known-versions",
                        .from = node.name,
                        .subject = std::string(one.what),
                        .outcome = Outcome::kWarn,
                        .symptom = Symptom::kKnownBad,
                        .expected = std::string(one.wanted),
                        .measured = fmt::format("{} {}", one.what, MakePrintable(version)),
                        .evidence = {fmt::format("reported at {}", one.source)}});
    }
  }
  return checks;
}

}  // namespace reconciler
