#include "reconciler/access/sudo_password.h"

#include <unistd.h>

#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "reconciler/transport/first_access.h"

namespace reconciler {
namespace {

class SudoPasswordDialer {
 public:
  SudoPasswordDialer(Dial dial, std::string password)
      : dial_(std::move(dial)),
        password_(std::make_shared<const std::string>(std::move(password))) {}

  Result<std::unique_ptr<Transport>> Connect(NodeSpec node) {
    if (!NeedsPassword(node)) return dial_(node);
    if (auto accepted = Check(node); !accepted) return Fail(std::move(accepted).error());
    node.access.sudo_password = password_;
    return dial_(node);
  }

 private:
  static bool NeedsPassword(const NodeSpec& node) {
    const bool is_root_here = node.access.transport == TransportKind::kLocal && geteuid() == 0;
    return node.access.become == Become::kSudo && !is_root_here;
  }

  Result<void> Check(const NodeSpec& node) {
    {
      const std::lock_guard lock(mutex_);
      if (accepted_.contains(node.name)) return {};
    }
    NodeSpec login = node;
    login.access.become = Become::kNone;
    const auto transport = dial_(login);
    if (!transport) return Fail(transport.error());
    if (auto checked = CheckSudoPassword(node, **transport, *password_); !checked) return checked;
    const std::lock_guard lock(mutex_);
    accepted_.insert(node.name);
    return {};
  }

  Dial dial_;
  std::shared_ptr<const std::string> password_;
  std::mutex mutex_;
  std::set<NodeName> accepted_ = {};  // nodes whose sudo takes the password
};

}  // namespace

Dial UseSudoPassword(Dial dial, std::string password) {
  auto dialer = std::make_shared<SudoPasswordDialer>(std::move(dial), std::move(password));
  return [dialer](const NodeSpec& node) { return dialer->Connect(node); };
}

}  // namespace reconciler
