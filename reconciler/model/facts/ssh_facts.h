#pragma once

#include <concepts>
#include <string>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

struct FileMode {
  unsigned bits = 0;
  bool operator==(const FileMode&) const = default;
};

// Whose a file is and who may use it; never what is in it.
struct FileAccess {
  FileMode mode;
  std::string owner;
  bool operator==(const FileAccess&) const = default;
};

template <std::same_as<FileAccess> T>
constexpr auto Describe(const T*) {
  return MakeDescription("file_access", "Whose a file is and who may use it.",
                         Field{"mode", &T::mode, "Permission bits in octal."},
                         Field{"owner", &T::owner, "Owning user's name on the node."});
}

// Of the account that logs in from node to node.
struct SshFacts {
  Fact<std::string> group;
  Fact<FileAccess> directory;
  Fact<FileAccess> private_key;
  bool operator==(const SshFacts&) const = default;
};

template <std::same_as<SshFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "ssh", "The account that logs in from node to node.",
      Field{"group", &T::group, "The user's primary group."},
      Field{"directory", &T::directory, "~/.ssh."},
      Field{"private_key", &T::private_key, "The cluster's key; its content is not read."});
}

}  // namespace reconciler
