#pragma once

#include <string>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::netplan {

// A unit of networkd or a profile of NetworkManager, of another owner than netplan.
struct OwnerFile {
  std::string path = {};
  const FileState* state = nullptr;  // of the facts; nullptr: see `unclear`
  std::string unclear = {};          // "PATH cannot be read: why"
};

std::vector<Read> ListOwnerReads();

// What the manager finds at the next boot or re-plug, folder by folder: without what another file
// hides, what netplan generated below /run, and what is no unit or profile.
std::vector<OwnerFile> ListUnits(const NodeFacts& facts);
std::vector<OwnerFile> ListProfiles(const NodeFacts& facts);

// Drop-ins of the unit that netplan generates for a port.
std::vector<std::string> ListDropIns(const NodeFacts& facts, const std::string& netdev);

// And of any unit, by its file name.
std::vector<std::string> ListDropInsOf(const NodeFacts& facts, const std::string& unit);

// Files of the same name that networkd would read if this one were not there.
std::vector<std::string> ListHiddenUnits(const NodeFacts& facts, const std::string& path);

// The address by which netplan and NetworkManager know a port, in lower case: that of the device
// itself. Members of a bond all have the bond's besides.
std::string FindPermanentMac(const LinkFact& link);

// A condition that we do not know may hold.
bool IsUnitAbout(const std::string& text, const std::string& netdev, const LinkFact& link);
// networkd leaves what such a unit matches to others.
bool IsUnmanaging(const std::string& text);

// When NetworkManager uses a profile, as far as its keyfile says so.
struct Profile {
  std::string id = {};
  std::string uuid = {};
  bool autoconnect = true;
  int priority = 0;  // of autoconnect; the highest wins
};
Profile ReadProfile(const OwnerFile& file);  // precondition: it has a state
// As nmcli accepts it without quotes, where there is such a name.
std::string NameProfile(const Profile& profile);
// Whether a profile is for a port: it names it, by its name, a pattern or its MAC, or it is for
// any.
enum class ProfileFit { kNone, kNamed, kAnyPort };
ProfileFit FindProfileFit(const std::string& text, const std::string& netdev, const LinkFact& link);
inline constexpr int kOurPriority = 0;  // netplan writes none
// Of equal priorities NetworkManager uses the profile that was active last. One that names no port
// (the usual one of an installation, for DHCP) only wins with a higher priority.
bool MayWin(const Profile& profile, ProfileFit fit);

}  // namespace reconciler::plugins::netplan
