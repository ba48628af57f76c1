#pragma once

#include <string>
#include <vector>

#include "plugins/netplan/adopt/foreign.h"
#include "reconciler/model/action.h"

namespace reconciler::plugins::netplan {

// The commands that make our interfaces follow our file and leave every other interface alone.
//
// `netplan generate` on the node itself would rewrite all files below /run, and
// `networkctl reload` then takes the addresses of every interface away for a moment, management
// included. So it runs in a copy of the tree, where it fails before anything was activated, and
// only the files of `ours` are carried over, and the one list of ports that NetworkManager leaves
// alone.
// `masters`: bonds and bridges that networkd makes of the files; they are carried over too.
std::vector<RunCommand> Regenerate(Renderer renderer, const std::vector<std::string>& foreign_files,
                                   const std::vector<std::string>& ours,
                                   const std::vector<std::string>& masters = {});

// What networkd has of them goes, and then they themselves where they are there.
RunCommand RemoveGeneratedMasters(Renderer renderer, const std::vector<std::string>& masters);
RunCommand Dissolve(const std::string& master);

// The same with NetworkManager, which deletes a bond or bridge when its profile goes down, and
// makes it again for a member as long as it knows the profile. So this comes after TakeDown and
// after RemoveGeneratedMasters.
RunCommand DropMaster(const std::string& master);

// For a node that had no file of ours: what netplan made of it goes. The manager still has it in
// memory, and lets go with ReloadFiles.
RunCommand RemoveGenerated(Renderer renderer, const std::vector<std::string>& ours);

// Before it, with NetworkManager: one that loses a profile takes its addresses away some time
// later, and with them what was set in the meantime.
RunCommand TakeDown(const std::string& netdev);

// Makes the port follow our file again, where netplan generated its profile.
RunCommand BringUp(Renderer renderer, const std::string& netdev);

// What netplan's files say of these ports comes to effect again, whoever set them meanwhile; for a
// prune. A port that is not there, or is without a cable, comes later.
std::vector<RunCommand> ActivateAgain(Renderer renderer,
                                      const std::vector<std::string>& foreign_files,
                                      const std::vector<std::string>& netdevs,
                                      const std::vector<std::string>& masters = {});

// NetworkManager uses the profile of this keyfile on the port, by its UUID, or by its id where it
// has none. Nothing is done where the keyfile is not there.
RunCommand ActivateProfile(const std::string& keyfile, const std::string& uuid,
                           const std::string& id, const std::string& netdev);

// The same of a profile that netplan generates of the definition "NM-UUID".
RunCommand ActivateKeptProfile(const std::string& definition, const std::string& uuid,
                               const std::string& netdev);

// Of one port, until a network manager sets it again.
RunCommand TurnIpv6Off(const std::string& netdev);

// As the kernel has a port that no one configures.
std::vector<RunCommand> SetUnconfigured(Renderer renderer, const std::string& netdev);

// Of a file of netplan, which netplan's generator reads at a start of the node.
Trial MakeTrial(std::string path);

// Once per stage, after all removals: what is removed later would stay in the manager's memory.
RunCommand ReloadFiles(Renderer renderer);

// Takes out of `command` what netplan generates for `netdevs`, whoever of the two managers reads
// it. It has nothing left to do where `makes` is empty then.
void LeaveGenerated(const std::vector<std::string>& netdevs, RunCommand& command);

std::string NameReconfigure(const std::string& netdev);  // its id

// Makes one interface follow what Regenerate brought, whatever was done to it by hand.
RunCommand Reconfigure(Renderer renderer, const std::string& netdev);

}  // namespace reconciler::plugins::netplan
