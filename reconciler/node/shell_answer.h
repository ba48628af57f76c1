#pragma once

#include <string>
#include <string_view>

#include "reconciler/transport/transport.h"

namespace reconciler {

// Scripts that one open shell runs one after another. Each is answered by its output on both
// streams, and by the line "NONCE done EXIT_CODE" at the end of both.
struct ShellAnswer {
  ScriptReply reply = {};
  bool shell_ended = false;  // instead of answering: the reply is what the shell itself left
};

// What runs a script: a subshell of the open shell, or that shell itself.
enum class ScriptShell { kSub, kItself };

// Shell text that runs `script` without input and then writes the ending lines. It is read whole
// before any of it runs, so that a cut connection never leaves half a script.
std::string BuildAnsweredScript(std::string_view script, std::string_view nonce,
                                ScriptShell in = ScriptShell::kSub);

// Reads up to the ending lines. What a script left running writes later is lost, or begins the next
// answer. Errors: `deadline` passed, more than 16 MiB arrived, or the
// connection broke.
Result<ShellAnswer> ReadShellAnswer(Channel& shell, std::string_view nonce, Deadline deadline);

// Ends a shell that runs nothing, so that nothing has to be looked for on the node.
void CloseIdleShell(Channel& shell);

}  // namespace reconciler
