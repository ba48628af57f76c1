#include "reconciler/verify/containers/run/image_script.h"

#include <fmt/format.h>

#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "reconciler/verify/containers/run/images.sh.h"
#include "reconciler/verify/containers/run/inside.sh.h"

namespace reconciler {
namespace {

constexpr int kLimitS = 60;  // a container of an image of 20 GB that was not used since the boot
constexpr int kKillAfterS = 2;
constexpr int kCalls = 5;    // of docker, at most, for one image
constexpr int kSlackS = 15;  // login shell, process starts on a busy machine

std::string NameFrame(std::size_t i) { return fmt::format("image.{}", i); }

}  // namespace

std::string BuildImageScript(const std::vector<ImageProbe>& images, std::string_view nonce,
                             std::string_view run) {
  std::string calls;
  for (std::size_t i = 0; i < images.size(); ++i) {
    std::vector<std::string> words = {"check_image", std::to_string(i),
                                      fmt::format("spark-reconcile-verify-{}-{}", run, i),
                                      images[i].image};
    words.insert(words.end(), images[i].flags.begin(), images[i].flags.end());
    calls += JoinForShell(words) + "\n";
  }
  return BuildScriptPreamble(nonce) +
         AssignForShell({{"INSIDE", kInsideSh},
                         {"LIMIT", std::to_string(kLimitS)},
                         {"KILL_AFTER", std::to_string(kKillAfterS)}}) +
         std::string(kImagesSh) + calls;
}

Milliseconds ComputeImageLimit(const std::vector<ImageProbe>& images) {
  const int each = kCalls * (kLimitS + kKillAfterS) + 1;
  return std::chrono::seconds(kSlackS + static_cast<int>(images.size()) * each);
}

std::map<std::string, ImageFacts> ReadImages(const std::vector<ImageProbe>& images,
                                             const ScriptReply& reply, std::string_view nonce) {
  std::map<std::string, ImageFacts> facts;
  for (const ImageProbe& probe : images) facts[probe.image] = {};
  for (const Frame& frame : ParseFrames(reply, nonce)) {
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (frame.label == NameFrame(i)) facts[images[i].image] = ParseImage(frame.out, frame.err);
    }
  }
  return facts;
}

}  // namespace reconciler
