#include "reconciler/node/lock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "reconciler/base/number.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/node/break_lock.sh.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/helper/journal.sh.h"
#include "reconciler/node/helper/node_helper.h"
#include "reconciler/node/read_lock.sh.h"

namespace reconciler {
namespace {

constexpr Milliseconds kLimit{20000};

std::string ReadBootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

std::string ReadPidNamespace() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

// A process id comes again, with another start: field 22 of proc_pid_stat(5), in clock ticks since
// boot. "-": there is no such process.
std::string ReadStartTime(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string stat;
  if (!file || !std::getline(file, stat)) return "-";
  const std::size_t name_end = stat.rfind(')');  // the name may hold blanks
  if (name_end == std::string::npos) return "-";
  const std::vector<std::string> fields = Split(stat.substr(name_end + 1), ' ');
  return fields.size() > 20 ? fields[20] : "-";
}

// Neither free nor anyone's.
Error MakeUnreadableError(const NodeName& node) {
  return {.kind = ErrorKind::kApply,
          .message = "the lock cannot be read: its lease does not say which shell holds it",
          .context = {node},
          .hint =
              "read it again; where that stays, the next apply takes the lock if it is free, "
              "and writes a new lease"};
}

}  // namespace

Error MakeLockedError(const NodeName& node, std::string_view lease) {
  return {.kind = ErrorKind::kLocked,
          .message = fmt::format("another apply is running: {}", MakePrintable(lease)),
          .context = {node},
          .hint =
              "wait for it; its lock goes when it ends or its connection is cut (`lock list` "
              "shows it)"};
}

std::string DescribeOwner() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const char* user = std::getenv("USER");
  return fmt::format("{}@{} pid {}", user == nullptr ? "root" : user, host.data(), getpid());
}

std::string FormatTimeNow() {
  return fmt::format("{:%FT%TZ}", std::chrono::time_point_cast<std::chrono::seconds>(
                                      std::chrono::system_clock::now()));
}

std::string FormatLease() {
  return fmt::format("{} since {}\nprocess {} {} {} {}", DescribeOwner(), FormatTimeNow(), getpid(),
                     ReadBootId(), ReadPidNamespace(), ReadStartTime(getpid()));
}

Result<NodeLock> ReadLock(const NodeSpec& node, NodePool& pool) {
  const auto reply = pool.Run(node,
                              BuildScriptPreamble(MakeNonce()) +
                                  AssignForShell({{"D", kStateFolder}}) + std::string(kReadLockSh),
                              kLimit);
  if (!reply) return Fail(reply.error());
  const std::vector<std::string> lines = SplitLines(reply->out);
  if (!lines.empty() && lines[0] == "free") return NodeLock{};
  if (!lines.empty() && lines[0] == "unreadable") return Fail(MakeUnreadableError(node.name));
  const std::vector<std::string> words =
      lines.empty() ? std::vector<std::string>() : Split(lines[0], ' ');
  const auto shell = words.size() == 4 ? ParseNumber<int>(words[1]) : std::nullopt;
  if (!shell || words[0] != "held") {
    return Fail(MakeNodeError(ErrorKind::kApply, node.name,
                              "the lock cannot be read: " + MakePrintable(Trim(reply->err))));
  }
  NodeLock lock{.held = true,
                .lease = lines.size() > 1 ? lines[1] : "",
                .process = lines.size() > 2 ? lines[2] : "",
                .shell = *shell};
  const auto until = ParseNumber<int>(words[2]);  // "-": none was written
  const auto now = ParseNumber<int>(words[3]);
  if (until && now) lock.overdue_s = static_cast<int>(std::int64_t{*now} - *until);
  return lock;
}

std::optional<std::string> ExplainEndedHolder(const NodeLock& lock, int silent_s) {
  if (lock.overdue_s && *lock.overdue_s > silent_s) {
    return fmt::format("it has been silent for {} s longer than its last request could take",
                       *lock.overdue_s);
  }
  const std::vector<std::string> words = Split(lock.process, ' ');
  if (words.size() != 5 || words[0] != "process") return std::nullopt;
  const int pid = ParseNumber<int>(words[1]).value_or(0);
  // Another machine's processes, or another container's, cannot be seen from here.
  if (pid <= 0 || words[2] != ReadBootId() || words[3] != ReadPidNamespace()) return std::nullopt;
  if (ReadStartTime(pid) == words[4]) return std::nullopt;
  return fmt::format("it was process {} of this machine, which does not run any more", pid);
}

Result<void> BreakLock(const NodeSpec& node, NodePool& pool, const NodeLock& lock) {
  const auto reply =
      pool.Run(node,
               BuildScriptPreamble(MakeNonce()) +
                   AssignForShell({{"D", kStateFolder}, {"HOLDER", std::to_string(lock.shell)}}) +
                   std::string(kJournalSh) + std::string(kBreakLockSh),
               kLimit);
  if (!reply) return Fail(reply.error());
  if (reply->exit_code == 0) return {};
  return Fail(MakeNodeError(ErrorKind::kApply, node.name,
                            "the lock could not be broken: " + MakePrintable(Trim(reply->err))));
}

}  // namespace reconciler
