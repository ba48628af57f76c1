#include "plugins/netplan/adopt/owner_files.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <span>
#include <string_view>

#include "plugins/netplan/adopt/settings.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::string_view kGeneratedUnit = "/run/systemd/network/10-netplan-";
constexpr std::string_view kGeneratedProfile = "/run/NetworkManager/system-connections/netplan-";
constexpr std::string_view kVendorProfiles = "/usr/lib/NetworkManager/system-connections/";

// Of one name the first folder's file hides the others.
constexpr std::string_view kUnitFolders[] = {"/etc/systemd/network/", "/run/systemd/network/",
                                             "/usr/local/lib/systemd/network/",
                                             "/usr/lib/systemd/network/"};
constexpr std::string_view kProfileFolders[] = {"/etc/NetworkManager/system-connections/",
                                                "/run/NetworkManager/system-connections/",
                                                kVendorProfiles};

bool MatchesPattern(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// "enp1s0* eth0", "!wlan*": a sign in front of the first word counts for all.
bool MatchesAnyWord(std::string_view list, const std::string& text) {
  const bool negated = list.starts_with('!');
  const std::vector<std::string> words = Split(std::string(negated ? list.substr(1) : list), ' ');
  const bool found = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return !word.empty() && MatchesPattern(word, text);
  });
  return found != negated;
}

bool MayHold(const std::string& key, const std::string& value, const std::string& netdev,
             const LinkFact& link) {
  if (key == "Name") return MatchesAnyWord(value, netdev);
  if (key == "Type") return MatchesAnyWord(value, "ether");
  if (key == "MACAddress" || key == "PermanentMACAddress") {
    if (MatchesAnyWord(ToLower(value), FindPermanentMac(link))) return true;
    // Of one that someone gave it. A bond's member has the bond's, until it leaves the bond.
    return key == "MACAddress" && link.master.empty() &&
           MatchesAnyWord(ToLower(value), ToLower(link.mac));
  }
  // A port is no virtual interface and no radio, which "!*" wants.
  if (value.starts_with('!')) return true;
  return key != "Kind" && key != "WLANInterfaceType" && key != "SSID" && key != "BSSID";
}

// A list of NetworkManager's: "enp1s0*;!eth0;". "|" and "&" say how several patterns are joined.
bool MatchesProfileList(const std::string& list, const std::string& netdev) {
  bool found = false;
  for (std::string& word : Split(list, ';')) {
    while (!word.empty() && (word.front() == '|' || word.front() == '&')) word.erase(0, 1);
    const bool negated = word.starts_with('!');
    if (word.empty() || !MatchesPattern(word.substr(negated ? 1 : 0), netdev)) continue;
    if (negated) return false;
    found = true;
  }
  return found;
}

OwnerFile MakeOwnerFile(const std::string& path, const Observed<FileState>& file) {
  const FileState* state = Known(file);
  if (state != nullptr) return {.path = path, .state = state};
  const auto* unknown = std::get_if<Unknown>(&file);
  return {.path = path,
          .unclear = fmt::format("{} cannot be read: {}", path,
                                 unknown != nullptr ? unknown->why : "it is not a file")};
}

bool IsThere(const NodeFacts& facts, const std::string& path) {
  const auto found = facts.files.find(path);
  return found != facts.files.end() && !std::holds_alternative<Absent>(found->second);
}

// All that is there, folder by folder, without what netplan generated.
std::vector<OwnerFile> ListFolders(const NodeFacts& facts,
                                   std::span<const std::string_view> folders,
                                   std::string_view generated) {
  std::vector<OwnerFile> files;
  for (const std::string_view folder : folders) {
    for (const auto& [path, file] : facts.files) {
      const bool counts = path.starts_with(folder) && !path.starts_with(generated) &&
                          path.find('/', folder.size()) == std::string::npos;
      if (counts && IsThere(facts, path)) files.push_back(MakeOwnerFile(path, file));
    }
  }
  return files;
}

