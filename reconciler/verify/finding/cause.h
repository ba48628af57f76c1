#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/spark_verify/protocol/messages.h"
#include "reconciler/verify/report/report.h"

namespace reconciler {

// Why a measurement was bad or could not be made, and what to do.
struct Cause {
  std::string code = {};
  std::vector<NodeName> nodes = {};
  std::string cause = {};
  std::string next_step = {};
  std::optional<int> rail = std::nullopt;  // where it is another one than the check's
};

// Whether a run that ended with this code measured nothing, which says nothing about the fabric.
bool HasMeasuredNothing(std::string_view code);

// Adds to `findings` why that check did not pass, by the rule of JoinFinding: one cause is one
// finding, however many checks it spoils.
void AddFinding(const Check& check, Cause cause, std::vector<Finding>& findings);

// A function of a ConnectX-7 that runs with fewer PCIe lanes than a Spark wires for it. `hardware`:
// the name of the node's profile.
std::optional<Cause> ExplainNarrowPcie(const NodeName& node, const std::string& hca,
                                       const std::string& hardware,
                                       const spark_verify::Limits& limits);

// What a person does about too few PCIe lanes: a Spark has no slots, and other machines do not have
// its BIOS.
std::string AdviseOnPcieLanes(const NodeName& node, const std::string& hardware);

}  // namespace reconciler
