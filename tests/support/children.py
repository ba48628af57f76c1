"""A test's processes end with it, also when it is killed and can do nothing any more.

`die_with_parent` is for subprocess' preexec_fn: the kernel kills the new process as soon as the thread that started it
is gone. So a thread must outlive what it starts. What that process starts in its turn is its own affair.
`die_with_runner` is for a test itself: it ends with ctest. `give_way` is for a check that computes for long beside tests
that have limits."""

import ctypes
import os
import signal
import threading

PR_SET_PDEATHSIG = 1  # linux/prctl.h

# Loaded here: between fork and exec nothing may be looked up.
_prctl = ctypes.CDLL(None, use_errno=True).prctl
_prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4


def die_with_parent():
    if _prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def _runs_under_ctest():
    """One of these is set by ctest for each of its tests: the second one where no dashboard gets the results."""
    return not os.environ.keys().isdisjoint(("DASHBOARD_TEST_FROM_CTEST", "CTEST_INTERACTIVE_DEBUG_MODE"))


def die_with_runner():
    """Does nothing where a person runs the test: a shell may end before what it started."""
    if _runs_under_ctest():
        die_with_parent()


def give_way(seconds):
    """For so long this process and what it starts take only what others leave of the processors; then an even share, for on
    a machine that is busy with something else it would never end. Does nothing where a person waits for it, and without
    root, who alone may go back; the lab needs root too.

    A process' own priority counts within its session only (sched(7), autogroup), and sessions share evenly: a node of
    the lab, which is a session of its own, would get no more than this. So a session of our own gets the lowest weight. Under
    SCHED_IDLE, what others have to do need not wait for the end of a time slice either."""
    if not _runs_under_ctest() or os.geteuid() != 0:
        return
    try:
        os.setsid()
        _weigh("19", os.SCHED_IDLE)
    except OSError:  # we lead the runner's session, or this kernel knows no autogroups
        return
    back = threading.Timer(seconds, _weigh, ("0", os.SCHED_OTHER))
    back.daemon = True
    back.start()


def _weigh(nice, policy):
    """For all threads. What they have started keeps its policy, and gets its share of the session's weight."""
    with open("/proc/self/autogroup", "w", encoding="utf-8") as weight:
        weight.write(nice)
    for thread in os.listdir("/proc/self/task"):
        os.sched_setscheduler(int(thread), policy, os.sched_param(0))
