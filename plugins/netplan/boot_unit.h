#pragma once

#include <string>
#include <vector>

#include "plugins/netplan/intent.h"
#include "reconciler/base/diagnostic.h"

namespace reconciler::plugins::netplan {

// A service of another owner that configures ports of ours.
struct BootUnit {
  BootService service = {};            // of the facts
  std::vector<std::string> ours = {};  // the ports that it names
  std::string script = {};             // what it runs for that; empty: its unit says it
  std::string why_not = {};            // not empty: it is not adopted
  std::string next_step = {};          // what to do about that
};

// SHA-256 of what `sha256sum` prints of its unit and then of its other files, sorted by path.
std::string ComputeDigest(const BootService& service);

// The services that `adopt` names for the node: stopped and disabled.
std::vector<Resource> MakeAdoptedUnits(const PluginInput& input, const Intent& intent);

// The enabled ones that it does not name: what they change comes back at the next boot.
std::vector<Diagnostic> DiagnoseBootUnits(const PluginInput& input, const Intent& intent);

// Enabled ones that nothing but a missing entry keeps from being adopted.
std::vector<AdoptableFile> ListAdoptableUnits(const PluginInput& input);

// Why our file outlasts an uninstall, as its own prune says too; empty: it does not.
std::string ExplainOursStays(const PluginInput& input);

// An adopted one is enabled and started again, as it was.
bool IsAdoptedService(const Change& change);
Ownership CheckUnitPrune(const PluginInput& input, Change& change);

}  // namespace reconciler::plugins::netplan
