#include "reconciler/access/check_access.h"

#include <fmt/format.h>

#include <chrono>
#include <mutex>

#include "reconciler/access/check_root.sh.h"
#include "reconciler/base/text.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/transport/first_access.h"

namespace reconciler {
namespace {

constexpr std::string_view kCheckBegins = "the check of root begins here\n";  // see check_root.sh

std::optional<Error> CheckRoot(const NodeSpec& node, Transport& transport, NodeAccess& access) {
  const auto reply =
      RunScript(transport, kCheckRootSh, std::chrono::seconds(node.access.command_timeout_s));
  if (!reply) return AddContext(reply.error(), node.name);
  std::string_view said = reply->err.empty() ? reply->out : reply->err;
  const std::size_t begin = reply->out.find(kCheckBegins);
  if (begin != std::string::npos) {
    said = std::string_view(reply->out).substr(begin + kCheckBegins.size());
  } else if (auto refusal = FindSudoRefusal(node, *reply)) {
    access.wants_sudo_password = WantsSudoPassword(*reply);
    return refusal;
  }
  const std::string user_id = FindLastLine(said);
  if (user_id == "0") return std::nullopt;
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("wanted a root shell (user id 0), found '{}'", user_id),
               .context = {node.name},
               .hint = "log in as root, or as a user with sudo and `become: sudo` in `access`"};
}

NodeAccess CheckNode(NodeSpec node, const LoginFunctions& login) {
  node.access.host_keys = HostKeys::kStrict;
  NodeAccess access;
  if (node.access.transport == TransportKind::kSsh) {
    const auto key = login.read_host_key(node);
    if (!key) {
      access.missing = key.error();
      return access;
    }
    access.host_key = key->known ? HostKeyState::kKnown : HostKeyState::kNew;
  }
  NodeSpec as_user = node;
  as_user.access.become = Become::kNone;
  if (const auto transport = login.dial(as_user); !transport) {
    // A new host key ends the attempt before there is a login.
    if (access.host_key != HostKeyState::kNew) access.login = AccessStep::kFailed;
    access.missing = transport.error();
    return access;
  }
  access.login = AccessStep::kDone;
  const auto transport = login.dial(node);
  access.missing = transport ? CheckRoot(node, **transport, access) : transport.error();
  access.root = access.missing ? AccessStep::kFailed : AccessStep::kDone;
  return access;
}

}  // namespace

AccessReport CheckAccess(const std::vector<const NodeSpec*>& nodes, const LoginFunctions& login) {
  AccessReport report;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(nodes, login.at_once, [&](const NodeSpec& node) {
    NodeAccess access = CheckNode(node, login);
    const std::lock_guard lock(mutex);
    report.nodes[node.name] = std::move(access);
  });
  for (const NodeSpec* node : nodes) {
    const auto access = report.nodes.find(node->name);
    if (access != report.nodes.end() && access->second.missing) {
      report.errors.push_back(*access->second.missing);
    }
  }
  AppendErrors(std::move(thrown), report.errors);
  return report;
}

bool LacksLogin(const NodeAccess& access) { return access.login == AccessStep::kFailed; }
bool LacksSudo(const NodeAccess& access) { return access.wants_sudo_password; }

}  // namespace reconciler
