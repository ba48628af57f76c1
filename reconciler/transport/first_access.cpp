#include "reconciler/transport/first_access.h"

#include <fmt/format.h>

#include <chrono>

#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/transport/check_sudo_password.sh.h"
#include "reconciler/transport/grant_sudo.sh.h"
#include "reconciler/transport/install_key.sh.h"
#include "reconciler/transport/revoke_sudo.sh.h"

namespace reconciler {
namespace {

constexpr std::string_view kMark = "# Written by `spark-reconcile access --fix --sudoers`.";

Milliseconds GetLimit(const NodeSpec& node) {
  return std::chrono::seconds(node.access.command_timeout_s);
}

Error MakeAccessError(const NodeSpec& node, std::string message, std::string hint = {}) {
  return {.kind = ErrorKind::kTransport,
          .message = fmt::format("{}: {}", node.name, message),
          .hint = std::move(hint)};
}

std::string FormatReason(const ScriptReply& reply) {
  // An account that may not log in says so on stdout.
  const std::string& said = reply.err.empty() ? reply.out : reply.err;
  return fmt::format("exit {}: {}", reply.exit_code, MakePrintable(FindLastLine(said)));
}

}  // namespace

bool IsSudoPasswordRefused(const ScriptReply& reply) {
  return reply.err.find("incorrect password attempt") != std::string::npos ||
         reply.err.find("Sorry, try again") != std::string::npos;
}

std::string FormatSudoersRule(std::string_view user) {
  return fmt::format("{} ALL=(ALL) NOPASSWD: ALL", user);
}

// sudo takes `sh` from its own path: on a system where /bin is a link, from /usr/bin. Arguments:
// those of ssh's connection and a token.
std::string FormatShellSudoersRule(std::string_view user) {
  return fmt::format("{} ALL=(root) NOPASSWD: /usr/bin/sh -s -- *, /bin/sh -s -- *", user);
}

bool WantsSudoPassword(const ScriptReply& reply) {
  if (reply.exit_code != 1) return false;
  for (const std::string_view phrase : {"a password is required", "a terminal is required",
                                        "interactive authentication is required"}) {
    if (reply.err.find(phrase) != std::string::npos) return true;
  }
  return false;
}

Result<ScriptReply> TrySudoPassword(const NodeSpec& node, Transport& login,
                                    std::string_view password) {
  auto reply =
      RunScript(login, AssignForShell({{"PASSWORD", password}}) + std::string(kCheckSudoPasswordSh),
                GetLimit(node));
  if (!reply) return Fail(AddContext(std::move(reply).error(), node.name));
  return reply;
}

Result<bool> ParseSudoReply(const NodeSpec& node, const ScriptReply& reply) {
  // Startup files of the login may print something before.
  const std::string said = FindLastLine(reply.out);
  if (reply.exit_code == 0 && (said == "none" || said == "taken")) return said == "taken";
  if (auto refusal = FindSudoRefusal(node, reply)) return Fail(std::move(*refusal));
  return Fail(MakeAccessError(node, "sudo could not be tried: " + FormatReason(reply)));
}

Result<bool> InstallKey(const NodeSpec& node, Transport& login, std::string_view public_key) {
  const auto reply = RunScript(
      login, AssignForShell({{"KEY", public_key}}) + std::string(kInstallKeySh), GetLimit(node));
  if (!reply) return Fail(AddContext(reply.error(), node.name));
  // Startup files of the login may print something before.
  const std::string said = FindLastLine(reply->out);
  if (reply->exit_code == 0 && (said == "added" || said == "present")) return said == "added";
  return Fail(MakeAccessError(
      node, "the key could not be added to ~/.ssh/authorized_keys: " + FormatReason(*reply)));
}

Result<void> GrantSudo(const NodeSpec& node, Transport& login, std::string_view user,
                       std::string_view password) {
  const auto reply = RunScript(login,
                               AssignForShell({{"MARK", kMark},
                                               {"RULE", FormatSudoersRule(user)},
                                               {"FILE", kSudoersFile},
                                               {"PASSWORD", password}}) +
                                   std::string(kGrantSudoSh),
                               GetLimit(node));
  if (!reply) return Fail(AddContext(reply.error(), node.name));
  if (reply->exit_code == 0) return {};
  if (reply->exit_code == 3) {
    return Fail(MakeAccessError(
        node,
        fmt::format("{} is there, and `access --fix --sudoers` did not write it", kSudoersFile),
        fmt::format("add this line to it (with visudo -f): {}", FormatSudoersRule(user))));
  }
  if (IsSudoPasswordRefused(*reply)) {
    return Fail(
        MakeAccessError(node, "sudo refused the password", "run it again and type it with care"));
  }
  return Fail(MakeAccessError(
      node, fmt::format("{} could not be written: {}", kSudoersFile, FormatReason(*reply)),
      fmt::format("the user must be allowed to use sudo: `usermod -aG sudo {}` as root there",
                  user)));
}

Result<SudoersRemoval> RevokeSudo(const NodeSpec& node, Transport& root) {
  const auto reply = RunScript(
      root, AssignForShell({{"FILE", kSudoersFile}, {"MARK", kMark}}) + std::string(kRevokeSudoSh),
      GetLimit(node));
  if (!reply) return Fail(AddContext(reply.error(), node.name));
  const std::string said = FindLastLine(reply->out);
  if (said == "removed") return SudoersRemoval::kRemoved;
  if (said == "absent") return SudoersRemoval::kAbsent;
  if (said == "kept") return SudoersRemoval::kKept;
  if (auto refusal = FindSudoRefusal(node, *reply)) return Fail(std::move(*refusal));
  return Fail(MakeAccessError(
      node, fmt::format("{} could not be removed: {}", kSudoersFile, FormatReason(*reply))));
}

}  // namespace reconciler
