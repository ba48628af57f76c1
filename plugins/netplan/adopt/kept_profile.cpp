#include "plugins/netplan/adopt/kept_profile.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "plugins/netplan/adopt/foreign.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"
#include "reconciler/yaml/yaml_document.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::size_t kLongestPattern = 256;  // bytes; interface names have at most 15

std::string ReadText(const Value* map, std::string_view key) {
  const Value* value = map == nullptr ? nullptr : map->Find(key);
  return value == nullptr ? std::string() : value->ScalarText();
}

// Settings of the profile that netplan has no key for: "ipv6.method: disabled".
const Value* FindPassthrough(const Value& definition) {
  const Value* kept = definition.Find("networkmanager");
  return kept == nullptr ? nullptr : kept->Find("passthrough");
}

// NetworkManager writes "_" for a section without keys, and -1 where it decides itself.
std::vector<Setting> ReadPassthrough(const Value& definition) {
  std::vector<Setting> settings;
  const Value* rest = FindPassthrough(definition);
  for (const Member& one : rest == nullptr ? std::vector<Member>() : rest->Members()) {
    const std::size_t dot = one.key.find('.');
    if (dot == std::string::npos || one.key.substr(dot + 1) == "_") continue;
    const std::string value = one.value.ScalarText();
    if (one.key == "ipv6.ip6-privacy" && value == "-1") continue;
    settings.push_back({one.key.substr(0, dot), one.key.substr(dot + 1), value});
  }
  return settings;
}

// netplan has NetworkManager request IPv6 addresses only with `dhcp6`, and the passthrough counts
// before all that.
KeyfileDefinition ReadSays(const Member& definition) {
  KeyfileDefinition says{.port = ReadPort(definition)};
  std::vector<std::string>& lost = says.port.lost;
  std::erase(lost, "networkmanager");
  const bool has_method = !ReadText(FindPassthrough(definition.value), "ipv6.method").empty();
  const bool requests = std::find(lost.begin(), lost.end(), "dhcp6") != lost.end();
  if (has_method || !requests) std::erase(lost, kRouterAdvertisements);
  if (has_method)
    std::erase_if(lost,
                  [](const std::string& one) { return one == kIpv6LinkLocal || one == "dhcp6"; });
  AddKeyfileSettings(ReadPassthrough(definition.value), {.ipv6 = "ignore"}, says);
  return says;
}

// The keyfile's text, or the first profile of a netplan file.
std::optional<HeldProfile> ReadKeptFile(const std::string& path, const std::string& content) {
  const Result<Value> document = ParseYaml(content, path);
  const Value* network = document ? document->Find("network") : nullptr;
  if (network == nullptr) return std::nullopt;
  std::optional<HeldProfile> held;
  std::string besides;
  for (const Member& type : network->Members()) {
    if (type.key == "version" || type.key == "renderer") continue;
    if (type.key != "ethernets") besides = fmt::format("'{}'", MakePrintable(type.key));
    for (const Member& one : type.value.Members()) {
      if (IsRendererOfType(one)) continue;
      const auto profile = type.key == "ethernets" ? ReadKeptProfile(one) : std::nullopt;
      if (profile && !held) {
        held = HeldProfile{.path = path,
                           .profile = *profile,
                           .says = ReadSays(one),
                           .definition = one,
                           .by_networkmanager = one.value.GetText("renderer") == "NetworkManager"};
      } else if (type.key == "ethernets") {
        besides = MakePrintable(one.key);
      }
    }
  }
  if (held) held->besides = std::move(besides);
  return held;
}

}  // namespace

bool MatchesPort(const Value& match, const std::string& netdev, const LinkFact* link) {
  if (const Value* name = match.Find("name"); name != nullptr) {
    const std::string pattern = name->ScalarText();
    if (pattern.size() <= kLongestPattern && fnmatch(pattern.c_str(), netdev.c_str(), 0) != 0) {
      return false;
    }
  }
  const Value* mac = match.Find("macaddress");
  return mac == nullptr || link == nullptr || FindPermanentMac(*link) == ToLower(mac->ScalarText());
}

std::optional<Profile> ReadKeptProfile(const Member& definition) {
  const Value* kept = definition.value.Find("networkmanager");
  if (!definition.key.starts_with("NM-") || kept == nullptr) return std::nullopt;
  const Value* rest = FindPassthrough(definition.value);
  const std::string automatic = ReadText(rest, "connection.autoconnect");
  Profile profile{.id = ReadText(kept, "name"),
                  .uuid = ReadText(kept, "uuid"),
                  .autoconnect = automatic != "false" && automatic != "0",
                  .priority = ParseNumber<int>(ReadText(rest, "connection.autoconnect-priority"))
                                  .value_or(kOurPriority)};
  if (profile.id.empty()) profile.id = definition.key;
  return profile;
}

ProfileFit FindKeptFit(const Value& definition, const std::string& netdev, const LinkFact* link) {
  const Value* match = definition.Find("match");
  if (match == nullptr || !MatchesPort(*match, netdev, link)) return ProfileFit::kNone;
  const bool named = match->Find("name") != nullptr || match->Find("macaddress") != nullptr;
  return named ? ProfileFit::kNamed : ProfileFit::kAnyPort;
}

bool IsNetplanFile(const std::string& path) {
  return path.find("/netplan/") != std::string::npos && path.ends_with(".yaml");
}

std::optional<HeldProfile> ReadHeldProfile(const std::string& path, const std::string& content) {
  if (IsNetplanFile(path)) return ReadKeptFile(path, content);
  const FileState state{.content = content};
  return HeldProfile{.path = path,
                     .profile = ReadProfile({.path = path, .state = &state}),
                     .says = ReadKeyfile(content),
                     .keyfile = content};
}

ProfileFit FindFit(const HeldProfile& held, const std::string& netdev, const LinkFact* link) {
  if (!held.definition.key.empty()) return FindKeptFit(held.definition.value, netdev, link);
  return FindProfileFit(held.keyfile, netdev, link == nullptr ? LinkFact() : *link);
}

std::vector<HeldProfile> ListHeldProfiles(const NodeFacts& facts) {
  std::vector<HeldProfile> all;
  const auto add = [&](const std::string& path, const FileState* state) {
    auto held = state == nullptr ? std::nullopt : ReadHeldProfile(path, state->content);
    if (held) all.push_back(*std::move(held));
  };
  for (const OwnerFile& one : ListProfiles(facts)) add(one.path, one.state);
  for (const std::string& path : ReadForeignTree(facts, {}).files) {
    const Observed<FileState> file = FindFile(facts, path);
    add(path, Known(file));
  }
  return all;
}

}  // namespace reconciler::plugins::netplan
