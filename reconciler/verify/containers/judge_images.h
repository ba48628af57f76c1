#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/verify/containers/image_facts.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// By node and image.
using ImagesByNode = std::map<NodeName, std::map<std::string, ImageFacts>>;

// Checks of what containers of the images have on each node, beside the node itself: RDMA devices,
// locked memory and libnccl. Then a warning for each image whose libnccl differs between nodes.
std::vector<Check> CheckImages(const ClusterSpec& cluster, const Fabric& fabric,
                               const ClusterFacts& facts, const ImagesByNode& images);

// The checks of a node that was not queried: one for each image, about the node, with that outcome.
std::vector<Check> MakeUnreadImageChecks(const NodeName& node,
                                         const std::vector<ImageProbe>& images, Outcome outcome,
                                         Symptom symptom, const std::string& why);

}  // namespace reconciler
