#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"
#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/plan.h"
#include "reconciler/model/probe.h"

namespace reconciler::test {

// A node in memory: what its files, its kernel values and its commands say. It answers the probes
// of the real plugins, and a plan's writes can be applied to it.
struct FakeNode {
  std::map<std::string, FileState> files = {};        // by path, "~user/…" for a home
  std::map<std::string, std::string> values = {};     // /sys and /proc, by path
  std::map<std::string, CommandReply> commands = {};  // by probe id; 127 for all others

  ProbeReply Answer(const std::vector<Read>& reads) const;
};

// A node with the interfaces of a Spark and nothing of ours. `id` makes its addresses and its host
// key unlike those of other nodes.
FakeNode BareNode(const NodeName& name, int id, const std::string& user);

// A public key line that every check accepts; `number` distinguishes keys.
std::string PublicKeyLine(int number);

NodeFacts MakeFacts(const FakeNode& node, const ClusterSpec& cluster, const Fabric& fabric,
                    const NodeSpec& spec);

// Carries out every write and removal of the node's changes; of the commands only the making of a
// key pair.
void ApplyFiles(const Plan& plan, const NodeSpec& spec, FakeNode& node);

}  // namespace reconciler::test
