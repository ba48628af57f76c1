#pragma once

#include <string>
#include <vector>

#include "plugins/netplan/foreign.h"
#include "reconciler/model/action.h"

namespace reconciler::plugins::netplan {

// The commands that make our interfaces follow our file and leave every other interface alone.
//
// `netplan generate` on the node itself would rewrite all files below /run, and
// `networkctl reload` then takes the addresses of every interface away for a moment, management
// included. So it runs in a copy of the tree, where it fails before anything was activated, and
// only the files of `ours` are carried over.
std::vector<RunCommand> Regenerate(Renderer renderer, const std::vector<std::string>& foreign_files,
                                   const std::vector<std::string>& ours);

// For a node that had no file of ours: what netplan made of it goes, and the manager lets go.
std::vector<RunCommand> RemoveGenerated(Renderer renderer, const std::vector<std::string>& ours);

// Only the second part of it, for a revert: the journal restores the files.
RunCommand ReloadFiles(Renderer renderer);

// Makes one interface follow what Regenerate brought, whatever was done to it by hand.
RunCommand Reconfigure(Renderer renderer, const std::string& netdev);

}  // namespace reconciler::plugins::netplan
