#pragma once

#include <concepts>
#include <map>
#include <string>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

struct StorageMount {
  std::string source;
  std::string type;
  std::string options;
  bool operator==(const StorageMount&) const = default;
};

template <std::same_as<StorageMount> T>
constexpr auto Describe(const T*) {
  return MakeDescription("storage_mount", "What is mounted at a path.",
                         Field{"source", &T::source, "The device."},
                         Field{"type", &T::type, "The file system."},
                         Field{"options", &T::options, "As the kernel shows them."});
}

struct StorageUnit {
  std::string unit_file;
  std::string active;
  bool operator==(const StorageUnit&) const = default;
};

template <std::same_as<StorageUnit> T>
constexpr auto Describe(const T*) {
  return MakeDescription("storage_unit", "What systemd says about a unit of ours.",
                         Field{"unit_file", &T::unit_file, "enabled, disabled; empty: no file."},
                         Field{"active", &T::active, "active, inactive, activating, failed."});
}

struct StorageFacts {
  Fact<bool> nvme_cli;
  Fact<bool> module;
  std::map<std::string, std::string> subsystems;
  std::map<std::string, std::string> devices;
  std::map<std::string, StorageMount> mounts;
  std::map<std::string, std::string> writable;
  std::map<std::string, StorageUnit> units;
  bool operator==(const StorageFacts&) const = default;
};

template <std::same_as<StorageFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "storage", "Volumes by NVMe over TCP that the manifest names.",
      Field{"nvme_cli", &T::nvme_cli, "Whether the node has the program nvme."},
      Field{"module", &T::module, "Whether the kernel has nvme-tcp, loaded or not."},
      Field{"subsystems", &T::subsystems, "By NQN: live, connecting or another state.",
            FieldRule::kLeftOut},
      Field{"devices", &T::devices, "By link of /dev/disk: the device.", FieldRule::kLeftOut},
      Field{"mounts", &T::mounts, "By path.", FieldRule::kLeftOut},
      Field{"writable", &T::writable,
            "By link of /dev/disk: a path where the device is mounted for writing.",
            FieldRule::kLeftOut},
      Field{"units", &T::units, "By name.", FieldRule::kLeftOut});
}

}  // namespace reconciler
