#include "plugins/netplan/port_owner.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "plugins/netplan/foreign.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::string_view kGeneratedUnit = "/run/systemd/network/10-netplan-";
constexpr std::string_view kGeneratedProfile = "/run/NetworkManager/system-connections/netplan-";

// Of one name the first folder's file hides the others.
constexpr std::string_view kUnitFolders[] = {"/etc/systemd/network/", "/run/systemd/network/",
                                             "/usr/local/lib/systemd/network/",
                                             "/usr/lib/systemd/network/"};
constexpr std::string_view kProfileFolders[] = {"/etc/NetworkManager/system-connections/",
                                                "/run/NetworkManager/system-connections/",
                                                "/usr/lib/NetworkManager/system-connections/"};

struct Setting {
  std::string section = {};
  std::string key = {};
  std::string value = {};
};

// The form that units and profiles share: "[Section]", then lines "Key=value".
std::vector<Setting> ParseSettings(std::string_view text) {
  std::vector<Setting> settings;
  std::string section;
  for (const std::string& one : SplitLines(text)) {
    const std::string_view line = Trim(one);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    settings.push_back({section, std::string(Trim(line.substr(0, equals))),
                        std::string(Trim(line.substr(equals + 1)))});
  }
  return settings;
}

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

// A condition that we do not know may hold.
bool MayHold(const Setting& condition, const std::string& netdev, const LinkFact& link) {
  const std::string& key = condition.key;
  if (key == "Name") return MatchesAnyWord(condition.value, netdev);
  if (key == "Type") return MatchesAnyWord(condition.value, "ether");
  if (key == "MACAddress" || key == "PermanentMACAddress") {
    return MatchesAnyWord(ToLower(condition.value), ToLower(link.mac));
  }
  // A port is no virtual interface and no radio.
  return key != "Kind" && key != "WLANInterfaceType" && key != "SSID" && key != "BSSID";
}

// networkd ignores a unit without a condition.
bool IsUnitAbout(const std::string& text, const std::string& netdev, const LinkFact& link) {
  bool conditions = false;
  for (const Setting& one : ParseSettings(text)) {
    if (one.section == "Link" && one.key == "Unmanaged" && one.value == "yes") return false;
    if (one.section != "Match") continue;
    conditions = true;
    if (!MayHold(one, netdev, link)) return false;
  }
  return conditions;
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

// A profile that names no port is for any: NetworkManager had it before us as well.
bool IsProfileAbout(const std::string& text, const std::string& netdev, const LinkFact& link) {
  bool ethernet = false;
  bool named = false;
  for (const Setting& one : ParseSettings(text)) {
    const bool wired = one.section == "ethernet" || one.section == "802-3-ethernet";
    const bool names = one.section == "connection" && one.key == "interface-name";
    const bool matches = one.section == "match" && one.key == "interface-name";
    const bool has_mac = wired && one.key == "mac-address";
    if (one.section == "connection" && one.key == "type") {
      ethernet = one.value == "ethernet" || one.value == "802-3-ethernet";
    }
    if (names && one.value != netdev) return false;
    if (matches && !MatchesProfileList(one.value, netdev)) return false;
    if (has_mac && ToLower(one.value) != ToLower(link.mac)) return false;
    named |= names || matches || has_mac;
  }
  return ethernet && named;
}

using AboutPort = bool (*)(const std::string&, const std::string&, const LinkFact&);

// Whether a folder before this one has a file of the same name.
bool IsHidden(const NodeFacts& facts, std::span<const std::string_view> before,
              const std::string& name) {
  return std::any_of(before.begin(), before.end(), [&](std::string_view folder) {
    const auto found = facts.files.find(std::string(folder) + name);
    return found != facts.files.end() && !std::holds_alternative<Absent>(found->second);
  });
}

PortOwner FindIn(const NodeFacts& facts, std::span<const std::string_view> folders,
                 std::string_view generated, AboutPort is_about, const std::string& netdev) {
  const LinkFact& link = facts.links.at(netdev);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    for (const auto& [path, file] : facts.files) {
      const bool counts = path.starts_with(folders[i]) && !path.starts_with(generated) &&
                          !std::holds_alternative<Absent>(file);
      if (!counts || IsHidden(facts, folders.first(i), GetBasename(path))) continue;
      const FileState* state = Known(file);
      if (state == nullptr) {
        const auto* unknown = std::get_if<Unknown>(&file);
        return {.unclear = fmt::format("{} cannot be read: {}", path,
                                       unknown != nullptr ? unknown->why : "it is not a file")};
      }
      if (is_about(state->content, netdev, link)) return {.path = path};
    }
  }
  return {};
}

}  // namespace

std::vector<Read> ListOwnerReads() {
  return {ReadFiles{"/etc/systemd/network/*.network"},
          ReadFiles{"/run/systemd/network/*.network"},
          ReadFiles{"/usr/local/lib/systemd/network/*.network"},
          ReadFiles{"/usr/lib/systemd/network/*.network"},
          ReadFiles{"/etc/NetworkManager/system-connections/*"},
          ReadFiles{"/run/NetworkManager/system-connections/*.nmconnection"},
          ReadFiles{"/usr/lib/NetworkManager/system-connections/*.nmconnection"}};
}

PortOwner FindForeignOwner(const NodeFacts& facts, const std::string& netdev) {
  const auto link = facts.links.find(netdev);
  if (link == facts.links.end()) return {};
  const ForeignTree tree = ReadForeignTree(facts, {netdev});
  if (!tree.unclear.empty()) return {.unclear = tree.unclear};
  if (!tree.claims.empty()) {
    // The last file name wins where they differ.
    return {.path = tree.claims.back().path, .by_netplan = true};
  }
  PortOwner owner;
  if (link->second.manager != LinkManager::kNetworkManager) {
    owner = FindIn(facts, kUnitFolders, kGeneratedUnit, IsUnitAbout, netdev);
  }
  const bool found = !owner.path.empty() || !owner.unclear.empty();
  if (found || link->second.manager == LinkManager::kNetworkd) return owner;
  return FindIn(facts, kProfileFolders, kGeneratedProfile, IsProfileAbout, netdev);
}

}  // namespace reconciler::plugins::netplan
