#pragma once

#include <string>
#include <vector>

#include "reconciler/base/diagnostic.h"
#include "reconciler/model/facts.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::memlock {

// What pam_limits reads for logins.
std::vector<Read> ListLimitReads();

// A line of these files: "@gpu soft memlock 65536".
struct LimitLine {
  std::string place = {};  // "/etc/security/limits.conf:7"; empty: it is ours
  std::string domain = {};
  bool soft = false;
  bool hard = false;
  std::string kib = {};  // "65536", "unlimited"
};

// Warns of lines of others about memlock that pam_limits prefers to those of `own_file`, and that
// set another value. `own_body`: what that file is to hold. `wanted`: its value, like `kib`.
// `users`: those of ListLoginUsers; lines for a group count for the first one alone, whose login is
// read, where it has just that limit.
std::vector<Diagnostic> DiagnoseLimitLines(const NodeFacts& facts, const std::string& own_file,
                                           const std::string& own_body, const std::string& wanted,
                                           const std::vector<std::string>& users);

}  // namespace reconciler::plugins::memlock
