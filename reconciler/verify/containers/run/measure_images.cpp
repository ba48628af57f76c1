#include "reconciler/verify/containers/run/measure_images.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "reconciler/verify/containers/judge_images.h"
#include "reconciler/verify/containers/run/image_script.h"

namespace reconciler {
namespace {

struct Looked {
  std::vector<ImageProbe> images = {};
  std::map<std::string, ImageFacts> facts = {};
  std::vector<Check> unread = {};  // not empty: instead of the facts
};

std::string DescribeError(const NodeName& node, const Error& error) {
  return fmt::format("{}: {}", node, MakePrintable(error.message));
}

void Look(const NodeSpec& node, NodePool& pool, const ImageFlags& flags, Looked& looked) {
  const auto leave_out = [&](Outcome outcome, Symptom symptom, const std::string& why) {
    looked.unread = MakeUnreadImageChecks(node.name, looked.images, outcome, symptom, why);
  };
  if (flags) {
    const auto text = flags(node);
    if (!text) {
      return leave_out(
          Outcome::kSkipped, Symptom::kNone,
          "the flags of a container are not known: " + MakePrintable(text.error().message));
    }
    for (ImageProbe& image : looked.images) image.flags = SplitImageFlags(*text);
  }
  // A container's name is seen by others, the nonce of the answer must not be.
  const std::string nonce = MakeNonce();
  const std::string run = MakeNonce().substr(0, 12);
  const auto reply =
      pool.Run(node, BuildImageScript(looked.images, nonce, run), ComputeImageLimit(looked.images));
  if (!reply) {
    return leave_out(Outcome::kCouldNotMeasure, Symptom::kNoAnswer,
                     DescribeError(node.name, reply.error()));
  }
  looked.facts = ReadImages(looked.images, *reply, nonce);
}

}  // namespace

std::vector<Check> MeasureImages(const ClusterSpec& cluster, const Fabric& fabric,
                                 const ClusterFacts& facts, NodePool& pool, const ImageFlags& flags,
                                 const std::map<NodeName, std::string>& unreachable) {
  std::map<NodeName, Looked> looked;  // every key is made here: threads only fill in values
  std::vector<const NodeSpec*> queried;
  for (const NodeSpec& node : cluster.nodes) {
    std::vector<ImageProbe> images = ListImages(cluster, node);
    if (images.empty()) continue;
    Looked& own = looked[node.name] = {.images = std::move(images)};
    if (unreachable.contains(node.name)) {
      own.unread = MakeUnreadImageChecks(node.name, own.images, Outcome::kCouldNotMeasure,
                                         Symptom::kNodeUnreachable,
                                         fmt::format("{} could not be reached", node.name));
    } else {
      queried.push_back(&node);
    }
  }
  const NodeErrors thrown = ForEachNode(queried, pool.at_once(), [&](const NodeSpec& node) {
    Look(node, pool, flags, looked.at(node.name));
  });
  for (const auto& [name, error] : thrown) {
    Looked& own = looked.at(name);
    own.unread = MakeUnreadImageChecks(name, own.images, Outcome::kCouldNotMeasure,
                                       Symptom::kNoAnswer, DescribeError(name, error));
  }
  ImagesByNode images;
  std::vector<Check> checks;
  for (auto& [name, own] : looked) {
    if (own.unread.empty()) images[name] = std::move(own.facts);
    std::move(own.unread.begin(), own.unread.end(), std::back_inserter(checks));
  }
  std::vector<Check> judged = CheckImages(cluster, fabric, facts, images);
  std::move(judged.begin(), judged.end(), std::back_inserter(checks));
  return checks;
}

}  // namespace reconciler
