#include "reconciler/engine/lock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "reconciler/base/text.h"
#include "reconciler/engine/frames.h"

namespace reconciler {
namespace {

constexpr std::chrono::seconds kLimit{20};

// Ends when its input ends, which is when our connection does. `held` and the lease of another are
// told on stdout; the last line is always "end".
constexpr std::string_view kHold = R"sh(
D=/var/lib/spark-reconcile
mkdir -p $D && : >>$D/lock || exit 1
exec 9>>$D/lock
if flock -n 9; then
  printf '%s\n' "$lease" >$D/lease
  echo held; echo end
  read -r _
  rm -f $D/lease
else
  cat $D/lease; echo end
fi
)sh";

// What the node's shell says before its "end" line.
Result<std::string> Ask(Channel& shell, const std::string& script) {
  const Deadline deadline = std::chrono::steady_clock::now() + kLimit;
  if (auto written = shell.Write(script, deadline); !written) return Fail(written.error());
  std::string said;
  std::string complaint;
  for (;;) {
    auto output = shell.Read(deadline);
    if (!output) return Fail(std::move(output).error());
    said += output->out;
    complaint += output->err;
    if (said.ends_with("end\n")) return said.substr(0, said.size() - 4);
    if (output->exit_code) {
      return Fail({.kind = ErrorKind::kApply,
                   .message = "the lock could not be taken: " + Printable(Trim(complaint))});
    }
  }
}

// The channel that holds the lock; nothing when the node cannot be reached.
Result<std::unique_ptr<Channel>> TakeOne(const NodeSpec& node, NodePool& pool,
                                         const std::string& lease) {
  auto shell = pool.OpenShell(node);
  if (!shell) return nullptr;  // gathering says why, in better words
  const auto said =
      Ask(**shell, ScriptPreamble(MakeNonce()) + "lease=" + ShellQuote(lease) + std::string(kHold));
  if (!said) return Fail(InContext(said.error(), node.name));
  if (*said == "held\n") return shell;
  return Fail({.kind = ErrorKind::kLocked,
               .message = "another apply is at work: " + Printable(Trim(*said)),
               .context = {node.name},
               .hint = "wait for it; its lock goes when it ends or its connection is cut"});
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

Result<Locks> Locks::Take(const std::vector<const NodeSpec*>& nodes, NodePool& pool,
                          const std::string& who) {
  Locks locks;
  std::optional<Error> refused;
  std::mutex mutex;
  const auto take = [&](const NodeSpec& node) {
    auto held = TakeOne(node, pool, who);
    const std::lock_guard lock(mutex);
    if (!held) {
      refused = std::move(held).error();
    } else if (*held != nullptr) {
      locks.held_.push_back(std::move(*held));
    }
  };
  if (!nodes.empty()) take(*nodes.front());
  if (!refused && nodes.size() > 1) ForEachNode({nodes.begin() + 1, nodes.end()}, take);
  if (refused) return Fail(std::move(*refused));
  return locks;
}

}  // namespace reconciler
