#include "plugins/netplan/live_master.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "plugins/common/commands/one_line.h"
#include "plugins/netplan/activation.h"
#include "plugins/netplan/adopt/claims.h"
#include "plugins/netplan/adopt/paths.h"
#include "plugins/netplan/intent.h"
#include "plugins/netplan/reads/rdma_users.h"
#include "plugins/netplan/scripts/make_master.sh.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr std::string_view kMasterKind = "master";
constexpr const char* kNoEntry = "remove it from adopt";
constexpr std::string_view kMakeSh = FindLastLine(kMakeMasterSh);

void RefuseMaster(std::string why, std::string next_step, LiveMaster& master) {
  master.why_not = std::move(why);
  master.next_step = std::move(next_step);
}

bool IsMacAddress(const std::string& text) {
  return text.size() == std::string_view("00:00:00:00:00:00").size() &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isxdigit(c) != 0 || c == ':'; });
}

std::vector<std::string> ListMembers(const NodeFacts& facts, const std::string& master) {
  std::vector<std::string> members;
  for (const auto& [netdev, link] : facts.links) {
    if (link.master == master) members.push_back(netdev);
  }
  return members;
}

// What `ip` does not show well enough, or what no command here sets.
void CheckSettings(const PluginInput& input, const LinkFact& link, LiveMaster& master) {
  const auto found = input.facts.network.masters.find(master.name);
  if (found == input.facts.network.masters.end() || link.mtu == 0 || !IsMacAddress(link.mac)) {
    RefuseMaster("its settings cannot be read", kNoEntry, master);
    return;
  }
  const MasterFact& fact = found->second;
  if (!fact.not_kept.empty()) {
    RefuseMaster(fmt::format("its setting {} could not be made again", fact.not_kept), kNoEntry,
                 master);
  }
  for (const std::string& address : link.ipv6) {
    if (address.starts_with("fe80:")) continue;
    RefuseMaster(fmt::format("its address {} could not be made again", MakePrintable(address)),
                 kNoEntry, master);
  }
  if (fact.kind != "bond" && fact.kind != "bridge") {
    RefuseMaster(fmt::format("it is a {}", fact.kind), kNoEntry, master);
  }
}

void CheckRoutes(const PluginInput& input, const LinkFact& link, LiveMaster& master) {
  const auto* routes = Known(input.facts.network.routes);
  for (const RouteFact& route : routes != nullptr ? *routes : std::vector<RouteFact>()) {
    const bool is_of_address =
        std::any_of(link.ipv4.begin(), link.ipv4.end(),
                    [&](const Ipv4Prefix& one) { return one.Network() == route.destination; });
    if (route.netdev != master.name || is_of_address) continue;
    RefuseMaster(fmt::format("the route to {} goes over it, and could not be made again",
                             ToString(route.destination)),
                 "remove the route, or " + std::string(kNoEntry), master);
  }
}

// Who configures it or a member would make it again, or take the members out of it.
void CheckManagers(const PluginInput& input, const std::vector<Adoption>& adoptions,
                   LiveMaster& master) {
  std::vector<std::string> netdevs = master.members;
  netdevs.push_back(master.name);
  if (const std::string& unclear = input.facts.network.managers_unclear; !unclear.empty()) {
    RefuseMaster("it is unknown what configures it: " + unclear,
                 fmt::format("delete {} and remove what makes it at boot", master.name), master);
  }
  for (const std::string& netdev : netdevs) {
    const LinkFact* link = FindLink(input, netdev);
    if (link == nullptr || link->manager == LinkManager::kNone) continue;
    RefuseMaster(
        fmt::format("{} configures {}",
                    link->manager == LinkManager::kNetworkd ? "networkd" : "NetworkManager",
                    netdev),
        fmt::format("delete {} and remove what makes it at boot", master.name), master);
  }
  for (const Adoption& adoption : adoptions) {
    const auto both = std::find_first_of(adoption.ours.begin(), adoption.ours.end(),
                                         master.members.begin(), master.members.end());
    if (!adoption.is_there || both == adoption.ours.end()) continue;
    RefuseMaster(fmt::format("{}, which is adopted too, configures its member {}",
                             adoption.entry.path, *both),
                 fmt::format("delete {} and remove what makes it at boot", master.name), master);
  }
  if (ReadForeignTree(input.facts, {}).renderer != Renderer::kNetworkd) {
    RefuseMaster("the node's ports of the fabric are NetworkManager's",
                 fmt::format("delete {} and remove what makes it at boot", master.name), master);
  }
}

