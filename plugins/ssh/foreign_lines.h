#pragma once

#include <set>
#include <string>
#include <vector>

#include "plugins/ssh/mesh.h"
#include "reconciler/base/diagnostic.h"

namespace reconciler::plugins::ssh {

// A user's ~/.ssh/config, and whose lines in it are ours.
struct ConfigFile {
  std::string path = {};
  std::string content = {};
  std::string cluster = {};
  std::set<std::string> former_clusters = {};  // its names before: their blocks are ours too
};

// Lines outside our blocks that give a name of a peer another user, port or address than ours. Only
// sections that name it as it is count: no patterns, and no Match.
std::vector<Diagnostic> DiagnoseForeignLines(const ConfigFile& config,
                                             const std::vector<Peer>& peers,
                                             const SourceMark& where);

}  // namespace reconciler::plugins::ssh
