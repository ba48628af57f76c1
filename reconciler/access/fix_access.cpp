#include "reconciler/access/fix_access.h"

#include <algorithm>
#include <map>

#include "reconciler/transport/first_access.h"

namespace reconciler {
namespace {

// The nodes of which `holds` is true, as far as they were checked.
template <class Predicate>
std::vector<const NodeSpec*> FindWhere(const std::vector<const NodeSpec*>& nodes,
                                       const AccessReport& report, Predicate holds) {
  std::vector<const NodeSpec*> found;
  for (const NodeSpec* node : nodes) {
    const auto access = report.nodes.find(node->name);
    if (access != report.nodes.end() && holds(access->second)) found.push_back(node);
  }
  return found;
}

// A shell of the user who logs in, not of root.
NodeSpec AsUser(NodeSpec node) {
  node.access.become = Become::kNone;
  return node;
}

class AccessFixer {
 public:
  AccessFixer(const LoginFunctions& login, const FixAccessHooks& hooks)
      : login_(login), hooks_(hooks) {}

  // The error that ends the whole: no password was given.
  Result<void> AddKeys(const std::vector<const NodeSpec*>& nodes) {
    for (const NodeSpec* node : nodes) {
      const auto key = login_.find_own_key(*node);
      const auto user = login_.find_user(*node);
      if (!key || !user) {
        hooks_.on_key(*node, Fail(key ? user.error() : key.error()));
        continue;
      }
      // Nothing is prompted for in vain.
      if (const auto useful = login_.check_key_can_be_added(*node); !useful) {
        hooks_.on_key(*node, Fail(useful.error()));
        continue;
      }
      const auto password = FindPassword(*node, *user);
      if (!password) return Fail(password.error());
      hooks_.on_key(*node, AddKey(*node, *user, *key, *password));
    }
    return {};
  }

  // The same.
  Result<void> AllowSudo(const std::vector<const NodeSpec*>& nodes) {
    for (const NodeSpec* node : nodes) {
      const auto user = login_.find_user(*node);
      if (!user) {
        hooks_.on_sudo(*node, Fail(user.error()));
        continue;
      }
      const auto password = FindPassword(*node, *user);
      if (!password) return Fail(password.error());
      const auto transport = login_.dial(AsUser(*node));
      hooks_.on_sudo(*node, transport ? GrantSudo(*node, **transport, *user, *password)
                                      : Fail(transport.error()));
    }
    return {};
  }

 private:
  Result<std::string> FindPassword(const NodeSpec& node, const std::string& user) {
    const auto found = passwords_.find(node.name);
    if (found != passwords_.end()) return found->second;
    auto typed = hooks_.prompt_password(node, user);
    if (typed) passwords_[node.name] = *typed;
    return typed;
  }

  Result<InstalledKey> AddKey(const NodeSpec& node, const std::string& user, const OwnKey& key,
                              const std::string& password) const {
    const auto transport = login_.dial_with_password(AsUser(node), password);
    if (!transport) return Fail(transport.error());
    const auto added = InstallKey(node, **transport, key.line);
    if (!added) return Fail(added.error());
    return InstalledKey{.user = user, .key = key, .added = *added};
  }

  const LoginFunctions& login_;
  const FixAccessHooks& hooks_;
  std::map<NodeName, std::string> passwords_ = {};  // each is typed once
};

}  // namespace

bool MayWriteSudoers(const AccessReport& report) {
  return std::any_of(report.nodes.begin(), report.nodes.end(), [](const auto& node) {
    return LacksLogin(node.second) || LacksSudo(node.second);
  });
}

Result<AccessReport> FixAccess(const std::vector<const NodeSpec*>& nodes,
                               const AccessReport& report, bool sudoers,
                               const LoginFunctions& login, const FixAccessHooks& hooks) {
  AccessFixer fixer(login, hooks);
  const auto keys = fixer.AddKeys(FindWhere(nodes, report, LacksLogin));
  if (!keys) return Fail(keys.error());
  AccessReport now = CheckAccess(nodes, login);
  if (!sudoers) return now;
  const auto allowed = fixer.AllowSudo(FindWhere(nodes, now, LacksSudo));
  if (!allowed) return Fail(allowed.error());
  return CheckAccess(nodes, login);
}

}  // namespace reconciler
