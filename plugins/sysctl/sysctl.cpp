#include "plugins/sysctl/sysctl.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plugins/common/adopt/list_of_all.h"
#include "plugins/common/commands/in_place.h"
#include "plugins/common/ownership/owned.h"
#include "plugins/common/ownership/state.h"
#include "plugins/common/ports/links.h"
#include "plugins/common/protection/protection.h"
#include "plugins/sysctl/adopted_lines.h"
#include "plugins/sysctl/arp.h"
#include "plugins/sysctl/dropins.h"
#include "plugins/sysctl/keys.h"
#include "plugins/sysctl/needs.h"
#include "plugins/sysctl/read_only.sh.h"
#include "plugins/sysctl/restore.h"
#include "plugins/sysctl/values.h"
#include "reconciler/base/manifest_error.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::sysctl {
namespace {

constexpr std::string_view kProcSys = "/proc/sys/";
constexpr const char* kReadOnly = "sysctl.readonly";

struct Wanted {
  std::string value = {};
  Position position = {};
};

// By canonical key. The manifest's own value of a key counts more than what the fabric requires.
std::map<std::string, Wanted> ReadWanted(const ClusterSpec& cluster, const Fabric& fabric,
                                         const NodeName& node) {
  std::map<std::string, Wanted> wanted;
  const auto ports = fabric.ports.find(node);
  if (ports != fabric.ports.end() && IsArpManaged(cluster)) {
    for (const RailPort& port : ports->second) {
      for (const auto& [key, value] : ListArpValues({port})) wanted[key] = {value, port.position};
    }
  }
  const Member* section = cluster.FindSection(node, "sysctl");
  if (section == nullptr) return wanted;
  for (const Member& member : section->value.Members()) {
    if (const auto key = NormalizeKey(member.key)) {
      wanted[*key] = {NormalizeValue(member.value.ScalarText()), member.key_position};
    }
  }
  return wanted;
}

// Read although nothing sets them: see FindWithoutIpv6.
std::set<std::string> ListIpv6Keys(const Fabric& fabric, const NodeName& node) {
  std::set<std::string> keys;
  const auto ports = fabric.ports.find(node);
  if (ports == fabric.ports.end()) return keys;
  for (const RailPort& port : ports->second) {
    keys.insert(MakeInterfaceKey(port.netdev, "disable_ipv6", "ipv6"));
  }
  return keys;
}

std::vector<Read> Probe(const ClusterSpec& cluster, const Fabric& fabric, const NodeSpec& node) {
  const auto wanted = ReadWanted(cluster, fabric, node.name);
  std::set<std::string> keys = ListIpv6Keys(fabric, node.name);
  keys.merge(ListArpKeys(fabric, node.name));
  for (const auto& [key, value] : wanted) {
    keys.insert(key);
    if (std::string partner = FindPartner(key); !partner.empty()) keys.insert(std::move(partner));
  }
  if (keys.empty()) return {};
  std::vector<Read> reads;
  if (!wanted.empty()) {
    reads = {ReadFile{std::string(kOwnFile)},
             ReadFile{"/etc/sysctl.conf"},
             ReadFiles{"/etc/sysctl.d/*.conf"},
             ReadFiles{"/run/sysctl.d/*.conf"},
             ReadFiles{"/usr/local/lib/sysctl.d/*.conf"},
             ReadFiles{"/usr/lib/sysctl.d/*.conf"}};
  }
  RunProbe probe = MakeInPlaceProbe(kReadOnly, kReadOnlySh);
  for (std::string& path : ListAdoptedPaths(cluster, node.name)) {
    reads.push_back(ReadFile{std::move(path)});
  }
  for (const std::string& key : keys) {
    reads.push_back(ReadValue{MakeKeyPath(key)});
    probe.argv.push_back(MakeKeyPath(key));
  }
  reads.push_back(std::move(probe));
  return reads;
}

void Parse(const ProbeReply& reply, NodeFacts& facts) {
  const auto listed = reply.commands.find(kReadOnly);
  if (listed == reply.commands.end()) return;  // nothing was requested
  std::set<std::string> requested;
  std::set<std::string> read_only;
  for (const std::string& line : SplitLines(listed->second.out)) {
    if (line.size() < 2 || !line.substr(2).starts_with(kProcSys)) continue;
    const std::string key = ReadKeyFromPath(line.substr(2));
    requested.insert(key);
    if (line.starts_with("r ")) read_only.insert(key);
  }
  // Other plugins read files below /proc/sys too. Where the list broke off, a value too many is
  // better than one that is missing.
  const bool whole = listed->second.exit_code == 0 && !requested.empty();
  for (const auto& [path, value] : reply.values) {
    if (!path.starts_with(kProcSys)) continue;
    const std::string key = ReadKeyFromPath(path);
    if (whole && !requested.contains(key)) continue;
    const auto* text = Known(value);
    facts.sysctl.keys[key] = text != nullptr ? Observed<std::string>(NormalizeValue(*text)) : value;
  }
  facts.sysctl.readonly = std::move(read_only);
}

bool IsReadOnly(const NodeFacts& facts, const std::string& key) {
  const auto* keys = Known(facts.sysctl.readonly);
  return keys != nullptr && keys->contains(key);
}

// Why a key of an interface may not be set.
Obstacle FindKeyObstacle(const Protection& protection, const std::string& key) {
  const std::string netdev = FindInterface(key);
  if (netdev.empty()) return {};
  return {.code = "sysctl-leads-to-node", .why = ExplainProtected(protection, {netdev})};
}

Position FindPosition(const PluginInput& input) {
  const Member* section = input.cluster.FindSection(input.node.name, "sysctl");
  return section != nullptr ? section->key_position : input.cluster.fabric.position;
}

// The links of the ports that the keys are about.
std::vector<std::string> ListNeeds(const PluginInput& input, const std::set<std::string>& netdevs) {
  const auto ports = input.fabric.ports.find(input.node.name);
  if (ports == input.fabric.ports.end()) return {};
  std::vector<RailPort> needed;
  for (const RailPort& port : ports->second) {
    if (netdevs.contains(port.netdev)) needed.push_back(port);
  }
  return ListLinkIds(needed);
}

Resource MakeFileResource(const PluginInput& input, const std::map<std::string, Wanted>& wanted,
                          const Protection& protection) {
  std::string body;
  Obstacle blocked;
  std::set<std::string> netdevs;
  for (const auto& [key, one] : wanted) {
    netdevs.insert(FindInterface(key));
    const Obstacle obstacle = FindKeyObstacle(protection, key);
    if (!obstacle.empty() && !protection.unclear.empty()) blocked = obstacle;
    // The next boot would set what must not be set now.
    if (obstacle.empty() || !blocked.empty()) body += fmt::format("{} = {}\n", key, one.value);
  }
  Resource resource{
      .kind = "file",
      .name = std::string(kOwnFile),
      .node = input.node.name,
      .desired = ResourceState(FileState{.content = FormatOwnedFile(input.cluster.name, body)}),
      .observed = AsState(FindFile(input.facts, std::string(kOwnFile))),
      .trial = {.path = std::string(kTrialFile)},
      .blocked = std::move(blocked),
      // The next boot would set the keys of ports that are held. The others are set live all the
      // same: they are drift after a restart, until the file can be written.
      .needs = ListNeeds(input, netdevs),
      .where = input.cluster.Mark(FindPosition(input))};
  BlockUnlessOurs(resource, input.cluster.name, input.cluster.former_name);
  return resource;
}

// Why a key that differs may not be set now.
Obstacle FindLiveObstacle(const PluginInput& input, const Protection& protection,
                          const std::string& key, const std::string& before,
                          const std::string& wanted) {
  if (Obstacle obstacle = FindKeyObstacle(protection, key); !obstacle.empty()) return obstacle;
  if (IsReadOnly(input.facts, key)) return {.code = "sysctl-read-only", .why = "read-only here"};
  if (StaysUntilRestart(key, wanted)) {
    return {.code = "sysctl-one-way",
            .why =
                "the kernel takes no other value after it, so that a failed apply could not set "
                "it back: the next boot sets it"};
  }
  if (StaysUntilRestart(key, before)) {
    return {.code = "sysctl-one-way", .why = "the kernel takes no other value until a restart"};
  }
  return {};
}

Resource MakeLiveResource(const PluginInput& input, const std::string& key, const Wanted& wanted,
                          const Protection& protection) {
  const Observed<std::string> observed = FindOrUnknown(input.facts.sysctl.keys, key);
  Resource resource{.kind = "sysctl",
                    .name = key,
                    .node = input.node.name,
                    .desired = ResourceState(wanted.value),
                    .observed = AsState(observed),
                    .apply = {MakeSetCommand(key, wanted.value)},
                    .needs = ListNeeds(input, {FindInterface(key)}),
                    .where = input.cluster.Mark(wanted.position)};
  if (std::holds_alternative<Absent>(observed)) {
    resource.blocked = {
        .code = "sysctl-no-such-key",
        .why = fmt::format("wanted {}: this kernel (or namespace) has no such key", wanted.value)};
  }
  const auto* before = Known(observed);
  if (before == nullptr) return resource;
  resource.revert = {MakeRestoreCommand(input.facts, key, *before)};
  resource.prune_commands = FindPartnersOriginal(input.facts, key);
  if (std::string why = ExplainNoRestore(input.facts, key, *before);
      !why.empty() && *before != wanted.value) {
    resource.observed = Unknown{std::move(why)};
    return resource;
  }
  Obstacle obstacle = FindLiveObstacle(input, protection, key, *before, wanted.value);
  if (obstacle.empty()) return resource;
  obstacle.why = fmt::format("{} → {}: {}", *before, wanted.value, obstacle.why);
  resource.blocked = std::move(obstacle);
  return resource;
}

// Only then the ledger learns of it.
bool IsSetNow(const Resource& live) {
  const ResourceState* observed = Known(live.observed);
  return live.blocked.empty() && observed != nullptr &&
         *observed != std::get<ResourceState>(live.desired);
}

// The key of a pair that the manifest had before this one, while this one is not set: its entry in
// the ledger has the only original of both. nullopt: there is none, or this one takes it over.
std::optional<Resource> KeepFormerKey(const PluginInput& input,
                                      const std::map<std::string, Wanted>& wanted,
                                      const Resource& live) {
  std::string partner = FindPartner(live.name);
  const Ledger* ledger = Known(input.facts.ledger);
  if (partner.empty() || wanted.contains(partner) || ledger == nullptr) return std::nullopt;
  const bool has_only_partner = ledger->Find("sysctl/" + partner) != nullptr &&
                                ledger->Find("sysctl/" + live.name) == nullptr;
  if (!has_only_partner || IsSetNow(live)) return std::nullopt;
  return Resource{.kind = live.kind,
                  .name = std::move(partner),
                  .node = live.node,
                  .left_as_is = true,
                  .where = live.where};
}

std::vector<Resource> Resources(const PluginInput& input) {
  const auto wanted = ReadWanted(input.cluster, input.fabric, input.node.name);
  const Protection protection = FindProtection(input.node, input.facts);
  std::set<std::string> written;
  for (const auto& [key, one] : wanted) {
    if (FindKeyObstacle(protection, key).empty()) written.insert(key);
  }
  std::vector<Resource> resources = MakeAdoptedLines(input, written);
  if (wanted.empty()) return resources;
  resources.push_back(MakeFileResource(input, wanted, protection));
  for (const auto& [key, one] : wanted) {
    resources.push_back(MakeLiveResource(input, key, one, protection));
    if (auto former = KeepFormerKey(input, wanted, resources.back())) {
      resources.push_back(std::move(*former));
    }
  }
  return resources;
}

Ownership CheckPrune(const PluginInput& input, Change& change) {
  if (change.kind != "sysctl") return Ownership::kOurs;
  const std::string partner = input.uninstall ? "" : FindPartner(change.name);
  const bool partner_is_set =
      !partner.empty() &&
      ReadWanted(input.cluster, input.fabric, input.node.name).contains(partner);
  std::string why = ExplainNotPruned(change, partner_is_set);
  if (why.empty()) return Ownership::kOurs;
  change.detail = std::move(why);
  return Ownership::kNoOnes;
}

// Ports on which a node cannot show a beacon, so that its peers and it cannot commit together
// without the controller. Where the manifest sets the key, that is a change.
std::vector<Diagnostic> FindWithoutIpv6(const PluginInput& input,
                                        const std::map<std::string, Wanted>& wanted) {
  std::vector<Diagnostic> diagnostics;
  const auto ports = input.fabric.ports.find(input.node.name);
  if (ports == input.fabric.ports.end()) return diagnostics;
  for (const RailPort& port : ports->second) {
    const std::string key = MakeInterfaceKey(port.netdev, "disable_ipv6", "ipv6");
    const Observed<std::string> value = FindOrUnknown(input.facts.sysctl.keys, key);
    const auto* known = Known(value);
    if (known == nullptr || *known == "0" || wanted.contains(key)) continue;
    diagnostics.push_back(
        {.severity = Severity::kWarns,
         .code = "sysctl-ipv6-disabled",
         .message = fmt::format("sysctl: wanted 0 for {}, found {}: nodes show over IPv6 on the "
                                "fabric that they are ready to commit",
                                key, *known),
         .next_step = fmt::format("set {} to 0, and remove what disables it", key),
         .where = input.cluster.Mark(port.position),
         .subject = key});
  }
  return diagnostics;
}

// Of what `wanted` has, by the file that sets it to another value at the next boot.
KeysByFile ListOverriding(const NodeFacts& facts, const std::map<std::string, Wanted>& wanted) {
  KeysByFile overriding;
  const std::map<std::string, Setting> later = FindLaterSettings(facts);
  for (const auto& [key, one] : wanted) {
    const auto found = later.find(key);
    if (found == later.end() || found->second.value == one.value) continue;
    overriding[found->second.path].insert(key);
  }
  return overriding;
}

// Of all nodes: they have one entry for each file.
KeysByFile ListOverridingOfAll(const ClusterSpec& cluster, const Fabric& fabric,
                               const ClusterFacts& all) {
  KeysByFile overriding;
  for (const auto& [name, facts] : all.nodes) {
    const auto wanted = ReadWanted(cluster, fabric, name);
    for (const auto& [path, keys] : ListOverriding(facts, wanted)) {
      overriding[path].insert(keys.begin(), keys.end());
    }
  }
  return overriding;
}

std::vector<AdoptableFile> ListAdoptable(const ClusterSpec& cluster, const Fabric& fabric,
                                         const ClusterFacts& all) {
  const KeysByFile overriding = ListOverridingOfAll(cluster, fabric, all);
  return ListOfAll<PluginInput>(cluster, fabric, all, [&](const PluginInput& input) {
    return ListAdoptableLines(input, overriding);
  });
}

// The next boot reverts what holds now, and our file cannot change that.
std::vector<Diagnostic> FindOverridden(const PluginInput& input,
                                       const std::map<std::string, Wanted>& wanted) {
  std::vector<Diagnostic> diagnostics;
  if (ListOverriding(input.facts, wanted).empty()) return diagnostics;
  const std::map<std::string, Setting> later = FindLaterSettings(input.facts);
  for (const auto& [key, one] : wanted) {
    const auto found = later.find(key);
    if (found == later.end() || found->second.value == one.value) continue;
    diagnostics.push_back(
        {.severity = Severity::kWarns,
         .code = "sysctl-overridden-at-boot",
         .message =
             fmt::format("sysctl: the next boot sets {} to {} and not to {}: {} is read after {}",
                         key, found->second.value, one.value, found->second.path, kOwnFile),
         .next_step = AdviseOnLine(input, found->second.path, key),
         .where = input.cluster.Mark(one.position),
         .subject = key});
  }
  return diagnostics;
}

// The same by a line about the other key of a pair, which our file does not set.
std::vector<Diagnostic> FindOverriddenByPartner(const PluginInput& input,
                                                const std::map<std::string, Wanted>& wanted) {
  std::vector<Diagnostic> diagnostics;
  const std::map<std::string, Setting> later = FindLaterSettings(input.facts);
  for (const auto& [key, one] : wanted) {
    const auto found = later.find(FindPartner(key));
    if (found == later.end() || found->second.value == "0") continue;
    diagnostics.push_back(
        {.severity = Severity::kWarns,
         .code = "sysctl-overridden-at-boot",
         .message =
             fmt::format("sysctl: the next boot sets {} to 0 and not to {}: {} is read after "
                         "{} and sets {}",
                         key, one.value, found->second.path, kOwnFile, found->first),
         .next_step = fmt::format("remove {} from {}", found->first, found->second.path),
         .where = input.cluster.Mark(one.position),
         .subject = key});
  }
  return diagnostics;
}

// What they set may win over ours.
std::vector<Diagnostic> FindUnreadDropIns(const PluginInput& input,
                                          const std::map<std::string, Wanted>& wanted) {
  std::vector<Diagnostic> diagnostics;
  if (wanted.empty()) return diagnostics;
  for (const auto& [path, why] : FindUnreadLater(input.facts)) {
    diagnostics.push_back(
        {.severity = Severity::kWarns,
         .code = "sysctl-dropin-unread",
         .message =
             fmt::format("sysctl: cannot determine what the next boot sets: {} is read after "
                         "{} and could not be read ({})",
                         MakePrintable(path), kOwnFile, why),
         .next_step = "check that it sets no key of the manifest, or make it a plain file that "
                      "can be read",
         .where = input.cluster.Mark(FindPosition(input)),
         .subject = MakePrintable(path)});
  }
  return diagnostics;
}

std::vector<Diagnostic> Diagnose(const PluginInput& input) {
  const auto wanted = ReadWanted(input.cluster, input.fabric, input.node.name);
  std::vector<Diagnostic> diagnostics = FindOverridden(input, wanted);
  for (Diagnostic& one : FindOverriddenByPartner(input, wanted)) {
    diagnostics.push_back(std::move(one));
  }
  for (Diagnostic& one : FindUnreadDropIns(input, wanted)) diagnostics.push_back(std::move(one));
  for (Diagnostic& one : FindWithoutIpv6(input, wanted)) diagnostics.push_back(std::move(one));
  std::map<std::string, std::string> values;
  for (const auto& [key, one] : wanted) values[key] = one.value;
  for (Diagnostic& one : FindMisleadingArp(input, values)) diagnostics.push_back(std::move(one));
  return diagnostics;
}

std::string_view DescribeKind(const Value& value) {
  if (value.IsNull()) return "nothing";
  if (value.IsMap()) return "a map";
  if (value.IsList()) return "a list";
  return value.ScalarText().find('\n') != std::string::npos ? "several lines" : "";
}

// Problems of one entry whose key is one: of its value's form, its range, and of what it means for
// the fabric; the first that is found.
std::optional<Error> CheckValue(const ClusterSpec& cluster, const Fabric& fabric,
                                const Member& member, const std::string& key) {
  const auto make_error = [&](std::string code, std::string_view wanted, std::string_view found,
                              std::string hint) {
    return MakeManifestError(
        std::move(code), cluster.Mark(member.value.position),
        fmt::format("sysctl: wanted {} for '{}', found {}", wanted, member.key, found),
        std::move(hint));
  };
  if (const std::string_view kind = DescribeKind(member.value); !kind.empty()) {
    return make_error("sysctl-value-refused", "one line of text or a number", kind,
                      "write several numbers as one text, like '4096 131072 6291456'");
  }
  const std::string value = NormalizeValue(member.value.ScalarText());
  const std::string found = value.empty() ? "nothing" : fmt::format("'{}'", MakePrintable(value));
  if (auto bad = JudgeValue(key, value))
    return make_error("sysctl-value-refused", bad->wanted, found, bad->hint);
  if (auto wrong = FindContradiction(fabric, IsArpManaged(cluster), key, value);
      !wrong.wanted.empty()) {
    return make_error("sysctl-against-fabric", wrong.wanted, found, wrong.why + ": leave it out");
  }
  return std::nullopt;
}

// The nodes of an entry of `adopt` on which our file does not set that key.
std::vector<std::string> ListWithout(const ClusterSpec& cluster, const Fabric& fabric,
                                     const Value& entry, const std::string& key) {
  std::vector<std::string> without;
  const Value* nodes = entry.Find("nodes");
  if (nodes == nullptr) return without;
  for (const Member& one : nodes->Members()) {
    if (!ReadWanted(cluster, fabric, one.key).contains(key)) without.push_back(one.key);
  }
  return without;
}

// Without a line of ours no file would set the key of a line that is removed.
Errors CheckAdopted(const ClusterSpec& cluster, const Fabric& fabric) {
  Errors errors;
  const Value* section = cluster.settings.Find("adopt");
  if (section == nullptr) return errors;
  for (const Value& entry : section->List()) {
    const Value* match = entry.Find("match");
    if (match == nullptr || !CanHaveLinesAdopted(entry.GetText("lines"))) continue;
    for (const Value& one : match->List()) {
      const std::string written = MakePrintable(one.ScalarText());
      const auto key = NormalizeKey(one.ScalarText());
      const std::vector<std::string> without =
          key ? ListWithout(cluster, fabric, entry, *key) : std::vector<std::string>();
      if (key && without.empty()) continue;
      errors.push_back(MakeManifestError(
          "sysctl-adopt-key", cluster.Mark(one.position),
          key ? fmt::format("adopt: wanted keys in match that the manifest sets, found '{}', which "
                            "it does not set on {}",
                            written, Join(without, ", "))
              : fmt::format("adopt: wanted keys like 'net.core.rmem_max' in match, found '{}'",
                            written),
          "remove it from match, or set it in sysctl"));
    }
  }
  return errors;
}

// A node's section has all keys of the cluster's too.
std::string AdviseOnPair(const ClusterSpec& cluster, const Value& section) {
  return &section == cluster.settings.Find("sysctl")
             ? "keep one of them"
             : "keep one of them; where the cluster's sysctl has the other one, write that one for "
               "each of the other nodes instead";
}

Errors CheckSection(const ClusterSpec& cluster, const Fabric& fabric, const Value& section) {
  Errors errors;
  std::map<std::string, std::string> seen;  // canonical key → as written
  for (const Member& member : section.Members()) {
    const auto key = NormalizeKey(member.key);
    if (!key) {
      errors.push_back(MakeManifestError(
          "sysctl-key-malformed", cluster.Mark(member.key_position),
          fmt::format("sysctl: wanted a key like 'net.core.rmem_max', found '{}'",
                      MakePrintable(member.key)),
          "letters, digits, _ and - with dots between them; a dot in an interface name "
          "is written as a slash"));
      continue;
    }
    if (const auto [first, fresh] = seen.emplace(*key, member.key); !fresh) {
      errors.push_back(MakeManifestError(
          "sysctl-key-twice", cluster.Mark(member.key_position),
          fmt::format("sysctl: '{}' and '{}' are the same key", first->second, member.key),
          "keep one of them"));
    }
    if (const auto other = seen.find(FindPartner(*key)); other != seen.end()) {
      errors.push_back(MakeManifestError(
          "sysctl-keys-exclusive", cluster.Mark(member.key_position),
          fmt::format(
              "sysctl: wanted one of '{}' and '{}', found both: the kernel sets one of them "
              "to 0 when the other is written",
              other->second, member.key),
          AdviseOnPair(cluster, section)));
    }
    if (const auto meant = FindMeantKey(*key)) {
      errors.push_back(MakeManifestError("sysctl-key-misspelt", cluster.Mark(member.key_position),
                                         fmt::format("sysctl: unknown key '{}', did you mean '{}'?",
                                                     MakePrintable(member.key), *meant),
                                         "`sysctl -a` on a node lists its keys"));
    } else if (auto error = CheckValue(cluster, fabric, member, *key)) {
      errors.push_back(std::move(*error));
    }
  }
  return errors;
}

Errors Check(const ClusterSpec& cluster, const Fabric& fabric) {
  Errors errors = CheckAdopted(cluster, fabric);
  for (const Member* section : cluster.ListSections("sysctl")) {
    for (Error& error : CheckSection(cluster, fabric, section->value)) {
      errors.push_back(std::move(error));
    }
  }
  return errors;
}

}  // namespace

Plugin Get() {
  return {.name = "sysctl",
          .probe = Probe,
          .parse = Parse,
          .resources = Resources,
          .check_prune = CheckPrune,
          .check = Check,
          .diagnose = Diagnose,
          .adoptable = ListAdoptable,
          .find_setting = FindArpSetting};
}

}  // namespace reconciler::plugins::sysctl