void CheckUsers(const PluginInput& input, const std::vector<std::string>& netdevs,
                const Protection& protection, LiveMaster& master) {
  const std::string in_use =
      ExplainMasterInUse(input, {.name = master.name, .members = master.members}, netdevs);
  if (!in_use.empty()) {
    RefuseMaster(in_use, fmt::format("take that from {}, or {}", master.name, kNoEntry), master);
  }
  const bool has_ours =
      std::any_of(master.members.begin(), master.members.end(), [&](const std::string& member) {
        return std::find(netdevs.begin(), netdevs.end(), member) != netdevs.end();
      });
  if (!has_ours) RefuseMaster("it has no port of the fabric among its members", kNoEntry, master);
  const auto carries = protection.carries.find(master.name);
  if (carries != protection.carries.end()) {
    RefuseMaster(fmt::format("it {}", carries->second), kNoEntry, master);
  }
}

// The last word counts: what leads to the node comes before all else.
LiveMaster JudgeMaster(const PluginInput& input, const std::string& name,
                       const std::vector<Adoption>& adoptions,
                       const std::vector<std::string>& netdevs, const Protection& protection) {
  LiveMaster master{.name = name, .members = ListMembers(input.facts, name)};
  const LinkFact* link = FindLink(input, name);
  if (link == nullptr || master.members.empty()) return master;
  CheckSettings(input, *link, master);
  CheckRoutes(input, *link, master);
  CheckManagers(input, adoptions, master);
  CheckUsers(input, netdevs, protection, master);
  return master;
}

bool HasFile(const NodeFacts& facts, const std::string& master) {
  const ForeignTree tree = ReadForeignTree(facts, {master});
  return !tree.claims.empty() || !tree.unclear.empty();
}

RunCommand SetMaster(const std::string& netdev, std::vector<std::string> argv) {
  return {.argv = std::move(argv), .must_succeed = true, .sets = "/sys/class/net/" + netdev};
}

// A bond takes a port only while it is down.
void AddMember(const PluginInput& input, const std::string& member, const std::string& master,
               bool is_bond, std::vector<RunCommand>& commands) {
  const auto set = [&](std::vector<std::string> words) {
    std::vector<std::string> argv = {"ip", "link", "set", "dev", member};
    argv.insert(argv.end(), words.begin(), words.end());
    commands.push_back(SetMaster(member, std::move(argv)));
  };
  if (is_bond) set({"down"});
  set({"master", master});
  set({FindLink(input, member)->admin_up ? "up" : "down"});
}

// As it was, whoever made it.
std::vector<RunCommand> MakeAgain(const PluginInput& input, const LiveMaster& master) {
  const LinkFact& link = *FindLink(input, master.name);
  const MasterFact& fact = input.facts.network.masters.at(master.name);
  RunCommand make{.argv = {"sh", "-c", std::string(kMakeSh), "sh", master.name, "address", link.mac,
                           "type", fact.kind},
                  .must_succeed = true};
  make.argv.insert(make.argv.end(), fact.options.begin(), fact.options.end());
  std::vector<RunCommand> commands = {std::move(make)};
  for (const std::string& member : master.members) {
    AddMember(input, member, master.name, fact.kind == "bond", commands);
  }
  const auto set = [&](std::vector<std::string> argv) {
    commands.push_back(SetMaster(master.name, std::move(argv)));
  };
  set({"ip", "link", "set", "dev", master.name, "mtu", fmt::format("{}", link.mtu)});
  for (const Ipv4Prefix& address : link.ipv4) {
    set({"ip", "address", "replace", ToString(address), "broadcast", "+", "dev", master.name});
  }
  set({"ip", "link", "set", "dev", master.name, link.admin_up ? "up" : "down"});
  return commands;
}

// "bridge stp_state 1, up, mtu 1500, 192.168.50.1/24, of enp1s0f1np1": a change of any of it makes
// a plan stale.
std::string FormatMaster(const PluginInput& input, const LiveMaster& master) {
  const LinkFact& link = *FindLink(input, master.name);
  const auto fact = input.facts.network.masters.find(master.name);
  std::string text = fact == input.facts.network.masters.end()
                         ? "unknown"
                         : Join({fact->second.kind, Join(fact->second.options, " ")}, " ");
  text += fmt::format(", {}, mtu {}, {}", link.admin_up ? "up" : "down", link.mtu, link.mac);
  for (const Ipv4Prefix& address : link.ipv4) text += ", " + ToString(address);
  return MakePrintable(text + ", of " + Join(master.members, " "));
}