// Whether a folder before the file's own has a unit of the same name.
bool IsHiddenUnit(const NodeFacts& facts, const OwnerFile& unit) {
  for (const std::string_view folder : kUnitFolders) {
    if (unit.path.starts_with(folder)) return false;
    if (IsThere(facts, std::string(folder) + GetBasename(unit.path))) return true;
  }
  return false;
}

// NetworkManager takes neither copies of editors nor keys for a profile, nor what others may read.
bool IsProfileFile(const OwnerFile& file) {
  for (const std::string_view end : {"~", ".nmmeta", ".pem", ".der"}) {
    if (file.path.ends_with(end)) return false;
  }
  const bool shared =
      file.state != nullptr && (file.state->owner != "root" || (file.state->mode & 0077) != 0);
  return !shared || file.path.starts_with(kVendorProfiles);
}

// NetworkManager keeps a change of a profile in /usr/lib as a file in /etc with the same UUID, and
// its removal as UUID.nmmeta. One in /run hides one in /etc until the next boot, so both count.
bool IsHiddenProfile(const NodeFacts& facts, const OwnerFile& file,
                     const std::vector<OwnerFile>& all) {
  if (file.state == nullptr || !file.path.starts_with(kVendorProfiles)) return false;
  const std::string uuid = ReadProfile(file).uuid;
  if (uuid.empty()) return false;
  if (IsThere(facts, fmt::format("{}{}.nmmeta", kProfileFolders[0], uuid))) return true;
  return std::any_of(all.begin(), all.end(), [&](const OwnerFile& one) {
    return one.state != nullptr && one.path.starts_with(kProfileFolders[0]) &&
           ReadProfile(one).uuid == uuid;
  });
}

bool IsPlainWord(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

}  // namespace

std::vector<Read> ListOwnerReads() {
  return {ReadFiles{"/etc/systemd/network/*.network"},
          ReadFiles{"/run/systemd/network/*.network"},
          ReadFiles{"/usr/local/lib/systemd/network/*.network"},
          ReadFiles{"/usr/lib/systemd/network/*.network"},
          ReadFiles{"/etc/systemd/network/*.network.d/*.conf"},
          ReadFiles{"/run/systemd/network/*.network.d/*.conf"},
          ReadFiles{"/usr/local/lib/systemd/network/*.network.d/*.conf"},
          ReadFiles{"/usr/lib/systemd/network/*.network.d/*.conf"},
          ReadFiles{"/etc/NetworkManager/system-connections/*"},
          ReadFiles{"/run/NetworkManager/system-connections/*.nmconnection"},
          ReadFiles{"/usr/lib/NetworkManager/system-connections/*.nmconnection"}};
}

std::vector<OwnerFile> ListUnits(const NodeFacts& facts) {
  std::vector<OwnerFile> units = ListFolders(facts, kUnitFolders, kGeneratedUnit);
  std::erase_if(units, [&](const OwnerFile& one) { return IsHiddenUnit(facts, one); });
  return units;
}

std::vector<OwnerFile> ListProfiles(const NodeFacts& facts) {
  std::vector<OwnerFile> all = ListFolders(facts, kProfileFolders, kGeneratedProfile);
  std::erase_if(all, [](const OwnerFile& one) { return !IsProfileFile(one); });
  std::vector<OwnerFile> profiles;
  for (const OwnerFile& one : all) {
    if (!IsHiddenProfile(facts, one, all)) profiles.push_back(one);
  }
  return profiles;
}

std::vector<std::string> ListDropIns(const NodeFacts& facts, const std::string& netdev) {
  return ListDropInsOf(facts, fmt::format("10-netplan-{}.network", netdev));
}

std::vector<std::string> ListHiddenUnits(const NodeFacts& facts, const std::string& path) {
  std::vector<std::string> hidden;
  for (const std::string_view folder : kUnitFolders) {
    std::string other = std::string(folder) + GetBasename(path);
    if (other != path && IsThere(facts, other)) hidden.push_back(std::move(other));
  }
  return hidden;
}

