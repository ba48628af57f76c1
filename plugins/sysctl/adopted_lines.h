#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reconciler/plugin.h"

namespace reconciler::plugins::sysctl {

// Keys by the drop-in that sets them.
using KeysByFile = std::map<std::string, std::set<std::string>>;

// Lines of another owner's drop-in that the manifest's `adopt` names for a node.
struct AdoptedLines {
  std::string path = {};
  std::set<std::string> keys = {};  // canonical
  std::string digest = {};          // the first digits of the file's SHA-256
  Position position = {};
};

std::vector<AdoptedLines> ReadAdoptedLines(const ClusterSpec& cluster, const NodeName& node);

// The same files without these lines. `written`: the keys that our file sets.
std::vector<Resource> MakeAdoptedLines(const PluginInput& input,
                                       const std::set<std::string>& written);

// What `adopt` could name of `overriding` on this node, as far as nothing but its missing entry
// keeps it from being adopted.
std::vector<AdoptableFile> ListAdoptableLines(const PluginInput& input,
                                              const KeysByFile& overriding);

// What a person does about the line of `path` that sets `key` and wins over ours.
std::string AdviseOnLine(const PluginInput& input, const std::string& path, const std::string& key);

}  // namespace reconciler::plugins::sysctl
