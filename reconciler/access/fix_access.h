#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reconciler/access/check_access.h"

namespace reconciler {

// A public key that is in the authorized_keys of a node's user now.
struct InstalledKey {
  std::string user = {};
  OwnKey key = {};
  bool added = false;  // false: it was there before
};

// Functions that FixAccess calls, from its own thread; all are set.
struct FixAccessHooks {
  // The password of a node's user. Called once per node at most; the password is kept until
  // FixAccess returns.
  std::function<Result<std::string>(const NodeSpec&, const std::string& user)> prompt_password;
  std::function<void(const NodeSpec&, const Result<InstalledKey>&)> on_key;
  std::function<void(const NodeSpec&, const Result<void>&)> on_sudo;  // kSudoersFile is written
};

// Whether FixAccess with `sudoers` may write kSudoersFile on a node. A login that is missing hides
// whether sudo wants a password.
bool MayWriteSudoers(const AccessReport& report);

// Adds what `report` says is missing, node after node: the key, and with `sudoers` root without a
// password. Returns what is missing afterwards. An error ends the whole: a password that was not
// given.
Result<AccessReport> FixAccess(const std::vector<const NodeSpec*>& nodes,
                               const AccessReport& report, bool sudoers,
                               const LoginFunctions& login, const FixAccessHooks& hooks);

}  // namespace reconciler
