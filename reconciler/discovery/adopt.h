#pragma once

#include <string>
#include <vector>

#include "reconciler/discovery/discovery.h"

namespace reconciler {

// A file on a node that the manifest's `adopt` may name.
struct FoundFile {
  NodeName node = {};
  std::string entry = {};   // how `adopt` names it: "file: /etc/netplan/40-cx7.yaml"
  std::string digest = {};  // SHA-256, in hexadecimal
  std::string owner = {};   // who probably wrote it; empty: not known
};

// Adds `adopt` to the manifest, before what is not as found and the notes. Nothing where there are
// no files.
void AddAdopt(const std::vector<FoundFile>& files, Discovery& discovery);

}  // namespace reconciler
