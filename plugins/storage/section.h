#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/base/error.h"
#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"

namespace reconciler::plugins::storage {

// One entry of the manifest's `storage`: a file system on a volume that a target has, and where it
// is mounted.
struct Volume {
  std::string mount = {};
  std::string nqn = {};
  std::string address = {};
  std::int64_t port = 4420;
  std::string uuid = {};   // of the file system; empty: `label` says which
  std::string label = {};  // likewise
  std::string filesystem = {};
  std::vector<std::string> options = {};
  bool read_only = false;
  std::optional<std::vector<NodeName>> nodes = std::nullopt;  // nullopt: all
  Position position = {};

  bool On(const NodeName& node) const;
  std::string Device() const;  // a link of /dev/disk, which stays whatever the device is called
};

// Whether a second node that writes to it destroys it.
bool NeedsOneWriter(const Volume& volume);
// One by its UUID and one by its label may be the same.
bool MayBeOneFileSystem(const Volume& a, const Volume& b);

std::vector<Volume> ReadVolumes(const ClusterSpec& cluster);
std::vector<Volume> ReadVolumes(const ClusterSpec& cluster, const NodeName& node);

Errors CheckStorage(const ClusterSpec& cluster, const Fabric& fabric);

}  // namespace reconciler::plugins::storage
