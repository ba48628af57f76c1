#!/usr/bin/env python3
"""spark-verify as it is copied to nodes: it needs libc and nothing else, and says what it misses. 77: not checked.

binary_test.py BUILD_FOLDER          the program for this machine's type
binary_test.py BUILD_FOLDER aarch64  the one for a Spark, which it builds; x86_64 is the other way round
"""

import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))

import children  # noqa: E402

SKIPPED = 77
# The loader is part of libc.
LIBC = re.compile(r"lib(c|m|dl|pthread)\.so\.\d+|ld-linux-[\w-]+\.so\.\d+")


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def main():
    build, kind = sys.argv[1], (sys.argv[2:] or [os.uname().machine])[0]
    native = kind == os.uname().machine
    program = os.path.join(build, "spark-verify" if native else f"spark-verify-{kind}")
    if not native:
        if not shutil.which(f"{kind}-linux-gnu-g++"):
            print(f"skipped: no compiler for {kind} is installed (g++-{kind}-linux-gnu)")
            sys.exit(SKIPPED)
        subprocess.run(["cmake", "--build", build, "--target", f"spark-verify-{kind}"], check=True,
                       preexec_fn=children.die_with_parent)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", program))
    strange = [name for name in needed if not LIBC.fullmatch(name)]
    assert needed and not strange, f"wanted a program that needs libc alone, found {needed}"
    command = [program]
    if not native:
        emulator = shutil.which(f"qemu-{kind}-static") or shutil.which(f"qemu-{kind}")
        if not emulator:
            print(f"built; not run: no qemu-{kind} is installed")
            return
        command = [emulator, "-L", f"/usr/{kind}-linux-gnu", program]
    facts = json.loads(output(*command, "facts"))
    assert "devices" in facts, facts
    assert facts["gpu"], facts
    wrong = subprocess.run([*command, "write"], check=False, text=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    assert wrong.returncode == 2, wrong
    assert wrong.stderr.startswith("spark-verify: wanted rails, found none\n"), wrong.stderr


main()
