#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/plugin.h"

namespace reconciler::plugins::sysctl {

// Keys by the drop-in that sets them.
using KeysByFile = std::map<std::string, std::set<std::string>>;

// Drop-ins of sysctl, and the file that Ubuntu has a link to among them.
bool CanHaveLinesAdopted(std::string_view path);

// Of the entries about them.
std::vector<std::string> ListAdoptedPaths(const ClusterSpec& cluster, const NodeName& node);

// The drop-ins without the lines that the manifest's `adopt` names for the node. `written`: the
// keys that our file sets.
std::vector<Resource> MakeAdoptedLines(const PluginInput& input,
                                       const std::set<std::string>& written);

// What `adopt` could name of `overriding` on this node, as far as nothing but its missing entry
// keeps it from being adopted.
std::vector<AdoptableFile> ListAdoptableLines(const PluginInput& input,
                                              const KeysByFile& overriding);

// What a person does about the line of `path` that sets `key` and wins over ours.
std::string AdviseOnLine(const PluginInput& input, const std::string& path, const std::string& key);

}  // namespace reconciler::plugins::sysctl
