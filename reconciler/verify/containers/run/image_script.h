#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/transport/transport.h"
#include "reconciler/verify/containers/image_facts.h"

namespace reconciler {

// A POSIX shell script that starts one container of each image, one after the other, each within a
// limit, and looks into it. It has no network, and is gone at the end, however that comes; its name
// is "spark-reconcile-verify-RUN-I". The answer has a frame "image.I" per image, which ParseImage
// reads. No image is pulled.
std::string BuildImageScript(const std::vector<ImageProbe>& images, std::string_view nonce,
                             std::string_view run);

// What the script takes at most.
Milliseconds ComputeImageLimit(const std::vector<ImageProbe>& images);

// By image; one without an answer has the state kNoAnswer.
std::map<std::string, ImageFacts> ReadImages(const std::vector<ImageProbe>& images,
                                             const ScriptReply& reply, std::string_view nonce);

}  // namespace reconciler
