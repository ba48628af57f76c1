#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "reconciler/base/result.h"
#include "reconciler/model/cluster_spec.h"

namespace reconciler {

using Milliseconds = std::chrono::milliseconds;
using Deadline = std::chrono::steady_clock::time_point;

// One running `sh -s` on a node, as root when the node's access says `become: sudo`. Its script
// comes through Write; "$1" is the SSH_CONNECTION of the login ("" for the local transport) and
// "$2" an unguessable word by which the processes of this shell are found again.
// Destroying a channel whose exit code was not read yet ends everything in the shell's session on
// the node (over ssh: as long as the connection still stands).
class Channel {
 public:
  virtual ~Channel() = default;

  struct Output {
    std::string out = {};  // what arrived since the last Read, binary safe
    std::string err = {};
    // Set once, when the process ended and both streams are drained; 128 + n when signal n ended
    // it.
    std::optional<int> exit_code = std::nullopt;
  };

  // Bytes that the process no longer reads (it ended, or closed its input) are dropped without an
  // error: its exit code shows it. Output that arrives meanwhile is kept for the next Read, so a
  // script longer than the pipes can hold never blocks both ends.
  virtual Result<void> Write(std::string_view bytes, Deadline deadline) = 0;
  virtual Result<void> CloseInput() = 0;
  // Waits until something arrived or the process ended. A deadline that passes is kTransport.
  virtual Result<Output> Read(Deadline deadline) = 0;
};

// An open, authenticated connection to one node; the only door to it. Used by one thread at a time.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Result<std::unique_ptr<Channel>> OpenShell() = 0;
};

// Connects to a node, or says why not (kTransport, with a hint).
using Dial = std::function<Result<std::unique_ptr<Transport>>(const NodeSpec&)>;

struct ScriptReply {
  int exit_code = 0;
  std::string out = {};
  std::string err = {};
};

// Feeds `script` to one shell and collects both streams. Errors: the limit passed, more than
// `max_output` bytes arrived, or the connection broke. A non-zero exit code is a reply.
Result<ScriptReply> RunScript(Transport& transport, std::string_view script, Milliseconds limit,
                              std::size_t max_output = 16u << 20);
// The same on a shell that is open already; its input is closed after the script.
Result<ScriptReply> RunScriptOn(Channel& shell, std::string_view script, Milliseconds limit,
                                std::size_t max_output = 16u << 20);

// Adds `limit` as the hint of an error that its passing caused: only the caller of a channel knows
// it.
Error AddPassedLimit(Error error, Deadline deadline, Milliseconds limit);

// Turns the way `sudo -n` refuses into an error that names the node and the remedy. `reply`: of a
// shell in which no script began. Its stdout says nothing: startup files of the login may print.
std::optional<Error> FindSudoRefusal(const NodeSpec& node, const ScriptReply& reply);

}  // namespace reconciler
