// Part of every test program: it ends with the program that started it. A runner that is killed at
// its own time limit would leave the test, and the shells that the test feeds, behind.
#include <sys/prctl.h>

#include <csignal>

namespace {

[[maybe_unused]] const int kEndsWithParent = prctl(PR_SET_PDEATHSIG, SIGKILL);

}  // namespace
