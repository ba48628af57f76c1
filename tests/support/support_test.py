#!/usr/bin/env python3
"""What the tests' own helpers promise: limits that allow for a slow machine, and nothing left of a killed test."""

import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import speed

HERE = pathlib.Path(__file__).resolve().parent
LINT = HERE.parent / "lint"
GONE_S = 2


def running(word):
    """The processes that have exactly this among their words."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # ended meanwhile
        if word in words:
            found.append(int(process.name))
    return found


class UnlessSlow(unittest.TestCase):
    def run_at(self, computation_s, **environment):
        """Exit code and output of `unless_slow.py echo ran` where the computation takes so many seconds."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(f'{{"computation_s": {computation_s}}}')
            file.flush()
            base = {name: value for name, value in os.environ.items() if name != "SPARK_FULL"}
            done = subprocess.run([sys.executable, HERE / "unless_slow.py", "/bin/echo", "ran"], stdout=subprocess.PIPE, text=True,
                                  check=False, env={**base, "SPARK_SPEED": file.name, **environment})
        return done.returncode, done.stdout

    def test_a_long_test_is_left_out_on_a_slow_machine_and_says_so(self):
        self.assertEqual(self.run_at(2.5 * speed.COMPUTATION_REFERENCE_S),
                         (77, "skipped: this machine is 2.5 times slower than the reference, and the long tests are left out from "
                              "2.5 times on; SPARK_FULL=1 runs them\n"))

    def test_a_long_test_runs_on_a_usual_machine_and_where_all_are_wanted(self):
        self.assertEqual(self.run_at(2.4 * speed.COMPUTATION_REFERENCE_S), (0, "ran\n"))
        self.assertEqual(self.run_at(9, SPARK_FULL="1"), (0, "ran\n"))


class Killed(unittest.TestCase):
    def killed_leaves_nothing(self, command, word, **options):
        """Starts `command`, kills it once a process with `word` runs, and wants that gone soon."""
        runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
        try:
            speed.wait_until(lambda: running(word), 30, f"a child of {command}")
        finally:
            runner.send_signal(signal.SIGKILL)
            runner.wait()
        speed.wait_until(lambda: not running(word), GONE_S, f"no {word} after its runner was killed")

    def test_a_killed_test_leaves_no_child(self):
        word = f"child-of-{os.getpid()}"
        script = f"import speed; speed.run(['sh', '-c', 'sleep 1000; exit', {word!r}], 1000)"
        self.killed_leaves_nothing([sys.executable, "-c", script], word, cwd=HERE)

    def test_a_test_is_killed_with_its_runner(self):
        word = f"grandchild-of-{os.getpid()}"
        test = ("import children, time\nchildren.die_with_runner()\nimport subprocess\n"
                f"subprocess.run(['sh', '-c', 'sleep 1000; exit', {word!r}], preexec_fn=children.die_with_parent)")
        runner = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {test!r}])"
        self.killed_leaves_nothing([sys.executable, "-c", runner], word, cwd=HERE,
                                   env={**os.environ, "CTEST_INTERACTIVE_DEBUG_MODE": "1"})

    def test_ctest_is_known_by_what_it_sets(self):
        with tempfile.TemporaryDirectory() as folder:
            code = "import sys, children; sys.exit(0 if children._runs_under_ctest() else 9)"
            pathlib.Path(folder, "CTestTestfile.cmake").write_text(f'add_test(known "{sys.executable}" -c "{code}")\n', encoding="utf-8")
            outside = {name: value for name, value in os.environ.items() if "CTEST" not in name}
            self.assertEqual(subprocess.run([sys.executable, "-c", code], cwd=HERE, env=outside, check=False).returncode, 9)
            done = subprocess.run(["ctest", "--output-on-failure"], cwd=folder, env={**outside, "PYTHONPATH": str(HERE)}, check=False,
                                  stdout=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_killed_clang_tidy_py_leaves_no_clang_tidy(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            # It answers for its version, and then runs for long.
            tidy = build / "clang-tidy-14"
            tidy.write_text("#!/bin/sh\n[ \"$1\" != --version ] || { echo 'LLVM version 14.0.6'; exit; }\nsleep 1000; exit\n",
                            encoding="utf-8")
            tidy.chmod(tidy.stat().st_mode | stat.S_IXUSR)
            (build / "a.cpp").write_text("int a;\n", encoding="utf-8")
            (build / "compile_commands.json").write_text(
                f'[{{"directory": "{folder}", "file": "{folder}/a.cpp", "command": "c++ -o a.o -c {folder}/a.cpp"}}]',
                encoding="utf-8")
            self.killed_leaves_nothing([sys.executable, str(LINT / "clang_tidy.py"), folder, f"{folder}/a.cpp"],
                                       str(tidy), env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})


class FaultWrapper(unittest.TestCase):
    def test_a_call_whose_folder_goes_while_it_is_numbered_is_one_as_any_other(self):
        with tempfile.TemporaryDirectory() as folder:
            command = pathlib.Path(folder, "true")
            shutil.copy(HERE.parent / "lab" / "faults" / "wrapper.sh", command)
            command.chmod(0o755)
            orders = pathlib.Path(folder, "faults", "true")
            orders.mkdir(parents=True)
            os.mkfifo(orders / "count")
            call = speed.start([command], env={**os.environ, "FAULTS": str(orders.parent)})
            try:
                with open(orders / "count", "w", encoding="utf-8") as count:  # the call is here when it opens
                    shutil.rmtree(orders)
                    count.write("1\n")
                speed.wait(call, 10)
            finally:
                call.kill()
            self.assertEqual(call.wait(), 0)


class GivesWay(unittest.TestCase):
    def test_what_gives_way_has_the_lowest_weight_for_a_while(self):
        if not os.path.exists("/proc/self/autogroup") or os.geteuid() != 0:
            self.skipTest("wanted root, and a kernel with autogroups")
        script = ("import children, os, speed\n"
                  "def weight(): return open('/proc/self/autogroup').read().split()[-1], os.sched_getscheduler(0)\n"
                  "children.give_way(1); print(weight() == ('19', os.SCHED_IDLE))\n"
                  "print(speed.eventually(lambda: weight() == ('0', os.SCHED_OTHER), 10))")
        done = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, text=True, cwd=HERE,
                              env={**os.environ, "CTEST_INTERACTIVE_DEBUG_MODE": "1"})
        self.assertEqual(done.stdout, "True\nTrue\n")


