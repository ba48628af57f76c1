#include "reconciler/engine/lock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "reconciler/base/text.h"
#include "reconciler/engine/frames.h"
#include "reconciler/engine/node_helper.h"

namespace reconciler {
namespace {

constexpr Milliseconds kLimit{20000};

// "free", or "held SHELL OVERDUE" and the lease's first line. The lock is not tried: a controller
// that came in that moment would be refused.
constexpr std::string_view kLook = R"sh(
[ -e "$D/lease" ] || { echo free; exit 0; }
shell=0; until=0
while read -r word value; do [ "$word" != shell ] || shell=$value; done <"$D/lease"
[ "$(readlink "/proc/$shell/fd/9")" = "$D/lock" ] || { echo free; exit 0; }
read -r until <"$D/lease.until"
read -r up _ </proc/uptime
echo "held $shell $((${up%.*} - until))"
head -n 1 "$D/lease"
)sh";

// Only a process that has the lock open is ended, and with it its children: the step under way.
constexpr std::string_view kBreak = R"sh(
[ "$(readlink "/proc/$shell/fd/9")" = "$D/lock" ] || { echo 'the lock has another holder now' >&2; exit 1; }
family() { for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do family "$child"; done; echo "$1"; }
kill -KILL $(family "$shell")
for try in 1 2 3 4 5 6 7 8 9 10; do
  flock -n "$D/lock" true && exit 0
  sleep 0.3
done
echo 'the lock is still held' >&2
exit 1
)sh";

Error Failed(const NodeName& node, std::string what) {
  return {.kind = ErrorKind::kApply, .message = std::move(what), .context = {node}};
}

}  // namespace

std::string WhoAmI() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const char* user = std::getenv("USER");
  return fmt::format("{}@{} pid {}", user == nullptr ? "root" : user, host.data(), getpid());
}

std::string TimeNow() {
  return fmt::format("{:%FT%TZ}", std::chrono::time_point_cast<std::chrono::seconds>(
                                      std::chrono::system_clock::now()));
}

std::string LeaseText() { return WhoAmI() + " since " + TimeNow(); }

Result<NodeLock> ReadLock(const NodeSpec& node, NodePool& pool) {
  const auto reply = pool.Run(
      node, fmt::format("{}D={}\n{}", ScriptPreamble(MakeNonce()), kStateFolder, kLook), kLimit);
  if (!reply) return Fail(reply.error());
  const std::vector<std::string> lines = SplitLines(reply->out);
  if (!lines.empty() && lines[0] == "free") return NodeLock{};
  const std::vector<std::string> words =
      lines.empty() ? std::vector<std::string>() : Split(lines[0], ' ');
  if (words.size() != 3 || words[0] != "held") {
    return Fail(Failed(node.name, "the lock cannot be read: " + Printable(Trim(reply->err))));
  }
  return NodeLock{.held = true,
                  .lease = lines.size() > 1 ? lines[1] : "",
                  .shell = std::atoi(words[1].c_str()),
                  .overdue_s = std::atoi(words[2].c_str())};
}

std::optional<std::string> ProofOfDeath(const NodeLock& lock, int patience_s) {
  if (lock.overdue_s > patience_s) {
    return fmt::format("it has been silent for {} s longer than its last request could take",
                       lock.overdue_s);
  }
  // "ada@workstation pid 4711 since …"
  const std::vector<std::string> mine = Split(WhoAmI(), ' ');
  const std::vector<std::string> words = Split(lock.lease, ' ');
  if (words.size() < 3 || words[0] != mine[0] || words[1] != "pid") return std::nullopt;
  std::ifstream name(fmt::format("/proc/{}/comm", std::atoi(words[2].c_str())));
  std::string comm;
  if (name && std::getline(name, comm) && std::string_view("spark-reconcile").starts_with(comm)) {
    return std::nullopt;
  }
  return fmt::format("it was process {} of this machine, which does not run any more", words[2]);
}

Result<void> BreakLock(const NodeSpec& node, NodePool& pool, const NodeLock& lock) {
  const auto reply = pool.Run(node,
                              fmt::format("{}D={}\nshell={}\n{}", ScriptPreamble(MakeNonce()),
                                          kStateFolder, lock.shell, kBreak),
                              kLimit);
  if (!reply) return Fail(reply.error());
  if (reply->exit_code == 0) return {};
  return Fail(Failed(node.name, "the lock could not be broken: " + Printable(Trim(reply->err))));
}

}  // namespace reconciler
