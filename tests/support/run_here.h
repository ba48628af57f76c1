#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/model/probe.h"

namespace reconciler::test {

// Runs a command on this machine, as a node would run a probe; both streams are in `out`.
inline CommandReply RunHere(const std::vector<std::string>& argv) {
  FILE* pipe = popen((JoinForShell(argv) + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {.exit_code = 127};
  CommandReply reply;
  std::array<char, 4096> bytes = {};
  while (const std::size_t count = fread(bytes.data(), 1, bytes.size(), pipe)) {
    reply.out.append(bytes.data(), count);
  }
  reply.exit_code = pclose(pipe);
  return reply;
}

}  // namespace reconciler::test