class Limits(unittest.TestCase):
    def slow(self, factor):
        for name, value in (("_computation_factor", lambda: factor), ("_boot_factor", 1.0)):
            patch = mock.patch.object(speed, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_a_passed_limit_says_how_slow_the_machine_is(self):
        self.slow(2.8)
        self.assertEqual(speed.gave_up(30), "gave up after 84 s (30 s × 2.8: this machine is 2.8 times slower than the "
                                            "reference)")
        self.slow(1)
        self.assertEqual(speed.gave_up(30), "gave up after 30 s (this machine is as fast as the reference)")

    def test_a_machine_may_be_faster_and_is_never_taken_for_more_than_six_times_slower(self):
        self.assertEqual([speed._factor(seconds, 10) for seconds in (1, 10, 27.6, 1000)], [1, 1, 2.8, 6])

    def test_a_slow_boot_alone_makes_the_limits_longer(self):
        self.slow(1.5)
        speed.note_boot(93)
        self.assertEqual(speed.scaled(10), 37)
        speed.note_boot(5)
        self.assertEqual(speed.scaled(10), 15)

    def test_a_command_that_does_not_end_is_ended_and_named(self):
        self.slow(2)
        began = time.monotonic()
        with self.assertRaisesRegex(speed.GaveUp, r"^sh -c echo said; exec sleep 1000: gave up after 0.4 s \(0.2 s × 2: this "
                                                  r"machine is 2 times slower than the reference\)\nsaid\n$"):
            speed.run(["sh", "-c", "echo said; exec sleep 1000"], 0.2, capture_output=True, text=True)
        self.assertLess(time.monotonic() - began, 100)

    def test_a_state_that_never_comes_is_named(self):
        self.slow(1)
        with self.assertRaisesRegex(speed.GaveUp, "^wanted rain; gave up after 0.1 s "):
            speed.wait_until(lambda: False, 0.1, "rain")
        self.assertEqual(speed.wait_until(lambda: "rain", 0.1, "rain"), "rain")

    def test_the_file_of_the_runner_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "speed.json")
            done = subprocess.run([sys.executable, str(HERE / "speed.py"), path], check=True, stdout=subprocess.PIPE,
                                  text=True)
            self.assertRegex(done.stdout, r"^limits × \d(\.\d)?: \d+\.\d\d s for what takes the reference 0\.35 s$")
            pathlib.Path(path).write_text('{"computation_s": 0.7}', encoding="utf-8")
            with mock.patch.dict(os.environ, SPARK_SPEED=path):
                self.assertEqual(speed._computation_factor.__wrapped__(), 2)


if __name__ == "__main__":
    unittest.main()
