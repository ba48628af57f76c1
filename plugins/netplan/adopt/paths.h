#pragma once

#include <string_view>

namespace reconciler::plugins::netplan {

constexpr std::string_view kOwnFile = "/etc/netplan/60-spark-reconcile.yaml";
// Hides the file of the same name in /etc.
constexpr std::string_view kTrialFile = "/run/netplan/60-spark-reconcile.yaml";
constexpr std::string_view kNetplan = "/etc/netplan/";
constexpr std::string_view kKeyfiles = "/etc/NetworkManager/system-connections/";
constexpr std::string_view kUnits = "/etc/systemd/network/";
constexpr std::string_view kUnmanagedFile = "/etc/NetworkManager/conf.d/60-spark-reconcile.conf";

}  // namespace reconciler::plugins::netplan
