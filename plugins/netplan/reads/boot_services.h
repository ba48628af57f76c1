#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::netplan {

// Services of /etc/systemd/system, with what they and their scripts say of interfaces, and scripts
// of dispatchers, files of ifupdown and rules of udev in /etc. `netdevs`: names that count also
// where there is no such interface now, with their PCI addresses; empty: not known.
RunProbe MakeBootServicesProbe(const std::map<std::string, std::string>& netdevs);

// "foo@.service" of "foo@enp1s0f1np1.service"; empty: it is no instance.
std::string NameTemplate(const std::string& service);

// The files of a service that names no interface are left out, but for templates and their
// instances.
void StoreBootServices(const ProbeReply& reply, NodeFacts& facts);

}  // namespace reconciler::plugins::netplan
