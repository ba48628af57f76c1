#!/usr/bin/env python3
"""What happens when a rank, a library or the controller fails: each ends within its deadline and says why. The rows are
those that were measured with NCCL itself; the fakes behave as it did."""

import signal
import time
import unittest

from ranks import Ranks, speed



def milliseconds(seconds):
    """A deadline for the program: what it is to do in time takes longer on a slow machine."""
    return round(1000 * speed.scaled(seconds))


# A phase's deadline, and what may pass after it until the message is there, on a machine that is busy with other things;
# seconds on the reference machine.
LIMIT_S = 1.0
SLACK_S = 0.9
SMALL = {"sizes": [8], "iterations": 2, "warm_up": 1, "init_ms": milliseconds(LIMIT_S),
         "connect_ms": milliseconds(LIMIT_S), "size_ms": milliseconds(LIMIT_S)}
# Many short tests, each with a deadline of its own.
LONG = {"sizes": [65536] * 5000, "iterations": 10, "warm_up": 1, "in_place": False}
PROGRESS = "found it still in progress when its time was over"


class Faults(unittest.TestCase):
    def failure(self, ranks, rank, code, phase, text):
        failed = ranks[rank].one("failed")
        self.assertEqual((failed["code"], failed["phase"], failed["text"]), (code, phase, text))
        self.assertEqual(ranks[rank].status(), 1)
        return failed

    def after_deadline(self, event, since):
        took = event["at"] - since
        self.assertGreater(took, speed.scaled(LIMIT_S) * 0.8)
        speed.assert_within(took, LIMIT_S + SLACK_S)

    def fails(self, ranks):
        self.assertFalse(ranks.run())
        return ranks

    def test_APeerThatNeverStarted(self):
        with Ranks(2, SMALL, absent=(1,)) as ranks:
            self.assertTrue(ranks.until_init())
            since = time.monotonic()
            self.assertFalse(ranks.await_all("init-done"))
            failed = self.failure(ranks, 0, "deadline", "init", f"wanted NCCL's communicator of 2 ranks, {PROGRESS}")
            self.assertEqual(failed["call"], "ncclCommInitRankConfig")
            self.after_deadline(failed, since)

    def test_APeerWithoutItsInterface(self):
        """Only that rank knows; the other would wait for ever and is ordered to abort."""
        with Ranks(3, SMALL, rank_env={2: {"NCCL_SOCKET_IFNAME": "enP7s7"}}) as ranks:
            self.fails(ranks)
            failed = self.failure(ranks, 2, "nccl", "init", "wanted NCCL's communicator of 3 ranks, found "
                                  "ncclInvalidUsage: Bootstrap : no socket interface found")
            self.assertEqual((failed["async"], failed["last_error"]), (5, "Bootstrap : no socket interface found"))
            self.assertEqual(ranks.failed[0][0], 2)
            for rank in (0, 1):
                self.assertEqual(ranks[rank].received()[-1]["event"], "aborted")
                self.assertEqual(ranks[rank].status(), 1)

    def test_RankZeroWithoutItsInterface(self):
        with Ranks(2, SMALL, rank_env={0: {"NCCL_SOCKET_IFNAME": "enP7s7"}}) as ranks:
            self.fails(ranks)
            failed = self.failure(ranks, 0, "nccl", "start", "wanted NCCL's unique id, found ncclInvalidUsage: "
                                  "Bootstrap : no socket interface found")
            self.assertEqual((failed["call"], failed["result"]), ("ncclGetUniqueId", 5))

    def test_AWrongAlgorithmOnOneRank(self):
        with Ranks(2, SMALL, rank_env={1: {"NCCL_ALGO": "auto"}}) as ranks:
            self.fails(ranks)
            self.failure(ranks, 1, "nccl", "init", "wanted NCCL's communicator of 2 ranks, found ncclInvalidUsage: "
                         "Unrecognized element token \"auto\" when parsing \"auto\"")
            self.assertEqual(ranks[0].received()[-1]["event"], "aborted")

    def test_ARootThatRefuses(self):
        """Its port is another one than the id says: no one listens there."""
        with Ranks(2, SMALL) as ranks:
            self.assertTrue(ranks.until_init(lambda unique_id: unique_id[:20] + "0001" + unique_id[24:]))
            self.assertFalse(ranks.await_all("init-done"))
            ranks.abort()
            rank, failed = ranks.failed[0]
            self.assertEqual((failed["code"], failed["phase"]), ("deadline", "init"))
            self.assertEqual(failed["text"], f"wanted NCCL's communicator of 2 ranks, {PROGRESS}")
            self.assertTrue(any("socketPollConnect: connect to 127.0.0.1<1> returned Connection refused, retrying (1/10)"
                                in line for line in ranks[rank].log()), ranks[rank].log())

    def test_RootRefusesUntilNcclGivesUp(self):
        with Ranks(2, {**SMALL, "init_ms": 20000, "env": {"NCCL_SOCKET_RETRY_CNT": "1"}}) as ranks:
            self.assertTrue(ranks.until_init(lambda unique_id: unique_id[:20] + "0001" + unique_id[24:]))
            self.assertFalse(ranks.await_all("init-done"))
            ranks.abort()
            failed = ranks.failed[0][1]
            self.assertEqual((failed["code"], failed["async"]), ("nccl", 6))
            self.assertEqual(failed["text"], "wanted NCCL's communicator of 2 ranks, found ncclRemoteError: "
                             "socketPollConnect: connect to 127.0.0.1<1> returned Connection refused, exceeded error "
                             "retry count after 1 attempts")

    def test_ProtocolsThatDiffer(self):
        """NCCL says nothing; both wait."""
        with Ranks(2, SMALL, rank_env={1: {"NCCL_PROTO": "LL"}}) as ranks:
            self.assertTrue(ranks.until_go())
            since = time.monotonic()
            self.assertFalse(ranks.await_all("connected"))
            ranks.abort()
            rank, failed = ranks.failed[0]
            self.failure(ranks, rank, "deadline", "connect", f"wanted a first all_reduce of 4 bytes, {PROGRESS}")
            self.after_deadline(failed, since)

    def running(self, ranks):
        self.assertTrue(ranks.until_go())
        self.assertTrue(ranks.await_all("connected"))
        time.sleep(0.2)

    def test_APeerThatIsKilled(self):
        with Ranks(3, LONG) as ranks:
            self.running(ranks)
            ranks[1].signal(signal.SIGKILL)
            since = time.monotonic()
            ranks[0].status()
            failed = self.failure(ranks, 0, "async", "all_reduce 65536 float out of place",
                                  "wanted all_reduce of 65536 bytes, found ncclRemoteError: socketProgress: "
                                  "Connection closed by remote peer")
            self.assertEqual(failed["async"], 6)
            self.assertLess(failed["at"] - since, SLACK_S)
            self.assertEqual(ranks[1].process.wait(), -signal.SIGKILL)

    def test_APeerThatIsStopped(self):
        """NCCL's state stays success; only the deadline shows it."""
        with Ranks(2, {**LONG, "size_ms": milliseconds(LIMIT_S)}) as ranks:
            self.running(ranks)
            ranks[1].signal(signal.SIGSTOP)
            since = time.monotonic()
            self.assertFalse(ranks.await_all("end"))
            ranks[0].status()
            failed = self.failure(ranks, 0, "deadline", "all_reduce 65536 float out of place",
                                  f"wanted all_reduce of 65536 bytes, {PROGRESS}")
            self.assertEqual(failed["async"], 0)
            self.after_deadline(failed, since)
            self.assertEqual(ranks[1].of("failed"), [])

    def test_AStoppedPeerThatGoesOnEndsWithItsInput(self):
        with Ranks(2, LONG) as ranks:
            self.running(ranks)
            ranks[1].signal(signal.SIGSTOP)
            ranks[1].process.stdin.close()
            ranks[1].signal(signal.SIGCONT)
            self.assertEqual(ranks[1].status(), 1)

    def test_RdmaPromisedButNotThere(self):
        with Ranks(2, SMALL, env={"NCCL_NET": "IB"}) as ranks:
            self.fails(ranks)
            rank, _ = ranks.failed[0]
            self.failure(ranks, rank, "nccl", "init", "wanted NCCL's communicator of 2 ranks, found ncclInvalidUsage: "
                         "Failed to initialize any NET plugin")

    def test_TwoNodesOfOneName(self):
        with Ranks(2, SMALL, env={"NCCL_HOSTID": "spark"}, rank_env={0: {"NCCL_HOSTID": "spark"},
                                                                     1: {"NCCL_HOSTID": "spark"}}) as ranks:
            self.fails(ranks)
            rank, _ = ranks.failed[0]
            self.failure(ranks, rank, "nccl", "init", "wanted NCCL's communicator of 2 ranks, found ncclInvalidUsage: "
                         "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 000F:01:00.0")

    def test_VersionsThatDiffer(self):
        with Ranks(2, SMALL, rank_env={1: {"FAKE_NCCL_VERSION": "23007"}}) as ranks:
            self.fails(ranks)
            self.assertEqual([ranks[r].one("hello")["nccl_version"] for r in (0, 1)], [22809, 23007])
            failed = ranks.failed[0][1]
            self.assertEqual(failed["code"], "nccl")
            self.assertIn("found ncclInvalidUsage: Mismatched NCCL version detected : rank", failed["text"])

    def test_AnErrorOfTheFabricBringsNcclsWords(self):
        with Ranks(2, SMALL, env={"FAKE_NCCL_FAULT": "error-op:3@1"}) as ranks:
            self.fails(ranks)
            failed = ranks[1].one("failed")
            self.assertEqual((failed["code"], failed["phase"], failed["async"]),
                             ("async", "all_reduce 8 float out of place", 2))
            self.assertTrue(failed["text"].startswith("wanted all_reduce of 8 bytes, found ncclSystemError: NET/IB: Got "
                                                      "completion from peer 10.0.0.2<4791> with status="
                                                      "IBV_WC_RETRY_EXC_ERR(12)"), failed["text"])
            self.assertEqual(ranks.failed[0][0], 1)


if __name__ == "__main__":
    unittest.main()
