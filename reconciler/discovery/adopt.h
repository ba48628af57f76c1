#pragma once

#include <string>
#include <vector>

#include "reconciler/discovery/discovery.h"
#include "reconciler/model/adopt/offers.h"
#include "reconciler/model/plan.h"
#include "reconciler/plugin.h"

namespace reconciler {

// Adds `adopt` to the manifest. Nothing where there are no files.
void AddAdopt(const std::vector<AdoptableFile>& files, Discovery& discovery);

// Adds a gap for each cause for which a plan of the manifest blocks something, and for what its
// plugins warn of: what the nodes have beside what the manifest says. `diagnostics`: those of that
// plan.
void AddObstacles(const std::vector<Diagnostic>& diagnostics, Discovery& discovery);

// Adds a note of the settings that adopting would drop, by the plan of the manifest. Left out are
// those that a port has where no file says otherwise.
void AddLostSettings(const Plan& plan, Discovery& discovery);

// The manifest with the sections that plugins note things with (Plugin::noted_with).
std::string FormatWithSections(const Discovery& discovery, const std::vector<Plugin>& plugins);

// Adds a note for each thing that these plugins warn of in a plan of that manifest.
void AddNotes(const std::vector<Diagnostic>& diagnostics, const std::vector<Plugin>& plugins,
              Discovery& discovery);

}  // namespace reconciler
