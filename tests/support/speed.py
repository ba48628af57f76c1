#!/usr/bin/env python3
"""How much slower this machine is than the one on which the tests' limits were set, and limits that allow for it.

`speed.py FILE` measures and writes FILE. ctest does that once, before all tests that have limits, and names the file in
$SPARK_SPEED; a test that is run by hand measures for itself. Limits of the program are never changed by this."""

import functools
import json
import os
import subprocess
import sys
import time

import children

# Seconds on the reference: two idle cores of a virtual machine, where /dev/kvm runs no guest.
COMPUTATION_REFERENCE_S = 0.35
BOOT_REFERENCE_S = 25.0  # `lab up 2 --vm`
# Limits grow no further than this, so that the whole of the tests has an end.
MOST = 6.0
# From here on the long tests of the lab are left out: on a machine 3.7 times slower than the reference (2026-11-24) a step of the
# fault matrix took 50 s instead of 3.5, since most of that time goes into starting programs.
SLOW = 2.5
TRIES = 3  # the best counts: another program's short burst says nothing about the machine
# Two of these at once, as the reference has two cores: shells that compute and start processes, as the tests do.
COMPUTATION = ("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; "
               "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done")

_boot_factor = 1.0


class GaveUp(AssertionError):
    """A limit of a test was passed; says how slow the machine is."""


def _factor(measured_s, reference_s):
    return round(min(MOST, max(1.0, measured_s / reference_s)), 1)


def measure():
    """Seconds for the computation."""
    tries = []
    for _ in range(TRIES):
        began = time.monotonic()
        shells = [subprocess.Popen(["sh", "-c", COMPUTATION], preexec_fn=children.die_with_parent) for _ in range(2)]
        for shell in shells:
            shell.wait()
        tries.append(time.monotonic() - began)
    return min(tries)


@functools.cache
def _computation_factor():
    try:
        with open(os.environ["SPARK_SPEED"], encoding="utf-8") as file:
            measured_s = json.load(file)["computation_s"]
    except (KeyError, OSError):
        measured_s = measure()
    return _factor(measured_s, COMPUTATION_REFERENCE_S)


def note_boot(seconds):
    """What two virtual machines took to boot: from now on the limits of this process allow for that too."""
    global _boot_factor
    _boot_factor = _factor(seconds, BOOT_REFERENCE_S)


def factor():
    """At least 1: on a faster machine the limits stay."""
    return max(_computation_factor(), _boot_factor)


def scaled(seconds):
    return seconds * factor()


def is_slow():
    """Whether long tests are left out here."""
    return _computation_factor() >= SLOW and os.environ.get("SPARK_FULL") != "1"


def explain_slow():
    return (f"this machine is {_computation_factor():g} times slower than the reference, and the long tests are left out from "
            f"{SLOW:g} times on; SPARK_FULL=1 runs them")


def limit(seconds):
    """The limit as text."""
    if factor() == 1:
        return f"{seconds:g} s (this machine is as fast as the reference)"
    return (f"{round(scaled(seconds), 1):g} s ({seconds:g} s × {factor():g}: "
            f"this machine is {factor():g} times slower than the reference)")


def gave_up(seconds):
    return f"gave up after {limit(seconds)}"


def eventually(condition, seconds, pause_s=0.05):
    """Polls until `condition` gives a true value, or the limit is passed; returns the last value."""
    end = time.monotonic() + scaled(seconds)
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(pause_s)
    return value


def wait_until(condition, seconds, wanted, pause_s=0.05):
    """As `eventually`; a limit that is passed is a failure."""
    value = eventually(condition, seconds, pause_s)
    if not value:
        raise GaveUp(f"wanted {wanted}; {gave_up(seconds)}")
    return value


def run(command, limit_s, **options):
    """subprocess.run for a process that ends with this one, and within the limit."""
    try:
        return subprocess.run(command, timeout=scaled(limit_s), preexec_fn=children.die_with_parent, **options)
    except subprocess.TimeoutExpired as late:
        said = "".join(text if isinstance(text, str) else text.decode(errors="replace")
                       for text in (late.stdout, late.stderr) if text)
        raise GaveUp(f"{' '.join(map(str, command))}: {gave_up(limit_s)}\n{said}") from None


def start(command, **options):
    """subprocess.Popen for a process that ends with the thread that starts it."""
    return subprocess.Popen(command, preexec_fn=children.die_with_parent, **options)


def wait(process, limit_s):
    """The exit status of a process, which must end within the limit."""
    try:
        return process.wait(timeout=scaled(limit_s))
    except subprocess.TimeoutExpired:
        raise GaveUp(f"{process.args}: {gave_up(limit_s)}") from None


def assert_within(took_s, limit_s):
    if took_s >= scaled(limit_s):
        raise GaveUp(f"took {took_s:.1f} s, wanted less than {limit(limit_s)}")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: speed.py FILE")
    measured_s = measure()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"computation_s": measured_s}, file)
    print(f"limits × {_factor(measured_s, COMPUTATION_REFERENCE_S):g}: {measured_s:.2f} s for what takes the reference "
          f"{COMPUTATION_REFERENCE_S:g} s")


if __name__ == "__main__":
    main()
