#pragma once

#include <string>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::netplan {

// Services of /etc/systemd/system, with what they and their scripts say of interfaces. `netdevs`:
// names that count also where there is no such interface now.
RunProbe MakeBootServicesProbe(const std::vector<std::string>& netdevs);

// The files of a service that names no interface are left out.
void StoreBootServices(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::netplan
