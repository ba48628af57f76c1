#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/containers/nccl_versions.h"

namespace reconciler {

// An image of the manifest's `checks` that a node is to start a container of.
struct ImageProbe {
  std::string image = {};
  std::vector<std::string> flags = {};  // of `docker run`, one word each
};

// The images of the manifest's `checks` for that node, each once, without flags.
std::vector<ImageProbe> ListImages(const ClusterSpec& cluster, const NodeSpec& node);

// What FormatDockerFlags printed, as words, for a container that needs no network.
std::vector<std::string> SplitImageFlags(std::string_view flags);

enum class ImageState {
  kNoAnswer,  // the script ended before
  kNoDocker,
  kMissing,  // the image is not on the node
  kNotRead,  // docker does not answer, or the container did not start or end as it should
  kRead,
};

// What a container of an image has on a node.
struct ImageFacts {
  ImageState state = ImageState::kNoAnswer;
  std::string why = {};                   // of kNotRead
  std::vector<std::string> said = {};     // by docker, a few lines
  std::string id = {};                    // of the image: "sha256:…"
  std::vector<std::string> devices = {};  // of /dev/infiniband, which it can open
  std::vector<std::string> refused = {};  // which are there, and it cannot
  std::optional<MemoryLimit> memlock = {};
  std::string library = {};  // the path of its libnccl, or of nccl.h; empty: neither was found
  ContainerNccl nccl = {};
};

// Of the answer of check_image in images.sh, both streams.
ImageFacts ParseImage(std::string_view out, std::string_view err);

}  // namespace reconciler
