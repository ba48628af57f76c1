"""A test's processes end with it, also when it is killed and can do nothing any more.

`die_with_parent` is for subprocess' preexec_fn: the kernel kills the new process as soon as the thread that started it
is gone. So a thread must outlive what it starts. What that process starts in its turn is its own affair.
`die_with_runner` is for a test itself: it ends with ctest."""

import ctypes
import os
import signal

PR_SET_PDEATHSIG = 1  # linux/prctl.h

# Loaded here: between fork and exec nothing may be looked up.
_prctl = ctypes.CDLL(None, use_errno=True).prctl
_prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4


def die_with_parent():
    if _prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def die_with_runner():
    """Does nothing where a person runs the test: a shell may end before what it started."""
    if "DASHBOARD_TEST_FROM_CTEST" in os.environ:  # set by ctest for each of its tests
        die_with_parent()
