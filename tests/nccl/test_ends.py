#!/usr/bin/env python3
"""A rank always ends: when a library hangs or crashes, when it is ordered to, when its controller is gone."""

import os
import subprocess
import time
import unittest

from ranks import FAKES, Ranks, speed
from test_faults import LONG, PROGRESS, SLACK_S, SMALL, milliseconds


class HungLibraries(unittest.TestCase):
    def hung(self, fault, call, phase, options=None):
        """A call that never returns ends with the process, and is named."""
        patient = {1: {"size_ms": milliseconds(30), "connect_ms": milliseconds(30)}}
        with Ranks(2, {**SMALL, **(options or {})}, env={"FAKE_NCCL_FAULT": fault}, rank_options=patient) as ranks:
            self.assertFalse(ranks.until_go() and ranks.await_all("end"))
            rank, failed = ranks.failed[0]
            ranks.abort()
            self.assertEqual((rank, failed["code"]), (0, "hung"), failed)
            self.assertEqual((failed["call"], failed["phase"]), (call, phase))
            self.assertEqual(failed["text"], f"wanted {call} to return in time, found it did not")
            self.assertEqual(ranks[0].status(), 1)

    def test_TheIdThatNeverComes(self):
        self.hung("hang-id@0", "ncclGetUniqueId", "start")

    def test_ACollectiveThatNeverReturns(self):
        self.hung("hang-call:2@0", "ncclAllReduce", "all_reduce 8 float out of place", {"size_ms": milliseconds(0.3)})

    def test_ACallThatNeverReturnsIsNamedWhenAbortIsOrdered(self):
        """Its peer's deadline may come first, and abort cannot come to a rank that is in a call."""
        with Ranks(2, SMALL, env={"FAKE_NCCL_FAULT": "hang-call:2@0"},
                   rank_options={0: {"size_ms": milliseconds(30)}}) as ranks:
            self.assertFalse(ranks.until_go() and ranks.await_all("end"))
            self.assertEqual(ranks.failed[0][0], 1)
            since = time.monotonic()
            ranks.abort()
            self.assertEqual(ranks[0].status(), 1)
            failed = ranks[0].one("failed")
            self.assertEqual((failed["code"], failed["call"]), ("hung", "ncclAllReduce"))
            speed.assert_within(failed["at"] - since, SLACK_S)

    def test_TheDriverThatNeverReturns(self):
        with Ranks(2, SMALL, absent=(0,), env={"FAKE_CUDA_FAULT": "hang-init"}) as ranks:
            self.assertEqual(ranks[1].status(), 1)
            self.assertEqual(ranks[1].one("failed")["text"], "wanted cuInit to return in time, found it did not")

    def test_AnAbortThatNeverReturnsEndsAllTheSame(self):
        with Ranks(2, SMALL, env={"FAKE_NCCL_FAULT": "hang-abort@0"}, absent=(1,)) as ranks:
            self.assertTrue(ranks.until_init())
            # Before that there is nothing to abort.
            speed.wait_until(lambda: any("Init START" in line for line in ranks[0].log()), 10, "Init START in the log", 0.01)
            ranks[0].send({"command": "abort"})
            self.assertEqual(ranks[0].status(limit_s=8), 1)
            self.assertEqual(ranks[0].of("aborted"), [])

    def test_WorkThatNeverEndsIsTheDeadlines(self):
        with Ranks(2, SMALL, env={"FAKE_NCCL_FAULT": "hang-op:2@1"}) as ranks:
            self.assertFalse(ranks.run())
            failed = ranks.failed[0][1]
            self.assertEqual((failed["code"], failed["phase"]), ("deadline", "all_reduce 8 float out of place"))

    def test_ALibraryThatCrashesIsNamed(self):
        for fault, phase, call in (("crash-init@1", "init", "ncclCommInitRankConfig"),
                                   ("crash-op:2@1", "all_reduce 8 float out of place", None)):
            with self.subTest(fault=fault), Ranks(2, SMALL, env={"FAKE_NCCL_FAULT": fault}) as ranks:
                self.assertFalse(ranks.run())
                failed = ranks[1].one("failed")
                self.assertEqual((failed["code"], failed["phase"]), ("crash", phase))
                self.assertEqual(ranks[1].status(), 1)
                if call:
                    self.assertEqual(failed["text"],
                                     f"wanted {call} to work, found the process ended by signal 11")
                else:
                    self.assertRegex(failed["text"], r"^wanted .* to work, found the process ended by signal 11$")


