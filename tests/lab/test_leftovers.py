"""What tests that were killed left running is removed, and then nothing of theirs is there. 77: not root."""

import os
import pathlib
import subprocess
import sys

from spark_lab import LAB, speed

STATE = os.environ.get("SPARK_LAB_STATE", "/run/spark-reconcile-lab")


def lines(*command):
    return speed.run(command, 60, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()


def machines():
    """{process: run} of every qemu that has a run's files open by name."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # ended meanwhile
        if not os.path.basename(words[0]).startswith("qemu-system-"):
            continue
        for word in words:
            if f"{STATE}/" in word:
                found[process.name] = word.partition(f"{STATE}/")[2].partition("/")[0]
    return found


def main():
    if os.geteuid() != 0:
        print("skipped: the lab needs root")
        sys.exit(77)
    speed.run([LAB, "gc"], 120, check=True)
    runs = lines(LAB, "list")
    # Another's run that is alive stays.
    alive = {line.split()[0] for line in runs}
    gone = [line for line in runs if "(gone)" in line]
    strays = {process: run for process, run in machines().items() if run not in alive}
    namespaces = [name for name in lines("ip", "netns", "list")
              if name.startswith("sparklab-") and name.split()[0].partition("-")[2] not in alive]
    mounts = [line for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()
              if f" {STATE}/" in line and not any(f" {STATE}/{run}" in line for run in alive)]
    print(f"runs of others: {sorted(alive) or 'none'}")
    assert not gone, f"wanted every run without an owner removed, found {gone}"
    assert not strays, f"wanted no machine without a run, found {strays}"
    assert not namespaces, f"wanted no network namespace without a run, found {namespaces}"
    assert not mounts, f"wanted no mount without a run, found {mounts}"


if __name__ == "__main__":
    main()
