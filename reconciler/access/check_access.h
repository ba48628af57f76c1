#pragma once

#include <map>
#include <optional>
#include <vector>

#include "reconciler/access/login_functions.h"

namespace reconciler {

enum class HostKeyState { kUnread, kNew, kKnown };
enum class AccessStep { kNotTried, kFailed, kDone };

// What there is of the way in to a node, up to the first thing that is missing.
struct NodeAccess {
  HostKeyState host_key = HostKeyState::kUnread;
  AccessStep login = AccessStep::kNotTried;
  AccessStep root = AccessStep::kNotTried;
  bool wants_sudo_password = false;
  std::optional<Error> missing = std::nullopt;
};

struct AccessReport {
  std::map<NodeName, NodeAccess> nodes = {};
  Errors errors = {};  // in the order of the nodes that were checked
};

// Every node, so that all that is missing is reported at once. With the strict rule for
// host keys: what only looks adds none.
AccessReport CheckAccess(const std::vector<const NodeSpec*>& nodes, const LoginFunctions& login);

bool LacksLogin(const NodeAccess& access);
bool LacksSudo(const NodeAccess& access);

}  // namespace reconciler
