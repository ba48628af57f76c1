#include "reconciler/transport/shell_command.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

#include "reconciler/base/text.h"

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
  // The token comes to grep through its input: in an argument it would find grep itself. Fields of
  // /proc/PID/stat after the name, which may hold anything but ends at the last ')': state, parent,
  // process group, session. Session 0 means that its leader is outside this container.
  return fmt::format(R"sh({{
sessions=' '
for file in $(grep -lsF -f - /proc/[0-9]*/cmdline <<'TOKEN'
{}
TOKEN
); do
  read -r stat <"${{file%cmdline}}stat" || continue
  set -- ${{stat##*) }}
  [ "$4" = 0 ] || sessions="$sessions$4 "
done
for file in /proc/[0-9]*/stat; do
  read -r stat <"$file" || continue
  set -- ${{stat##*) }}
  pid=${{file#/proc/}}
  case $sessions in *" $4 "*) kill -KILL "${{pid%/stat}}" ;; esac
done
exit 0
}} 2>/dev/null
)sh",
                     token);
}

}  // namespace reconciler
