#include "reconciler/transport/shell_command.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/transport/end_shell.sh.h"
#include "reconciler/transport/skip_password.sh.h"

namespace reconciler {
namespace {

constexpr std::string_view kScriptBegins = "the script begins here";  // see skip_password.sh
// The command alone: csh, which may be the login shell, takes no newline between quotes.
const std::string kSkipSh = FindLastLine(kSkipPasswordSh);

bool HasPassword(const Access& access) {
  return access.become == Become::kSudo && access.sudo_password != nullptr;
}

}  // namespace

std::string MakeShellToken() {
  std::random_device random;
  const std::uint64_t bits = (std::uint64_t{random()} << 32) | random();
  return fmt::format("{:016x}", bits);
}

std::string BuildRemoteShellCommand(const Access& access, std::string_view token) {
  if (HasPassword(access)) {
    return fmt::format("exec env LC_ALL=C sudo -S -p '' sh -c {} sh \"$SSH_CONNECTION\" {}",
                       QuoteForShell(kSkipSh), QuoteForShell(token));
  }
  const char* shell =
      access.become == Become::kSudo ? "env LC_ALL=C sudo -n sh" : "env LC_ALL=C sh";
  return fmt::format("exec {} -s -- \"$SSH_CONNECTION\" {}", shell, QuoteForShell(token));
}

std::vector<std::string> BuildLocalShellArgv(const Access& access, bool is_root,
                                             std::string_view token) {
  std::vector<std::string> argv = {"env", "LC_ALL=C"};
  if (HasPassword(access) && !is_root) {
    argv.insert(argv.end(),
                {"sudo", "-S", "-p", "", "sh", "-c", kSkipSh, "sh", "", std::string(token)});
    return argv;
  }
  if (access.become == Become::kSudo && !is_root) argv.insert(argv.end(), {"sudo", "-n"});
  argv.insert(argv.end(), {"sh", "-s", "--", "", std::string(token)});
  return argv;
}

std::string BuildShellInput(const Access& access, bool is_root) {
  if (!HasPassword(access) || is_root) return {};
  return fmt::format("{}\n{}\n", *access.sudo_password, kScriptBegins);
}

std::string BuildEndShellScript(std::string_view token) {
  return AssignForShell({{"TOKEN", token}}) + std::string(kEndShellSh);
}

}  // namespace reconciler
