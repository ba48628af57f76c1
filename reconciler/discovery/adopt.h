#pragma once

#include <string>
#include <vector>

#include "reconciler/discovery/discovery.h"
#include "reconciler/plugin.h"

namespace reconciler {

// A file on a node that the manifest's `adopt` may name.
struct FoundFile {
  NodeName node = {};
  std::string entry = {};   // how `adopt` names it: "file: /etc/netplan/40-cx7.yaml"
  std::string digest = {};  // SHA-256, in hexadecimal; empty: it is no file
  std::string owner = {};   // who probably wrote it; empty: not known
};

// What the plugins could take over of the nodes. `facts`: read for this cluster.
std::vector<FoundFile> FindAdoptable(const ClusterSpec& cluster, const Fabric& fabric,
                                     const ClusterFacts& facts, const std::vector<Plugin>& plugins);

// Adds `adopt` to the manifest. Nothing where there are no files.
void AddAdopt(const std::vector<FoundFile>& files, Discovery& discovery);

// Adds a gap for each cause for which a plan of the manifest blocks something, and for what its
// plugins warn of: what the nodes have beside what the manifest says. `diagnostics`: those of that
// plan.
void AddObstacles(const std::vector<Diagnostic>& diagnostics, Discovery& discovery);

}  // namespace reconciler
