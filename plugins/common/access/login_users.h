#pragma once

#include <string>
#include <vector>

#include "reconciler/model/cluster_spec.h"

namespace reconciler::plugins {

// Whose logins start programs on the node: the user of `access` (empty: ssh's configuration names
// it), and then that of `ssh.user` where it is another.
std::vector<std::string> ListLoginUsers(const ClusterSpec& cluster, const NodeSpec& node);

}  // namespace reconciler::plugins
