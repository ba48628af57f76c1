#!/usr/bin/env python3
"""Runs the test that its arguments name, with the nodes' system that $SPARK_LAB_OS says. Where that cannot be had, it runs nothing, says why
and exits with 77, which ctest shows as skipped."""

import os
import sys

from spark_lab import root_or_skip


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: with_root.py PROGRAM [ARGUMENT…]")
    root_or_skip()
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
