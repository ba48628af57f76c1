#pragma once

#include <concepts>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

// A variable that some file of a node sets, other than ours.
struct NcclSetting {
  std::string path;
  int line = 0;
  std::string name;  // as NCCL takes it: a line of nccl.conf may begin with "export "
  std::string value;

  bool InConf() const { return path.ends_with("nccl.conf"); }
  bool operator==(const NcclSetting&) const = default;
};

template <std::same_as<NcclSetting> T>
constexpr auto Describe(const T*) {
  return MakeDescription("nccl_setting", "A line of a file that sets a variable of NCCL.",
                         Field{"path", &T::path, "The file."},
                         Field{"line", &T::line, "Counted from 1."},
                         Field{"name", &T::name, "The variable, as NCCL reads it."},
                         Field{"value", &T::value, "Its value."});
}

// The libnccl that programs on a node load, and what it knows: variable names are plain strings
// in it, which holds for forks and patched builds too, where a version number lies.
struct NcclLibrary {
  std::string path;
  std::string version;          // "2.28.9"; empty: it does not say
  std::set<std::string> names;  // every NCCL_… in it, a few of which are no variables

  bool Knows(const std::string& name) const { return names.contains(name); }
  bool operator==(const NcclLibrary&) const = default;
};

template <std::same_as<NcclLibrary> T>
constexpr auto Describe(const T*) {
  return MakeDescription("nccl_library", "The libnccl that programs load.",
                         Field{"path", &T::path, "The file."},
                         Field{"version", &T::version, "Such as 2.28.9; empty: it does not say."},
                         Field{"names", &T::names, "Every NCCL_… in it, sorted."});
}

struct PinnedGid {
  Fact<std::string> gid;
  Fact<std::string> type;
  bool operator==(const PinnedGid&) const = default;
};

template <std::same_as<PinnedGid> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "pinned_gid", "The place of an HCA's table that the manifest pins.",
      Field{"gid", &T::gid, "Eight groups of four hexadecimal digits."},
      Field{"type", &T::type, "RoCE v2 or IB/RoCE v1; absent in an empty place."});
}

// What a build of NCCL on the node needs, and what was built there. Read only where the manifest
// has one.
struct NcclBuilds {
  std::set<std::string> tools;
  std::string architecture;
  std::map<std::string, std::string> built;
  bool operator==(const NcclBuilds&) const = default;
};

template <std::same_as<NcclBuilds> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "nccl_builds", "What a build of NCCL on the node needs, and what was built there.",
      Field{"tools", &T::tools, "Of git, make, g++ and nvcc those that are there."},
      Field{"architecture", &T::architecture, "Of the GPU, as nvcc has it: 121. Empty: no GPU."},
      Field{"built", &T::built, "By folder: tag, URL and architecture."});
}

struct NcclFacts {
  Fact<std::vector<NcclSetting>> settings;
  Fact<NcclLibrary> library;
  std::map<std::string, std::string> hcas;
  std::map<std::string, PinnedGid> gids;
  Fact<std::vector<NcclSetting>> others;
  Fact<NcclBuilds> builds;
  bool operator==(const NcclFacts&) const = default;
};

template <std::same_as<NcclFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "nccl", "What is read about NCCL.",
      Field{"settings", &T::settings, "What files of others set, as they are read."},
      Field{"library", &T::library, "absent: there is none."},
      Field{"hcas", &T::hcas, "By interface: its HCA.", FieldRule::kLeftOut},
      Field{"gids", &T::gids, "By HCA.", FieldRule::kLeftOut},
      Field{"others", &T::others,
            "Variables by which UCX, Open MPI and Gloo choose interfaces, in files of others."},
      Field{"builds", &T::builds, "Read only where the manifest has NCCL built."});
}

}  // namespace reconciler
