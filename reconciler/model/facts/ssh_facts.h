#pragma once

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
  FileMode mode = {};
  std::string owner = {};
  bool operator==(const FileAccess&) const = default;
};

constexpr auto Describe(const FileAccess*) {
  return MakeDescription("file_access", "Whose a file is and who may use it.",
                         Field{"mode", &FileAccess::mode, "Permission bits in octal."},
                         Field{"owner", &FileAccess::owner, "Owning user's name on the node."});
}

// Of the account that logs in from node to node.
struct SshFacts {
  Fact<std::string> group = {};
  Fact<FileAccess> directory = {};
  Fact<FileAccess> private_key = {};
  bool operator==(const SshFacts&) const = default;
};

constexpr auto Describe(const SshFacts*) {
  return MakeDescription(
      "ssh", "The account that logs in from node to node.",
      Field{"group", &SshFacts::group, "The user's primary group."},
      Field{"directory", &SshFacts::directory, "~/.ssh."},
      Field{"private_key", &SshFacts::private_key, "The cluster's key; its content is not read."});
}

}  // namespace reconciler
