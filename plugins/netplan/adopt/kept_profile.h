#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugins/netplan/adopt/keyfile.h"
#include "plugins/netplan/adopt/owner_files.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/value.h"

namespace reconciler::plugins::netplan {

// Whether a `match` of netplan is for this port. netplan joins its conditions with "and"; a driver
// that we do not know may match. nullptr: the node has no such port, and any MAC may be its.
bool MatchesPort(const Value& match, const std::string& netdev, const LinkFact* link);

// Ubuntu's NetworkManager keeps each of its profiles as a definition of netplan, in a file that it
// writes again whenever the profile changes. What netplan generates of it is a profile of its own.
// nullopt: the definition is no such profile.
std::optional<Profile> ReadKeptProfile(const Member& definition);

ProfileFit FindKeptFit(const Value& definition, const std::string& netdev, const LinkFact* link);

// What a profile says, and where it stands: in a keyfile, or as a definition of netplan.
struct HeldProfile {
  std::string path = {};
  Profile profile = {};
  KeyfileDefinition says = {};
  std::string keyfile = {};     // its text; empty: it is a definition of netplan
  Member definition = {};       // of netplan
  std::string besides = {};     // not empty: what else the file of the definition has: "'vlans'"
  bool by_networkmanager = {};  // its definition names NetworkManager as its renderer
};

bool IsNetplanFile(const std::string& path);

// nullopt: the file holds no profile. Of several in a file of netplan it is the first one.
std::optional<HeldProfile> ReadHeldProfile(const std::string& path, const std::string& content);

ProfileFit FindFit(const HeldProfile& held, const std::string& netdev, const LinkFact* link);

// All of a node that NetworkManager may use, the keyfiles first. What netplan generated is none.
std::vector<HeldProfile> ListHeldProfiles(const NodeFacts& facts);

}  // namespace reconciler::plugins::netplan
