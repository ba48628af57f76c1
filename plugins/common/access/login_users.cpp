#include "plugins/common/access/login_users.h"

namespace reconciler::plugins {

std::vector<std::string> ListLoginUsers(const ClusterSpec& cluster, const NodeSpec& node) {
  std::vector<std::string> users = {node.access.user};
  const Value* ssh = cluster.settings.At({"ssh", "user"});
  const std::string* user = ssh != nullptr ? ssh->AsString() : nullptr;
  if (user != nullptr && !user->empty() && *user != users.front()) users.push_back(*user);
  return users;
}

}  // namespace reconciler::plugins
