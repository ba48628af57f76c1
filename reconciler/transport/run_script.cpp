#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "reconciler/transport/first_access.h"
#include "reconciler/transport/transport.h"

namespace reconciler {
namespace {

Error MakeTooMuchOutputError(std::size_t max_output) {
  constexpr std::size_t kMebibyte = 1u << 20;
  const std::string size = max_output % kMebibyte == 0
                               ? fmt::format("{} MiB", max_output / kMebibyte)
                               : fmt::format("{} bytes", max_output);
  return Error{
      .kind = ErrorKind::kTransport,
      .message = fmt::format("more than {} of output arrived; the rest was not read", size)};
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> phrases) {
  return std::any_of(phrases.begin(), phrases.end(), [&](std::string_view phrase) {
    return text.find(phrase) != std::string_view::npos;
  });
}

std::string FormatSudoersHint(const NodeSpec& node) {
  const std::string user = node.access.user.empty() ? "USER" : node.access.user;
  return fmt::format(
      "put '{} ALL=(ALL) NOPASSWD: ALL' into /etc/sudoers.d/spark-reconcile on {} (with visudo -f)",
      user, node.name);
}

std::string FormatPasswordHint(const NodeSpec& node) {
  return "give --prompt-sudo-password, or " + FormatSudoersHint(node);
}

Error MakeSudoError(const NodeSpec& node, std::string_view what, std::string hint) {
  const std::string user =
      node.access.user.empty() ? "the login user" : fmt::format("user '{}'", node.access.user);
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: {} for {}", node.name, what, user),
               .hint = std::move(hint)};
}

}  // namespace

Error AddPassedLimit(Error error, Deadline deadline, Milliseconds limit) {
  if (error.hint.empty() && std::chrono::steady_clock::now() >= deadline) {
    error.hint = fmt::format("the limit was {:g} s", static_cast<double>(limit.count()) / 1000.0);
  }
  return error;
}

Result<ScriptReply> RunScriptOn(Channel& shell, std::string_view script, Milliseconds limit,
                                std::size_t max_output) {
  const Deadline deadline = std::chrono::steady_clock::now() + limit;
  if (auto written = shell.Write(script, deadline); !written) {
    return Fail(AddPassedLimit(std::move(written.error()), deadline, limit));
  }
  if (auto closed = shell.CloseInput(); !closed) return Fail(std::move(closed.error()));
  ScriptReply reply;
  for (;;) {
    auto output = shell.Read(deadline);
    if (!output) return Fail(AddPassedLimit(std::move(output.error()), deadline, limit));
    reply.out += output->out;
    reply.err += output->err;
    if (reply.out.size() + reply.err.size() > max_output)
      return Fail(MakeTooMuchOutputError(max_output));
    if (output->exit_code) {
      reply.exit_code = *output->exit_code;
      return reply;
    }
  }
}

Result<ScriptReply> RunScript(Transport& transport, std::string_view script, Milliseconds limit,
                              std::size_t max_output) {
  auto shell = transport.OpenShell();
  if (!shell) return Fail(std::move(shell.error()));
  return RunScriptOn(**shell, script, limit, max_output);
}

std::optional<Error> FindSudoRefusal(const NodeSpec& node, const ScriptReply& reply) {
  if (node.access.become != Become::kSudo) return std::nullopt;
  // "sudo: command not found" (bash), "sudo: not found" (dash), "No such file or directory" (env).
  if (reply.exit_code == 127 && ContainsAny(reply.err, {"sudo"})) {
    return MakeSudoError(node, "no sudo is installed",
                         "install sudo there, or log in as root with `become: none` in `access`");
  }
  if (reply.exit_code != 1) return std::nullopt;
  if (ContainsAny(reply.err, {"you must have a tty"})) {
    return MakeSudoError(
        node, "sudo wants a terminal",
        fmt::format("remove 'Defaults requiretty' from the sudoers of {}", node.name));
  }
  if (IsSudoPasswordRefused(reply)) {
    return MakeSudoError(node, "sudo refused the password",
                         "type it with care; one password is used on all nodes");
  }
  if (WantsSudoPassword(reply)) {
    return MakeSudoError(node, "sudo wants a password", FormatPasswordHint(node));
  }
  if (ContainsAny(reply.err, {"is not in the sudoers file", "is not allowed to execute",
                              "is not allowed to run sudo", "may not run sudo"})) {
    return MakeSudoError(node, "sudo is not allowed", FormatSudoersHint(node));
  }
  return std::nullopt;
}

}  // namespace reconciler
