#include "plugins/netplan/adopt/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/netplan/adopt/owner_files.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

std::string NameOurUnit(const std::string& netdev) {
  return fmt::format("10-netplan-{}.network", netdev);
}

using Decides = bool (*)(const OwnerFile&, const std::string&, const LinkFact&);

bool DoesUnitMatch(const OwnerFile& unit, const std::string& netdev, const LinkFact& link) {
  return IsUnitAbout(unit.state->content, netdev, link);
}

bool DoesUnitDecide(const OwnerFile& unit, const std::string& netdev, const LinkFact& link) {
  return IsReadBeforeOurs(unit.path, netdev) && DoesUnitMatch(unit, netdev, link);
}

bool DoesProfileDecide(const OwnerFile& file, const std::string& netdev, const LinkFact& link) {
  return MayWin(ReadProfile(file), FindProfileFit(file.state->content, netdev, link));
}

std::vector<std::string> ListDecided(const NodeFacts& facts, const OwnerFile& file, Decides decides,
                                     const std::vector<std::string>& netdevs) {
  std::vector<std::string> decided;
  for (const std::string& netdev : netdevs) {
    const auto link = facts.links.find(netdev);
    if (link != facts.links.end() && decides(file, netdev, link->second)) decided.push_back(netdev);
  }
  return decided;
}

std::string JoinReleases(const std::vector<std::string>& netdevs) {
  std::vector<std::string> commands;
  for (const std::string& netdev : netdevs) {
    commands.push_back(fmt::format("ip link set dev {} nomaster", netdev));
  }
  return Join(commands, " && ");
}

// cloud-init writes its file again, as where the node is started with other data.
std::string AdviseOnWriter(const Claim& claim) {
  if (claim.kind != ClaimKind::kNetplan || GuessOwner(claim.path) != "cloud-init") return {};
  return ", and keep cloud-init from writing it again: `network: {config: disabled}` in a file in "
         "/etc/cloud/cloud.cfg.d/";
}

// Whoever follows bad advice on what leads to the node locks himself out.
std::string AdviseOnLeading(const Claim& claim, const Protection& protection) {
  const std::string ours = Join(claim.netdevs, ", ");
  if (!protection.unclear.empty()) return "leave it as it is: " + protection.unclear;
  for (const std::string& netdev : claim.leading) {
    const bool ours_too =
        std::find(claim.netdevs.begin(), claim.netdevs.end(), netdev) != claim.netdevs.end();
    if (!ours_too) continue;
    return fmt::format(
        "{} {}, so leave {} as it is; the manifest must name another cage or address", netdev,
        protection.carries.at(netdev), claim.kind == ClaimKind::kMaster ? claim.path : "the file");
  }
  if (claim.leading.empty()) return {};
  const std::string& netdev = claim.leading.front();
  return fmt::format("remove {} from it but leave {}, which {}, then plan again{}", ours, netdev,
                     protection.carries.at(netdev), AdviseOnWriter(claim));
}

std::string AdviseOnClaim(const Claim& claim, const Protection& protection) {
  if (std::string advice = AdviseOnLeading(claim, protection); !advice.empty()) return advice;
  if (!claim.to_adopt.empty()) return claim.to_adopt + AdviseOnWriter(claim);
  switch (claim.kind) {
    case ClaimKind::kNetplan:
      return "move it away or remove them from it, then plan again" + AdviseOnWriter(claim);
    case ClaimKind::kUnit:
      return AdviseOnUnit(claim) + ", then plan again";
    case ClaimKind::kProfile:
      return fmt::format("nmcli connection modify {} connection.autoconnect no, then plan again",
                         claim.profile);
    case ClaimKind::kMaster:
      return AdviseOnMaster(claim) + ", then plan again";
  }
  return {};
}

