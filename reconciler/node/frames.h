#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/transport/transport.h"

namespace reconciler {

// How a script on a node marks where one answer ends and the next begins, on stdout and stderr
// alike: a line with a random nonce that no answer can know, and a label. Both streams are sliced
// by it, so that answers may hold any bytes and stderr is distinguished per command.
struct Frame {
  std::string label = {};
  std::string out = {};
  std::string err = {};
};

std::string MakeNonce();  // 32 hex digits from the system's random source

// Defines the shell function `frame LABEL…` and the environment every script of ours runs in
// (LC_ALL=C, a fixed PATH, umask 077, the root directory).
std::string BuildScriptPreamble(std::string_view nonce);

// The frames in the order they were opened; what stands before the first one is dropped. A stream
// that was cut yields the frames that did arrive.
std::vector<Frame> ParseFrames(const ScriptReply& reply, std::string_view nonce);

}  // namespace reconciler
