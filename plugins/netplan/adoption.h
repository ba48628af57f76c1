#pragma once

#include <set>
#include <string>
#include <vector>

#include "plugins/common/protection/protection.h"
#include "plugins/netplan/adopt/definitions.h"
#include "plugins/netplan/adopt/foreign.h"
#include "plugins/netplan/adopt/section.h"
#include "reconciler/plugin.h"

namespace reconciler::plugins::netplan {

// What becomes of a file or a profile that the manifest's `adopt` names for a node.
struct Adoption {
  AdoptEntry entry = {};
  bool is_there = false;                   // readable; all that follows is only about such a file
  std::vector<PortDefinition> ports = {};  // of its own
  std::vector<std::string> ours = {};      // of these, those that our file configures
  std::vector<std::string> others = {};    // and those that nothing configures afterwards
  std::vector<std::string> masters = {};   // the bonds and bridges of ours that go with it
  std::string why_not = {};                // not empty: it is not adopted
  std::string next_step = {};              // what to do about that
  std::vector<std::string> besides = {};   // why else it is not, the last word first
};

// The last word counts: it comes before all that was said before.
void Refuse(std::string why, std::string next_step, Adoption& adoption);

// Whether a file of netplan would still be there in another folder.
void CheckOtherFolders(const NodeFacts& facts, Adoption& adoption);

// Whether the manifest means this text.
void CheckDigest(const FileState& file, Adoption& adoption);

// `netdevs`: those that our file configures. `masters`: the bonds and bridges that may go.
std::vector<Adoption> FindAdoptions(const PluginInput& input,
                                    const std::vector<AdoptEntry>& entries, const Masters& masters,
                                    const std::vector<std::string>& netdevs,
                                    const Protection& protection);

// What else uses a bond or bridge, or keeps it from being made again of its members alone; empty:
// nothing does.
std::string ExplainMasterInUse(const PluginInput& input, const MasterDefinition& master,
                               const std::vector<std::string>& netdevs);

// Paths of files that are there and are adopted.
std::set<std::string> ListAdopted(const std::vector<Adoption>& adoptions);

// The bonds and bridges that go with them.
Masters ListDissolved(const std::vector<Adoption>& adoptions);

// In the claims of files that are not.
void ExplainNotAdopted(const std::vector<Adoption>& adoptions, std::vector<Claim>& claims);

// In the claims of files that `adopt` could name and does not.
void OfferAdoption(const PluginInput& input, std::vector<Claim>& claims);

// Files that `adopt` could name: nothing but their missing entries keeps them from being adopted.
std::vector<AdoptableFile> ListAdoptable(const PluginInput& input);

// "/run/netplan/X.yaml": where the removal of an adopted file is tried.
std::string NameTrial(const std::string& path);

// The adopted file as the owner of its ports.
OtherOwner NameOwner(const Adoption& adoption);

// "into 60-spark-reconcile.yaml, 2 ports, same addresses and MTU; not carried over: routes".
std::string FormatAdoption(const Adoption& adoption, const std::vector<RailPort>& ports);

}  // namespace reconciler::plugins::netplan
