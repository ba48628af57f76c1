#!/usr/bin/env python3
"""Runs the test that its arguments name. On a machine that is too slow for all long tests it runs nothing, says so and exits with 77,
which ctest shows as skipped. SPARK_FULL=1 in the environment runs it everywhere."""

import os
import sys

import speed


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: unless_slow.py PROGRAM [ARGUMENT…]")
    if speed.is_slow():
        print(f"skipped: {speed.explain_slow()}")
        sys.exit(77)
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
