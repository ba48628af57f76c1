#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "reconciler/model/facts.h"

namespace reconciler::plugins::sysctl {

constexpr std::string_view kOwnFile = "/etc/sysctl.d/60-spark-reconcile.conf";
// Is read at boot only, for a node that was ready to commit when its power went: what is live is
// set by commands of its own. A file of the same name in /etc would hide it, and one that sorts
// after it wins.
constexpr std::string_view kTrialFile = "/run/sysctl.d/60-spark-reconcile.trial.conf";
// Debian and Ubuntu have it as a symbolic link to /etc/sysctl.conf, which is how that file is read.
constexpr std::string_view kLink = "/etc/sysctl.d/99-sysctl.conf";
constexpr std::string_view kLinkTarget = "/etc/sysctl.conf";

struct Setting {
  std::string value = {};
  std::string path = {};  // of the file that says so
};

// What one line of a drop-in sets; nullopt: nothing.
struct KeyValue {
  std::string key = {};  // canonical
  std::string value = {};
};
std::optional<KeyValue> ReadLine(std::string_view line);

bool IsLinkTargetRead(const NodeFacts& facts);

// What the drop-in files that are read after ours set at boot, by canonical key: the last value
// of each. Sorted by file name whatever the folder; of one name /etc hides /run hides /usr.
// Patterns (net.ipv4.conf.*.rp_filter) are left out: systemd-sysctl prefers an explicit key over
// them.
std::map<std::string, Setting> FindLaterSettings(const NodeFacts& facts);

// Of these files those that could not be read, each with the reason. What is a link to /dev/null
// sets nothing.
std::map<std::string, std::string> FindUnreadLater(const NodeFacts& facts);

}  // namespace reconciler::plugins::sysctl
