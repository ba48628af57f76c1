#include "reconciler/transport/shell_command.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/transport/end_shell.sh.h"

namespace reconciler {

std::string MakeShellToken() {
  std::random_device random;
  const std::uint64_t bits = (std::uint64_t{random()} << 32) | random();
  return fmt::format("{:016x}", bits);
}

std::string BuildRemoteShellCommand(Become become, std::string_view token) {
  const char* shell = become == Become::kSudo ? "env LC_ALL=C sudo -n sh" : "env LC_ALL=C sh";
  return fmt::format("exec {} -s -- \"$SSH_CONNECTION\" {}", shell, QuoteForShell(token));
}

std::vector<std::string> BuildLocalShellArgv(Become become, bool is_root, std::string_view token) {
  std::vector<std::string> argv = {"env", "LC_ALL=C"};
  if (become == Become::kSudo && !is_root) argv.insert(argv.end(), {"sudo", "-n"});
  argv.insert(argv.end(), {"sh", "-s", "--", "", std::string(token)});
  return argv;
}

std::string BuildEndShellScript(std::string_view token) {
  return AssignForShell({{"TOKEN", token}}) + std::string(kEndShellSh);
}

}  // namespace reconciler
