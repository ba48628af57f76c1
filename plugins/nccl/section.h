#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/nccl/build/build.h"
#include "reconciler/model/cluster_spec.h"

namespace reconciler::plugins::nccl {

enum class Mode { kAuto, kSafe, kDmabuf };

std::string_view ToString(Mode mode);

struct ManifestVariable {
  std::string name = {};
  std::string value = {};
  Position position = {};  // of the name
};

// The manifest's `nccl`.
struct Section {
  Mode mode = Mode::kAuto;
  Position position = {};
  std::vector<ManifestVariable> env = {};  // sorted by name
  std::optional<std::int64_t> gid_index = std::nullopt;
  std::string library = {};          // empty: what the loader's cache names
  std::string package_version = {};  // of `library: package VERSION`; empty: it names no package
  std::optional<NcclSource> build = std::nullopt;

  const ManifestVariable* FindVariable(std::string_view name) const;
};

// nullopt: the manifest has none, so that nothing about NCCL is ours.
std::optional<Section> ReadSection(const Member* nccl);
// As it holds for a node.
std::optional<Section> ReadSection(const ClusterSpec& cluster, std::string_view node);

}  // namespace reconciler::plugins::nccl
