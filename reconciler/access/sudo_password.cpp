#include "reconciler/access/sudo_password.h"

#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
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
    if (!BecomesRoot(node)) return dial_(node);
    const auto wanted = IsWanted(node);
    if (!wanted) return Fail(wanted.error());
    if (*wanted) node.access.sudo_password = password_;
    return dial_(node);
  }

 private:
  static bool BecomesRoot(const NodeSpec& node) {
    const bool is_root_here = node.access.transport == TransportKind::kLocal && geteuid() == 0;
    return node.access.become == Become::kSudo && !is_root_here;
  }

  // Tried at the first connection to a node; those that come meanwhile wait for what it finds.
  Result<bool> IsWanted(const NodeSpec& node) {
    const std::shared_ptr<Finding> finding = GetFinding(node.name);
    const std::lock_guard lock(finding->mutex);
    if (finding->wanted) return *finding->wanted;
    NodeSpec login = node;
    login.access.become = Become::kNone;
    const auto transport = dial_(login);
    if (!transport) return Fail(transport.error());
    const auto reply = TrySudoPassword(node, **transport, *password_);
    if (!reply) return Fail(reply.error());  // the connection broke: sudo has said nothing
    finding->wanted = ParseSudoReply(node, *reply);
    return *finding->wanted;
  }

  // What sudo of one node said.
  struct Finding {
    std::mutex mutex;
    std::optional<Result<bool>> wanted = std::nullopt;
  };

  std::shared_ptr<Finding> GetFinding(const NodeName& node) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Finding>& finding = findings_[node];
    if (finding == nullptr) finding = std::make_shared<Finding>();
    return finding;
  }

  Dial dial_;
  std::shared_ptr<const std::string> password_;
  std::mutex mutex_;
  std::map<NodeName, std::shared_ptr<Finding>> findings_ = {};
};

}  // namespace

Dial UseSudoPassword(Dial dial, std::string password) {
  auto dialer = std::make_shared<SudoPasswordDialer>(std::move(dial), std::move(password));
  return [dialer](const NodeSpec& node) { return dialer->Connect(node); };
}

}  // namespace reconciler