// The effect of a claim, where its text does not say it.
std::string ExplainClaim(const Claim& claim) {
  switch (claim.kind) {
    case ClaimKind::kNetplan: {
      const std::string owner = GuessOwner(claim.path);
      std::string text = owner.empty() ? "" : fmt::format(" (probably written by {})", owner);
      if (!claim.not_adopted.empty()) {
        text += fmt::format(" and is not adopted: {}", claim.not_adopted);
      }
      return text;
    }
    case ClaimKind::kUnit:
      if (!claim.not_adopted.empty()) {
        return fmt::format(", and is not adopted: {}", claim.not_adopted);
      }
      return ": networkd uses the first file that matches, and not ours";
    case ClaimKind::kProfile:
      if (!claim.not_adopted.empty()) {
        return fmt::format(", and is not adopted: {}", claim.not_adopted);
      }
      return claim.priority > kOurPriority
                 ? ": it comes back at the next boot or re-plug"
                 : ": of the two, NetworkManager uses the one that was active last";
    case ClaimKind::kMaster:
      if (!claim.not_adopted.empty()) {
        return fmt::format(", and is not adopted: {}", claim.not_adopted);
      }
      return ", and no netplan file says so: an apply would cut off what uses " + claim.path;
  }
  return {};
}

std::string AdviseOnUpper(const std::string& name, const std::string& netdev,
                          const Protection& protection) {
  if (!protection.unclear.empty()) return "leave it as it is: " + protection.unclear;
  // What is below an interface that leads to the node does so too.
  for (const std::string& one : {name, netdev}) {
    const auto carries = protection.carries.find(one);
    if (carries == protection.carries.end()) continue;
    return fmt::format(
        "{} {}, so leave {} as it is; the manifest must name another cage or address", one,
        carries->second, name);
  }
  return fmt::format("remove {}, or put it on another interface", name);
}

}  // namespace

std::string ChooseCode(ClaimKind kind) {
  std::string code;
  switch (kind) {
    case ClaimKind::kNetplan:
      code = "netplan-foreign-file";
      break;
    case ClaimKind::kUnit:
      code = "netplan-foreign-unit";
      break;
    case ClaimKind::kProfile:
      code = "netplan-foreign-profile";
      break;
    case ClaimKind::kMaster:
      code = "netplan-foreign-master";
      break;
  }
  return code;
}

bool IsReadBeforeOurs(const std::string& unit, const std::string& netdev) {
  return GetBasename(unit) <= NameOurUnit(netdev);
}

std::string AdviseOnUnit(const Claim& claim) {
  return fmt::format("remove it, or give it a name that sorts after {}",
                     NameOurUnit(*std::max_element(claim.netdevs.begin(), claim.netdevs.end())));
}

std::string AdviseOnMaster(const Claim& claim) {
  return fmt::format("{}, remove what makes {} at boot", JoinReleases(claim.netdevs), claim.path);
}

ForeignTree FindManagerClaims(const NodeFacts& facts, Renderer renderer,
                              const std::vector<std::string>& netdevs,
                              const std::vector<std::string>& leading,
                              const std::set<std::string>& without) {
  ForeignTree found{.renderer = renderer};
  const bool networkd = renderer == Renderer::kNetworkd;
  const Decides decides = networkd ? DoesUnitDecide : DoesProfileDecide;
  for (const OwnerFile& file : networkd ? ListUnits(facts) : ListProfiles(facts)) {
    if (without.contains(file.path)) continue;
    if (file.state == nullptr) {
      const bool counts =
          !networkd || std::any_of(netdevs.begin(), netdevs.end(), [&](const std::string& netdev) {
            return IsReadBeforeOurs(file.path, netdev);
          });
      if (counts) found.unclear = file.unclear;
      continue;
    }
    Claim claim{.path = file.path,
                .netdevs = ListDecided(facts, file, decides, netdevs),
                .leading = ListDecided(facts, file, networkd ? DoesUnitMatch : decides, leading),
                .kind = networkd ? ClaimKind::kUnit : ClaimKind::kProfile};
    if (claim.netdevs.empty()) continue;
    if (!networkd) {
      const Profile profile = ReadProfile(file);
      claim.profile = NameProfile(profile);
      claim.priority = profile.priority;
    }
    found.claims.push_back(std::move(claim));
  }
  return found;
}

