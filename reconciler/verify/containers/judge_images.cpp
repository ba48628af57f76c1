#include "reconciler/verify/containers/judge_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/verify/containers/nccl_versions.h"

namespace reconciler {
namespace {

// Enough for what NCCL registers, as for logins.
constexpr std::int64_t kLeastMemlock = std::int64_t{1} << 30;

Check MakeCheck(const NodeName& node, const std::string& image, std::string what,
                std::string expected) {
  return {.level = VerifyLevel::kFacts,
          .what = std::move(what),
          .from = node,
          .subject = image,
          .expected = std::move(expected)};
}

Check MakeImageCheck(const NodeName& node, const std::string& image) {
  return MakeCheck(node, image, "image", "docker starts a container of the image");
}

void Warn(Check& check, Symptom symptom) {
  check.outcome = Outcome::kWarn;
  check.symptom = symptom;
}

void Skip(Check& check, std::string why) {
  check.outcome = Outcome::kSkipped;
  check.why = std::move(why);
}

// What keeps the image from being looked into. No docker or image there is no fault: the manifest
// may name images for nodes that fetch them later.
std::vector<Check> CheckUnread(const NodeName& node, const std::string& image,
                               const ImageFacts& found) {
  Check check = MakeImageCheck(node, image);
  switch (found.state) {
    case ImageState::kRead:
      return {};
    case ImageState::kNoAnswer:
      check.outcome = Outcome::kCouldNotMeasure;
      check.symptom = Symptom::kNoAnswer;
      check.why = "the script ended without an answer for this";
      break;
    case ImageState::kNoDocker:
      Skip(check, "docker is not installed");
      break;
    case ImageState::kMissing:
      Skip(check, fmt::format("the image is not there: `docker pull {}` brings it", image));
      break;
    case ImageState::kNotRead:
      Warn(check, Symptom::kImageNotStarted);
      check.measured = found.why;
      check.evidence = found.said;
      break;
  }
  return {std::move(check)};
}

// Those of the node that programs there can use.
std::set<std::string> ListUverbs(const NodeFacts& facts) {
  std::set<std::string> files;
  if (const auto* known = Known(facts.health.device_files)) {
    for (const DeviceFile& file : *known) {
      if (file.path.find("/uverbs") != std::string::npos) files.insert(file.path);
    }
  }
  return files;
}

// Nothing where the node itself has none.
void CheckDevices(const NodeFacts& facts, const std::string& image, const ImageFacts& found,
                  std::vector<Check>& checks) {
  const std::set<std::string> wanted = ListUverbs(facts);
  if (wanted.empty()) return;
  Check check =
      MakeCheck(facts.node, image, "image-devices",
                fmt::format("a container can open {}", Join({wanted.begin(), wanted.end()}, ", ")));
  std::vector<std::string> faults;
  for (const std::string& file : wanted) {
    const auto has = [&](const std::vector<std::string>& files) {
      return std::find(files.begin(), files.end(), file) != files.end();
    };
    if (has(found.refused)) {
      faults.push_back(fmt::format("it cannot open {}", file));
    } else if (!has(found.devices)) {
      faults.push_back(fmt::format("it has no {}", file));
    }
  }
  check.measured = faults.empty() ? "it can" : Join(faults, ", ");
  if (!faults.empty()) Warn(check, Symptom::kImageNoInfiniband);
  checks.push_back(std::move(check));
}

void CheckMemlock(const NodeName& node, const std::string& image, const ImageFacts& found,
                  std::vector<Check>& checks) {
  Check check =
      MakeCheck(node, image, "image-memlock", "at least 1 GiB of memory that a container may lock");
  if (!found.memlock) {
    Skip(check, "the shell of the image does not print its limit");
  } else {
    check.measured = found.memlock->IsUnlimited()
                         ? "unlimited"
                         : fmt::format("{} KiB", found.memlock->bytes / 1024);
    if (found.memlock->bytes < kLeastMemlock) Warn(check, Symptom::kImageMemlock);
  }
  checks.push_back(std::move(check));
}

void CheckNccl(const Fabric& fabric, const NodeFacts& facts, const std::string& image,
               const ImageFacts& found, std::vector<Check>& checks) {
  Check check = MakeCheck(facts.node, image, "image-nccl",
                          "a libnccl as new as the fabric and the node need");
  if (found.nccl.version.empty()) {
    Skip(check, found.library.empty() ? "no libnccl.so.2 and no nccl.h was found in the image"
                                      : fmt::format("{} reports no version", found.library));
  } else {
    check.measured = fmt::format("NCCL {} ({})", found.nccl.version, found.library);
    std::string wanted = FindWantedNccl(fabric, facts, found.nccl);
    if (!wanted.empty()) {
      check.expected = std::move(wanted);
      Warn(check, Symptom::kImageNcclOld);
    }
  }
  checks.push_back(std::move(check));
}

void CheckVersions(const ClusterSpec& cluster, const ImagesByNode& images,
                   std::vector<Check>& checks) {
  std::map<std::string, NodesByNccl> versions;          // by image
  std::map<std::string, std::vector<std::string>> ids;  // likewise
  std::map<std::string, NodeName> first;                // likewise
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = images.find(node.name);
    if (found == images.end()) continue;
    for (const auto& [image, facts] : found->second) {
      if (facts.state != ImageState::kRead || facts.nccl.version.empty()) continue;
      versions[image][facts.nccl.version].push_back(node.name);
      first.try_emplace(image, node.name);
      ids[image].push_back(fmt::format("{} on {}", facts.id, node.name));
    }
  }
  for (const auto& [image, by_version] : versions) {
    if (by_version.size() < 2) continue;
    Check check = MakeCheck(first.at(image), image, "image-nccl-versions",
                            "one NCCL in the image on all nodes");
    Warn(check, Symptom::kImageNcclDiffers);
    check.measured = FormatNodesByNccl(by_version);
    check.evidence = {"the image is " + Join(ids.at(image), ", ")};
    checks.push_back(std::move(check));
  }
}

}  // namespace

std::vector<Check> CheckImages(const ClusterSpec& cluster, const Fabric& fabric,
                               const ClusterFacts& facts, const ImagesByNode& images) {
  std::vector<Check> checks;
  for (const NodeSpec& node : cluster.nodes) {
    const auto found = images.find(node.name);
    const auto own = facts.nodes.find(node.name);
    if (found == images.end() || own == facts.nodes.end()) continue;
    for (const auto& [image, image_facts] : found->second) {
      for (Check& check : CheckUnread(node.name, image, image_facts)) {
        checks.push_back(std::move(check));
      }
      if (image_facts.state != ImageState::kRead) continue;
      CheckDevices(own->second, image, image_facts, checks);
      CheckMemlock(node.name, image, image_facts, checks);
      CheckNccl(fabric, own->second, image, image_facts, checks);
    }
  }
  CheckVersions(cluster, images, checks);
  return checks;
}

std::vector<Check> MakeUnreadImageChecks(const NodeName& node,
                                         const std::vector<ImageProbe>& images, Outcome outcome,
                                         Symptom symptom, const std::string& why) {
  std::vector<Check> checks;
  for (const ImageProbe& image : images) {
    Check check = MakeImageCheck(node, image.image);
    check.outcome = outcome;
    check.symptom = symptom;
    check.why = why;
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace reconciler
