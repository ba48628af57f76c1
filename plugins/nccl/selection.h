#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/nccl/section.h"
#include "plugins/nccl/values.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::nccl {

// Which of `names` a list of NCCL's selects: "=a,b" exactly those, "a" all that begin so, "^"
// others.
std::vector<std::string> SelectNames(std::string_view value, const std::vector<std::string>& names);

// Whether both lists of that variable select the same of what the node has; false for other
// variables, and where they select nothing.
bool SelectTheSame(const std::string& name, std::string_view a, std::string_view b,
                   const PluginInput& input);

// Whether the manifest's list of HCAs or interfaces fits what the node has.
Mistake JudgeSelection(const ManifestVariable& variable, const PluginInput& input);

// An entry of a list without "=" that begins several names of one hardware profile of the manifest;
// what a node calls them is judged in its plan.
Mistake JudgeByProfiles(const ManifestVariable& variable, const ClusterSpec& cluster);

// A list that matches by prefix. kReadAsMeant: no entry begins more than one name of the node;
// kMisread: one does. Nothing where the list is exact, leaves interfaces out, or has an entry that
// is none, or the names are not known.
Mistake JudgePrefixes(const std::string& name, std::string_view value, const PluginInput& input);

// Entries that select nothing in a list of which another one does: a spelling mistake, or the name
// of another node's port.
Mistake JudgeEntries(const std::string& name, std::string_view value, const PluginInput& input);

}  // namespace reconciler::plugins::nccl
