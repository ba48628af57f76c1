#pragma once

#include <string>
#include <variant>
#include <vector>

#include "reconciler/model/file_state.h"

namespace reconciler {

// Where a file is tried until the commit: in a layer below /run that hides the file of the same
// name in /etc, and that is gone after a power loss. An empty file there stands for a removal.
struct Trial {
  std::string path;  // empty: in place, and restored from the journal
  // The generator that makes of the layer, at the start of a node, what services read. The guard
  // runs it after a restart, when it has put the file there again. Empty: services read the layer.
  std::vector<std::string> generator;
  bool operator==(const Trial&) const = default;
};

// A path that begins with "~user/" is resolved on the node against that user's home directory.
struct WriteFile {  // temporary file beside the target, fsync, rename; parents made as needed
  std::string path;
  FileState state;
  Trial trial;
  bool operator==(const WriteFile&) const = default;
};

struct RemoveFile {
  std::string path;
  Trial trial;
  bool operator==(const RemoveFile&) const = default;
};

struct RunCommand {
  std::vector<std::string> argv;
  int time_limit_s = 30;
  std::string user;  // run as this user (runuser); empty: as root
  // Only for a trigger: what it is. Of those with one id, the first runs, once per node and stage.
  // Empty: it runs as often as it is listed.
  std::string id;
  // It sets a value that no file brings back: a revert in which it fails has failed. An apply tries
  // those that follow one that fails, so that all are reported at once.
  bool must_succeed = false;
  // Only for a revert: what it does lies in files and outlives a restart, so that a revert at boot
  // runs it too.
  bool at_boot = false;
  // Only for a revert: what it does outlives a restart as well, but it needs the network or
  // services. After a revert at boot the guard reverts once more, with all commands, when those are
  // there.
  bool after_boot = false;
  // The path below /sys or /proc of what it sets. Where that is gone in a revert or a prune (a port
  // that vanished), there is nothing to restore. It sets nothing outside the kernel, so that it
  // reloads no unit, and a prune goes on without it where its program is not installed any more.
  std::string sets;
  // Only for a trigger or an action: generated files that it helps to make or removes. They are
  // journalled before the first change. A revert restores them byte for byte, and does not run it.
  std::vector<std::string> makes;
  // It cannot make systemd reload its units, so that nothing has to be kept from the generators
  // that a reload runs. A command with `sets` needs no such mark.
  bool without_reload = false;
  bool operator==(const RunCommand&) const = default;
};

// What a person may notice.
enum class Impact { kNone, kServiceRestart, kLinkFlap, kReboot };

// Closed: the executor knows these three verbs and nothing else.
using Action = std::variant<WriteFile, RemoveFile, RunCommand>;

// Of the write or removal of a file; empty for a command.
Trial GetTrial(const Action& action);

// One line for events and plans: "write /etc/hosts", "run netplan generate".
std::string Describe(const Action& action);

}  // namespace reconciler