bool MovesWayToNode(const NodeFacts& facts, const Protection& protection, Renderer renderer) {
  const LinkManager other =
      renderer == Renderer::kNetworkManager ? LinkManager::kNetworkd : LinkManager::kNetworkManager;
  return std::any_of(facts.links.begin(), facts.links.end(), [&](const auto& one) {
    const LinkManager manager = one.second.manager;
    const bool unclear = manager == LinkManager::kNone && !facts.network.managers_unclear.empty();
    return protection.carries.contains(one.first) && (manager == other || unclear);
  });
}

std::vector<Claim> FindMasterClaims(const NodeFacts& facts, const std::vector<std::string>& netdevs,
                                    const std::vector<std::string>& leading) {
  std::vector<Claim> claims;
  for (const std::string& netdev : netdevs) {
    const auto link = facts.links.find(netdev);
    if (link == facts.links.end() || link->second.master.empty()) continue;
    const std::string& master = link->second.master;
    auto claim = std::find_if(claims.begin(), claims.end(),
                              [&](const Claim& one) { return one.path == master; });
    if (claim == claims.end()) {
      claim = claims.insert(claims.end(), {.path = master, .kind = ClaimKind::kMaster});
    }
    claim->netdevs.push_back(netdev);
    const bool leads = std::find(leading.begin(), leading.end(), netdev) != leading.end();
    if (leads) claim->leading.push_back(netdev);
  }
  return claims;
}

std::string FormatClaim(const Claim& claim, const std::string& ports) {
  switch (claim.kind) {
    case ClaimKind::kNetplan:
      return fmt::format("{} configures {}", claim.path, ports);
    case ClaimKind::kUnit:
      return fmt::format("{} is read before our file and matches {}", claim.path, ports);
    case ClaimKind::kProfile:
      return fmt::format("{} ({}) connects {} automatically, priority {} (ours {})", claim.profile,
                         claim.path, ports, claim.priority, kOurPriority);
    case ClaimKind::kMaster:
      return fmt::format("{} has {} among its members", claim.path, ports);
  }
  return {};
}

Diagnostic DiagnoseClaim(const Claim& claim, const Protection& protection) {
  return {.severity = Severity::kWarns,
          .code = ChooseCode(claim.kind),
          .message = FormatClaim(claim, Join(claim.netdevs, ", ")) + ExplainClaim(claim),
          .next_step = AdviseOnClaim(claim, protection),
          .subject = claim.path};
}

std::vector<Diagnostic> DiagnosePort(const NodeFacts& facts, Renderer renderer,
                                     const Protection& protection, const std::string& netdev) {
  std::vector<Diagnostic> diagnostics;
  if (renderer == Renderer::kNetworkd) {
    for (const std::string& path : ListDropIns(facts, netdev)) {
      diagnostics.push_back(
          {.severity = Severity::kWarns,
           .code = "netplan-foreign-drop-in",
           .message = fmt::format("{} adds settings of its own to {}", path, netdev),
           .next_step = "move it away, then: networkctl reload",
           .subject = path});
    }
  }
  for (const auto& [name, link] : facts.links) {
    if (link.below != netdev) continue;
    diagnostics.push_back(
        {.severity = Severity::kWarns,
         .code = "netplan-port-shared",
         .message = fmt::format("{} is on top of {}: it shares the port's bandwidth and MTU, and "
                                "its flaps",
                                name, netdev),
         .next_step = AdviseOnUpper(name, netdev, protection),
         .subject = name});
  }
  return diagnostics;
}

}  // namespace reconciler::plugins::netplan