class Ends(unittest.TestCase):
    """Nothing of ours stays on a node whose controller is gone."""

    def test_TheEndOfInputEndsEveryPhase(self):
        waits_for_id = Ranks(2, SMALL, absent=(0,))
        in_init = Ranks(2, {**SMALL, "init_ms": milliseconds(60)}, absent=(1,))
        running = Ranks(2, LONG)
        with waits_for_id, in_init, running:
            self.assertTrue(waits_for_id.await_all("hello"))
            self.assertTrue(in_init.until_init())
            self.assertTrue(running.until_go())
            self.assertTrue(running.await_all("connected"))
            for rank in (waits_for_id[1], in_init[0], running[0]):
                rank.process.stdin.close()
                since = time.monotonic()
                self.assertEqual(rank.status(), 1)
                speed.assert_within(time.monotonic() - since, 1 + SLACK_S)
                self.assertEqual([event for event in rank.received() if event["event"] in ("failed", "aborted")], [])

    def test_AnAbortIsAnswered(self):
        with Ranks(2, LONG) as ranks:
            self.assertTrue(ranks.until_go() and ranks.await_all("connected"))
            ranks.abort()
            for rank in (0, 1):
                aborted = ranks[rank].one("aborted")
                speed.assert_within(aborted["seconds"], 1)
                self.assertEqual(ranks[rank].received()[-1], aborted)

    def test_TheWholeRunHasADeadline(self):
        with Ranks(2, {**SMALL, "limit_ms": milliseconds(1)}, absent=(0,)) as ranks:
            self.assertEqual(ranks[1].status(), 1)
            failed = ranks[1].one("failed")
            self.assertEqual((failed["code"], failed["phase"], failed["text"]),
                             ("deadline", "wait for id", f"wanted an order, {PROGRESS}"))

    def test_ALogWithoutEndIsCut(self):
        cut = "(more lines follow and are left out)"
        with Ranks(2, {**SMALL, "init_ms": milliseconds(60)}, absent=(1,), env={"FAKE_NCCL_FAULT": "babble"}) as ranks:
            self.assertTrue(ranks.until_init())
            speed.wait_until(lambda: cut in ranks[0].log()[-1:], 30, f"a log that ends with {cut}")
            ranks.abort()
            self.assertEqual(ranks[0].log()[-1], cut)
            self.assertEqual(len(ranks[0].log()), 5001)

    @unittest.skipIf(os.environ.get("SPARK_SANITIZE") == "thread", "ThreadSanitizer's _exit waits for stdout's lock")
    def test_AControllerThatDoesNotReadCannotKeepIt(self):
        """The pipe is full, so that even the message of the failure stays inside."""
        process = None
        with Ranks(2, SMALL, absent=(1,)) as template:
            self.assertTrue(template.await_all("hello"))
            words, env = template[0].process.args, {"FAKE_NCCL_FAULT": "babble"}
            template.abort()
        try:
            process = speed.start(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  env={**os.environ, "LD_LIBRARY_PATH": FAKES, "NCCL_SOCKET_IFNAME": "=lo", **env})
            process.stdin.write(b'{"command":"id","id":"' + b"0" * 256 + b'"}\n')
            process.stdin.flush()
            self.assertEqual(speed.wait(process, 15), 1)
        finally:
            process.kill()
            process.stdin.close()
            process.stdout.close()


if __name__ == "__main__":
    unittest.main()
