#pragma once

#include <string>
#include <string_view>

namespace reconciler::cli {

// Ctrl-C, a lost terminal or a canceled job (SIGINT, SIGHUP, SIGTERM), and what it means while
// nodes are changed: before the commit the apply is reverted, after it the apply stays. A second
// one ends the program at once, after it has said what the nodes do on their own, and when.

enum class InterruptPhase {
  kNone,    // ends the program, as it would end any other
  kBefore,  // nothing was applied yet: says so, and ends the program
  kEnd,     // an earlier apply is ended, before anything of this one is changed
  kTrial,   // what was changed can be reverted
  kRevert,  // is being reverted
  kCommit,  // has begun to be committed, or is committed
  kVerify,  // the apply is committed, and is being verified: the first one ends the program
  kCheck,   // the same where nothing had to be applied
};

// Precondition of kTrial and what follows it: the times are set. After an interrupt no commit
// begins: the phase stays kTrial then, and IsApplyStopped is true.
void EnterInterruptPhase(InterruptPhase phase);

bool IsInterrupted();   // whether one came since kNone was left
bool IsApplyStopped();  // whether one came before the commit

struct InterruptTimes {
  int revert_after_s = 0;  // see GuardTimes
  int moment_s = 0;
};
void SetInterruptTimes(const InterruptTimes& times);

// The last event of an apply, as an interrupt writes it that ends the program: the time (RFC 3339,
// UTC, with milliseconds) and the exit code are put in then.
struct EndedLine {
  int fd = -1;
  std::string before_time = {};
  std::string after_time = {};  // up to the exit code
  std::string after_code = {};
};
// Puts `line` in the place of `before`; nullptr: none. False: it is not `before` that stands there,
// as where an interrupt has taken it, writes it, and ends the program. A line that stands there, or
// stood there, must live until one of its successors was taken out with true.
bool SetEndedLine(const EndedLine* before, const EndedLine* line);

// What is said where the verification was not run or not finished. `applied`: there was something
// to apply.
std::string_view DescribeInterruptedVerification(bool applied);

}  // namespace reconciler::cli
