#pragma once

#include <set>
#include <string>
#include <vector>

#include "plugins/common/protection/protection.h"
#include "plugins/netplan/adopt/foreign.h"
#include "reconciler/base/diagnostic.h"
#include "reconciler/model/facts.h"

namespace reconciler::plugins::netplan {

// The units that networkd uses instead of what netplan generates for `netdevs`, or the profiles
// that NetworkManager may activate instead: `claims` and `unclear` of it. `without`: paths that are
// taken for absent.
ForeignTree FindManagerClaims(const NodeFacts& facts, Renderer renderer,
                              const std::vector<std::string>& netdevs,
                              const std::vector<std::string>& leading,
                              const std::set<std::string>& without = {});

// networkd uses the first unit by file name, whatever the folder, and instead of ours one of its
// name.
bool IsReadBeforeOurs(const std::string& unit, const std::string& netdev);

// What to do about a unit, without adopting it.
std::string AdviseOnUnit(const Claim& claim);

// What to do about a bond or bridge, without adopting it.
std::string AdviseOnMaster(const Claim& claim);

// Whether what leads to the node would get another manager from a renderer for all interfaces. One
// whose manager could not be read may.
bool MovesWayToNode(const NodeFacts& facts, const Protection& protection, Renderer renderer);

// The live bonds, bridges and VRFs that have some of `netdevs` as members.
std::vector<Claim> FindMasterClaims(const NodeFacts& facts, const std::vector<std::string>& netdevs,
                                    const std::vector<std::string>& leading);

// What a claim does to these ports: "/etc/netplan/x.yaml configures enp1s0f1np1".
std::string FormatClaim(const Claim& claim, const std::string& ports);

// Of what is reported about a claim of this kind.
std::string ChooseCode(ClaimKind kind);

// What a claim does and what to do about it.
Diagnostic DiagnoseClaim(const Claim& claim, const Protection& protection);

// What else of others is about a port and keeps nothing of ours from it: drop-ins of its unit, and
// interfaces on top of it.
std::vector<Diagnostic> DiagnosePort(const NodeFacts& facts, Renderer renderer,
                                     const Protection& protection, const std::string& netdev);

}  // namespace reconciler::plugins::netplan
