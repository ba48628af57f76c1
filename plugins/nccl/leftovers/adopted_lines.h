#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// Variables by the file that sets them.
using VariablesByFile = std::map<std::string, std::set<std::string>>;

// Files of the whole node whose lines `adopt` may take over: nccl.conf, environment files, and
// scripts of /etc/profile.d.
bool CanHaveLinesAdopted(std::string_view path);

// Those, and what `adopt` names for the node.
std::vector<Read> ListLineReads(const ClusterSpec& cluster, const NodeName& node);

// The files without the lines that the manifest's `adopt` names for the node.
std::vector<Resource> MakeAdoptedLines(const PluginInput& input);

// What `adopt` could name of `removable` on this node, as far as nothing but its missing entry
// keeps it from being adopted.
std::vector<AdoptableFile> ListAdoptableLines(const PluginInput& input,
                                              const VariablesByFile& removable);

// What a person does about a line of `path` that sets `variable` and should not be there.
// `by_hand`: without `adopt`.
std::string AdviseOnLine(const PluginInput& input, const std::string& path,
                         const std::string& variable, const std::string& by_hand);

// An entry for a node for which the manifest manages nothing of NCCL would do nothing.
Errors CheckAdoptedLines(const ClusterSpec& cluster);

}  // namespace reconciler::plugins::nccl
