"""What the tests of the Debian packages share: to find a package, to check it, to skip with a reason."""

import glob
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [os.path.join(ROOT, "tests", "support"), os.path.join(ROOT, "tests", "cli")]

import speed  # noqa: E402
from spark_cli import MANIFEST  # noqa: E402, F401

X86_64, AARCH64 = 62, 183  # e_machine of elf(5)


def find_package(build, pattern):
    """The newest of the build folder, where the environment names none."""
    folder = os.environ.get("SPARK_PACKAGE_FOLDER", os.path.join(ROOT, build, "package"))
    found = sorted(glob.glob(os.path.join(folder, pattern)), key=os.path.getmtime)
    return os.environ.get("SPARK_PACKAGE", found[-1] if found else None)


def output(*command, limit_s=60):
    return speed.run(command, limit_s, check=True, text=True, stdout=subprocess.PIPE).stdout


def read_machine(path):
    """For which machine a program is: X86_64 or AARCH64."""
    with open(path, "rb") as file:
        return int.from_bytes(file.read(20)[18:20], "little")


def assert_no_error_of_lintian(test, package):
    if not shutil.which("lintian"):
        test.skipTest("lintian is not installed (tests/packages names it)")
    done = speed.run(["lintian", "--allow-root", "--fail-on", "error", package], 300, check=False, text=True, stdout=subprocess.PIPE,
                     stderr=subprocess.STDOUT)
    test.assertEqual(done.returncode, 0, done.stdout)


def skip_all_if(reason):
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
