#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/transport/transport.h"

namespace reconciler {

// The input of a program that RunProgram runs, as a file that the program may open.
inline constexpr const char* kProgramInput = "/proc/self/fd/0";

// Runs a program of this machine and waits for its end. Of each of its streams at most 256 KiB are
// returned. Nothing: the deadline passed, and the program was killed. An error: it was not started.
Result<std::optional<ScriptReply>> RunProgram(const std::vector<std::string>& argv,
                                              const std::string& input, Deadline deadline);

}  // namespace reconciler
