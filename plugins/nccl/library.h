#pragma once

#include <set>
#include <string>

#include "plugins/nccl/section.h"
#include "reconciler/model/observed.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::nccl {

// The libnccl that programs on a node load, asked what it knows: variable names are plain strings
// in it, which holds for forks and patched builds too, where a version number lies.
struct Library {
  std::string path = {};
  std::string version = {};          // "2.28.9"; empty: it does not say
  std::set<std::string> names = {};  // every NCCL_… in it, a few of which are no variables

  bool Knows(const std::string& name) const { return names.contains(name); }
  std::string Label() const;  // "NCCL 2.28.9 (/usr/lib/…/libnccl.so.2)"
};

// Whether version a ("2.28.9") comes before b; false when one of them is not reported.
bool IsOlder(const std::string& a, const std::string& b);

RunProbe MakeLibraryProbe(const Section& section);
// From the probe's reply to facts, and back.
void StoreLibrary(const CommandReply& reply, NodeFacts& facts);
Observed<Library> FindLibrary(const NodeFacts& facts);
std::string FindLibraryVersion(const NodeFacts& facts);  // empty: not reported, or no library

}  // namespace reconciler::plugins::nccl
