#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reconciler/base/observed.h"
#include "reconciler/model/facts.h"

namespace reconciler {

// A regular file with content, mode and owner (at most 1 MiB). "~user/…" is that user's home. A
// symbolic link is Unknown: we would replace the link and not what it points to.
struct ReadFile {
  std::string path;
};

// Why a link to /dev/null is Unknown: its owner has nothing read there, nor from a file of that
// name in a folder that comes after this one.
inline constexpr std::string_view kLinkToNull = "is a link to /dev/null";

inline bool IsLinkToNull(const Observed<FileState>& file) {
  const auto* unknown = std::get_if<Unknown>(&file);
  return unknown != nullptr && unknown->why == kLinkToNull;
}

// Files whose names match a shell pattern. Precondition: the pattern is a constant of the plugin
// (letters, digits, / . _ - * ? only), never text from the manifest or from a node.
struct ReadFiles {
  std::string pattern;
};

// A file of the node that lists paths, one per line, and all files that it names. "~user/…" stands
// for that user's home there too.
struct ReadListed {
  std::string list;
};

// One-line files of sysfs and procfs, which lie about their size. Same precondition as ReadFiles.
struct ReadValues {
  std::string pattern;
};
struct ReadValue {
  std::string path;
};

struct RunProbe {
  std::string id;  // key in ProbeReply::commands; probes of one id are the same command
  std::vector<std::string> argv;
  int time_limit_s = 5;
  // No plan depends on the answer, so that a plan does not wait for it: see Purpose.
  bool only_for_verification = false;
  // Arguments after argv. Probes of one id run as one command, with the argv and the limit of the
  // first one and the operands of all, each once.
  std::vector<std::string> operands = {};
};

using Read = std::variant<ReadFile, ReadFiles, ReadListed, ReadValues, ReadValue, RunProbe>;

// What nodes are read for. A verification, and whoever shows facts, reads everything.
enum class Purpose { kPlan, kVerification };

struct CommandReply {
  int exit_code = 0;  // 124: the time limit ended it; 127: not installed
  std::string out;
  std::string err;
};

struct ProbeReply {
  std::string session_address;
  std::map<std::string, Observed<FileState>> files;     // ReadFile and ReadFiles, by path
  std::map<std::string, Observed<std::string>> values;  // first line of each, by path
  std::map<std::string, CommandReply> commands;
};

}  // namespace reconciler
