#pragma once

#include <string>
#include <vector>

#include "reconciler/model/fabric.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::qos {

inline constexpr const char* kUnitName = "spark-reconcile-qos.service";

RunProbe MakeQosProbe(const std::vector<RailPort>& ports);
// Fills QosFacts.
void StoreQos(const ProbeReply& reply, NodeFacts& facts);

// The name that the node gives to a port's HCA, or else the hardware profile.
std::string FindHcaName(const RailPort& port, const QosFacts& facts);

// Whether the program of the fact is there, or was not read.
bool MayHave(const Fact<bool>& program);

}  // namespace reconciler::plugins::qos