std::vector<std::string> ListDropInsOf(const NodeFacts& facts, const std::string& unit) {
  std::vector<std::string> paths;
  for (const std::string_view folder : kUnitFolders) {
    const std::string place = fmt::format("{}{}.d/", folder, unit);
    for (const auto& [path, file] : facts.files) {
      if (path.starts_with(place) && IsThere(facts, path)) paths.push_back(path);
    }
  }
  return paths;
}

bool IsUnitAbout(const std::string& text, const std::string& netdev, const LinkFact& link) {
  std::map<std::string, std::string> conditions;  // several lines of one key are one list
  for (const Setting& one : ReadSettings(text)) {
    if (one.section != "Match") continue;
    std::string& list = conditions[one.key];
    list = one.value.empty() || list.empty() ? one.value : list + ' ' + one.value;
  }
  std::erase_if(conditions, [](const auto& one) { return one.second.empty(); });
  // networkd ignores a unit without a condition.
  return !conditions.empty() &&
         std::all_of(conditions.begin(), conditions.end(),
                     [&](const auto& one) { return MayHold(one.first, one.second, netdev, link); });
}

bool IsUnmanaging(const std::string& text) {
  const std::vector<Setting> settings = ReadSettings(text);
  return std::any_of(settings.begin(), settings.end(), [](const Setting& one) {
    return one.section == "Link" && one.key == "Unmanaged" && IsYes(one.value);
  });
}

Profile ReadProfile(const OwnerFile& file) {
  Profile profile{.id = GetBasename(file.path)};
  if (profile.id.ends_with(".nmconnection")) profile.id.erase(profile.id.rfind('.'));
  for (const Setting& one : ReadSettings(file.state->content)) {
    if (one.section != "connection") continue;
    if (one.key == "id") profile.id = one.value;
    if (one.key == "uuid") profile.uuid = one.value;
    if (one.key == "autoconnect") profile.autoconnect = one.value != "false" && one.value != "0";
    if (one.key == "autoconnect-priority") {
      profile.priority = ParseNumber<int>(one.value).value_or(0);
    }
  }
  return profile;
}

std::string FindPermanentMac(const LinkFact& link) {
  return ToLower(link.permanent_mac.empty() ? link.mac : link.permanent_mac);
}

std::string NameProfile(const Profile& profile) {
  return IsPlainWord(profile.id) || !IsPlainWord(profile.uuid) ? MakePrintable(profile.id)
                                                               : profile.uuid;
}

bool MayWin(const Profile& profile, ProfileFit fit) {
  if (!profile.autoconnect || profile.priority < kOurPriority) return false;
  return fit == ProfileFit::kNamed ||
         (fit == ProfileFit::kAnyPort && profile.priority > kOurPriority);
}

ProfileFit FindProfileFit(const std::string& text, const std::string& netdev,
                          const LinkFact& link) {
  bool ethernet = false;
  bool named = false;
  for (const Setting& one : ReadSettings(text)) {
    const bool wired = one.section == "ethernet" || one.section == "802-3-ethernet";
    const bool names = one.section == "connection" && one.key == "interface-name";
    const bool matches = one.section == "match" && one.key == "interface-name";
    const bool has_mac = wired && one.key == "mac-address";
    if (one.section == "connection" && one.key == "type") {
      ethernet = one.value == "ethernet" || one.value == "802-3-ethernet";
    }
    if (names && one.value != netdev) return ProfileFit::kNone;
    if (matches && !MatchesProfileList(one.value, netdev)) return ProfileFit::kNone;
    if (has_mac && ToLower(one.value) != FindPermanentMac(link)) return ProfileFit::kNone;
    named |= names || matches || has_mac;
  }
  if (!ethernet) return ProfileFit::kNone;
  return named ? ProfileFit::kNamed : ProfileFit::kAnyPort;
}

}  // namespace reconciler::plugins::netplan
