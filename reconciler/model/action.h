#pragma once

#include <string>
#include <variant>
#include <vector>

#include "reconciler/model/file_state.h"

namespace reconciler {

// A path that begins with "~user/" is resolved on the node against that user's home directory.
struct WriteFile {  // temporary file beside the target, fsync, rename; parents made as needed
  std::string path = {};
  FileState state = {};
  bool operator==(const WriteFile&) const = default;
};

struct RemoveFile {
  std::string path = {};
  bool operator==(const RemoveFile&) const = default;
};

struct RunCommand {
  std::vector<std::string> argv = {};
  int time_limit_s = 30;
  std::string user = {};  // run as this user (runuser); empty: as root
  bool operator==(const RunCommand&) const = default;
};

// What a person may notice.
enum class Impact { kNone, kServiceRestart, kLinkFlap, kReboot };

// Closed: the executor knows these three verbs and nothing else.
using Action = std::variant<WriteFile, RemoveFile, RunCommand>;

// One line for events and plans: "write /etc/hosts", "run netplan generate".
std::string Describe(const Action& action);

}  // namespace reconciler