Resource MakeLiveMaster(const PluginInput& input, const Intent& intent, const LiveMaster& master) {
  Resource resource{.kind = std::string(kMasterKind),
                    .name = master.name,
                    .node = input.node.name,
                    .adopts = true,
                    .impact = Impact::kLinkFlap,
                    .blocked = intent.blocked,
                    .needs = {fmt::format("{}/file/{}", input.node.name, kOwnFile)},
                    .where = input.cluster.Mark(master.position)};
  if (master.members.empty()) return resource;
  resource.observed = ResourceState(FormatMaster(input, master));
  resource.owner = {.name = master.name, .claims = master.members};
  if (!master.why_not.empty()) {
    resource.blocked = {
        .code = "netplan-not-adopted",
        .why = fmt::format("is not adopted: {}: {}", master.why_not, master.next_step)};
    return resource;
  }
  const std::vector<RunCommand> again = MakeAgain(input, master);
  resource.label = fmt::format(
      "{} of {}, dissolved; it is live only: uninstall makes it again, a restart does "
      "not",
      input.facts.network.masters.at(master.name).kind, Join(master.members, ", "));
  resource.apply = {Dissolve(master.name)};
  resource.revert.assign(again.begin(), again.end());
  resource.triggers = ActivateOurs(input, intent);
  resource.prune_commands = PruneCommands{.after = again};
  std::vector<RailPort> ports;
  for (const std::string& member : master.members) ports.push_back({.netdev = member});
  resource.interrupts = ListCutOff(input.facts, ports);
  return resource;
}

}  // namespace

std::vector<LiveMaster> FindLiveMasters(const PluginInput& input, const Masters& named,
                                        const std::vector<Adoption>& adoptions,
                                        const std::vector<std::string>& netdevs,
                                        const Protection& protection) {
  std::vector<LiveMaster> masters;
  for (const std::string& name : named) {
    if (HasFile(input.facts, name)) continue;  // it goes with the file, or the file is in the way
    masters.push_back(JudgeMaster(input, name, adoptions, netdevs, protection));
    masters.back().position = FindMasterPosition(input.cluster, name);
  }
  return masters;
}

Masters ListAdopted(const std::vector<LiveMaster>& masters) {
  Masters names;
  for (const LiveMaster& one : masters) {
    if (!one.members.empty() && one.why_not.empty()) names.insert(one.name);
  }
  return names;
}

void ExplainNotAdopted(const std::vector<LiveMaster>& masters, std::vector<Claim>& claims) {
  for (const LiveMaster& master : masters) {
    for (Claim& claim : claims) {
      if (claim.kind != ClaimKind::kMaster || claim.path != master.name) continue;
      claim.not_adopted = master.why_not;
      claim.to_adopt = master.next_step;
    }
  }
}

std::vector<AdoptableFile> ListAdoptableMasters(const PluginInput& input,
                                                const std::vector<std::string>& netdevs) {
  std::vector<AdoptableFile> masters;
  for (const Claim& claim : FindMasterClaims(input.facts, netdevs, {})) {
    if (HasFile(input.facts, claim.path) || !CanNameMaster(claim.path)) continue;
    const LiveMaster master =
        JudgeMaster(input, claim.path, {}, netdevs, FindProtection(input.node, input.facts));
    if (!master.why_not.empty()) continue;
    masters.push_back({claim.path, "master: " + claim.path, "", ""});
  }
  return masters;
}

std::vector<Resource> MakeLiveMasters(const PluginInput& input, const Intent& intent) {
  std::vector<Resource> resources;
  for (const LiveMaster& master : intent.masters) {
    resources.push_back(MakeLiveMaster(input, intent, master));
  }
  return resources;
}

bool IsLiveMaster(const Change& change) { return change.kind == kMasterKind; }

std::vector<std::string> ListMembersOf(const Change& change) {
  std::vector<std::string> members;
  for (const RunCommand& command : change.triggers) {
    const std::vector<std::string>& argv = command.argv;  // ip link set dev MEMBER master NAME
    if (argv.size() == 7 && argv[5] == "master") members.push_back(argv[4]);
  }
  return members;
}

}  // namespace reconciler::plugins::netplan
