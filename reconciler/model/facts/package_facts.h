#pragma once

#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

// One step of what apt would do to bring a package.
struct PackageStep {
  std::string name;
  std::string from;
  std::string to;
  bool operator==(const PackageStep&) const = default;
};

template <std::same_as<PackageStep> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "package_step", "What apt would do with one package.", Field{"name", &T::name, "Its name."},
      Field{"from", &T::from, "The version that is installed; empty: none."},
      Field{"to", &T::to, "The version that would be installed; empty: it would be removed."});
}

struct PackageFact {
  std::string status;
  std::string version;
  bool held = false;
  std::vector<std::string> available;
  Fact<std::vector<PackageStep>> steps;
  std::vector<std::string> unreachable;
  bool operator==(const PackageFact&) const = default;
};

template <std::same_as<PackageFact> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "package", "A package that the manifest names.",
      Field{"status", &T::status, "What dpkg says: installed, not-installed, half-configured …"},
      Field{"version", &T::version, "The version that is installed; empty: none."},
      Field{"held", &T::held, "Whether a person holds it at its version."},
      Field{"available", &T::available, "Versions that apt's sources have, newest first."},
      Field{"steps", &T::steps,
            "What apt would do to bring it; unknown: apt would not; read only where it does not "
            "hold."},
      Field{"unreachable", &T::unreachable,
            "Servers that apt would need and the node cannot reach."});
}

struct PackageFacts {
  Fact<bool> apt;
  std::map<std::string, PackageFact> packages;
  std::map<std::string, Observed<std::string>> tools;
  bool operator==(const PackageFacts&) const = default;
};

template <std::same_as<PackageFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "packages", "Packages and programs that the manifest names.",
      Field{"apt", &T::apt, "Whether the node has apt; unknown: it gave no answer."},
      Field{"packages", &T::packages, "By name.", FieldRule::kLeftOut},
      Field{"tools", &T::tools,
            "Versions of driver, cuda, docker and container_toolkit; absent: not installed.",
            FieldRule::kLeftOut});
}

}  // namespace reconciler
