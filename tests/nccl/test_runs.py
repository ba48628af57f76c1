#!/usr/bin/env python3
"""`spark-verify nccl` where nothing is broken, and what it refuses: real processes, libraries that are fakes."""

import glob
import json
import os
import subprocess
import tempfile
import unittest

from ranks import FAKES, PROGRAM, Ranks, speed

ALL = ["all_reduce", "all_gather", "reduce_scatter", "alltoall", "sendrecv"]
SMALL = {"sizes": [8], "iterations": 2, "warm_up": 1, "in_place": False}
FACTOR = {"all_reduce": lambda n: 2 * (n - 1) / n, "all_gather": lambda n: (n - 1) / n,
          "reduce_scatter": lambda n: (n - 1) / n, "alltoall": lambda n: (n - 1) / n, "sendrecv": lambda n: 1}


class GoodRuns(unittest.TestCase):
    def run_good(self, count, options, **more):
        with Ranks(count, options, **more) as ranks:
            self.assertTrue(ranks.run(), ranks.failed)
            for rank in ranks.ranks.values():
                self.assertEqual(rank.status(), 0)
                self.assertEqual(rank.received()[-1]["event"], "end")
            return ranks

    def test_EveryCollectiveInEveryFormIsRightOnEveryRank(self):
        for count in (2, 3, 4):
            with self.subTest(ranks=count):
                ranks = self.run_good(count, {"sizes": [8, 1000, 300000], "collectives": ALL, "types": ["float", "bfloat16"],
                                              "iterations": 2, "warm_up": 1})
                seen = [(r["collective"], r["bytes"], r["type"], r["in_place"]) for r in ranks[0].of("result")]
                # Five collectives, two types, three sizes; three of the five have an in-place form.
                self.assertEqual(len(set(seen)), 2 * 3 * (5 + 3))
                for rank in ranks.ranks.values():
                    self.assertEqual([r["wrong"] for r in rank.of("result")], [0] * len(seen))
                    self.assertEqual(len(rank.of("result")), len(seen))

    def test_BandwidthIsByNcclsFormulas(self):
        ranks = self.run_good(4, {"sizes": [65536], "collectives": ALL, "iterations": 3, "warm_up": 1})
        for rank in ranks.ranks.values():
            for result in rank.of("result"):
                algbw = result["bytes"] / result["time_us"] / 1e3
                self.assertAlmostEqual(result["algbw"], algbw, places=9)
                self.assertAlmostEqual(result["busbw"], algbw * FACTOR[result["collective"]](4), places=9)
                self.assertEqual(result["iterations"], 3)
                self.assertLessEqual(result["p50_us"], result["p95_us"])

    def test_TimeIsTheGpusOwn(self):
        """The fake's GPU claims 20 GB/s; the host's clock cannot."""
        ranks = self.run_good(2, {"sizes": [1000000], "iterations": 2, "warm_up": 1},
                              env={"FAKE_NCCL_BUSBW": "20", "FAKE_NCCL_LATENCY_US": "0"})
        for result in ranks[1].of("result"):
            self.assertAlmostEqual(result["busbw"], 20, places=2)
            self.assertGreater(result["wall_us"], result["time_us"])

    def test_WhatStartsLateIsNotMeasured(self):
        """The first work after a barrier waits for the other ranks' calls, and no later one does."""
        ranks = self.run_good(2, {"sizes": [100000], "collectives": ["all_reduce", "all_gather"], "iterations": 3,
                                  "warm_up": 2},
                              env={"FAKE_NCCL_BUSBW": "20", "FAKE_NCCL_LATENCY_US": "0", "FAKE_NCCL_START_US": "300"})
        for result in ranks[0].of("result"):
            self.assertAlmostEqual(result["busbw"], 20, places=2)
            self.assertAlmostEqual(result["p95_us"], result["p50_us"], places=0)

    def test_ABudgetMakesAllRanksDoFewer(self):
        ranks = self.run_good(2, {"sizes": [8, 4000000], "iterations": 10000, "warm_up": 50, "budget_ms": 100,
                                  "in_place": False})
        counts = [[r["iterations"] for r in rank.of("result")] for rank in ranks.ranks.values()]
        self.assertEqual(counts[0], counts[1])
        self.assertLess(counts[0][1], 1000)
        self.assertGreaterEqual(counts[0][1], 2)

    def test_WrongElementsAreCountedWhereTheyAreFound(self):
        with Ranks(2, {"sizes": [4096], "collectives": ["all_reduce", "alltoall"], "iterations": 2, "warm_up": 1,
                       "in_place": False}, env={"FAKE_NCCL_FAULT": "wrong-data:2@1"}) as ranks:
            self.assertTrue(ranks.run(), ranks.failed)
            self.assertEqual([r["wrong"] for r in ranks[0].of("result")], [0, 0])
            self.assertEqual([r["wrong"] for r in ranks[1].of("result")], [1, 1])

    def test_HelloReportsWhatWasReallyLoaded(self):
        hello = self.run_good(2, SMALL, env={"FAKE_NCCL_VERSION": "23007", "FAKE_CUDA_DRIVER": "13010"})[1].one("hello")
        self.assertEqual(hello["library"], os.path.realpath(os.path.join(FAKES, "libnccl.so.2")))
        self.assertEqual((hello["nccl_version"], hello["cuda_driver"]), (23007, 13010))
        self.assertEqual((hello["gpu"], hello["compute"], hello["integrated"]), ("NVIDIA GB10", 121, True))
        self.assertEqual((hello["gpu_direct_rdma"], hello["dma_buf"]), (0, 0))

    def test_ALibraryByPathIsTaken(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "libnccl-mine.so")
            os.symlink(os.path.join(FAKES, "libnccl.so.2"), path)
            hello = self.run_good(2, {**SMALL, "library": path})[0].one("hello")
            self.assertEqual(hello["library"], os.path.realpath(path))

    def test_TheRunsOwnRetriesRuleUnlessAnOptionSaysOtherwise(self):
        hello = self.run_good(2, {**SMALL, "env": {"NCCL_IB_RETRY_CNT": "3"}},
                              env={"NCCL_IB_TIMEOUT": "22", "NCCL_IB_HCA": "=a,b"})[0].one("hello")
        self.assertEqual(hello["env"]["NCCL_IB_TIMEOUT"], "17")
        self.assertEqual(hello["env"]["NCCL_IB_RETRY_CNT"], "3")
        self.assertEqual(hello["env"]["NCCL_SOCKET_RETRY_CNT"], "10")
        self.assertEqual(hello["env"]["NCCL_IB_HCA"], "=a,b")

    def test_NcclsLinesAreForwardedInTheFormOfItsVersion(self):
        forms = {"22105": "Bootstrap : Using lo:", "22203": "Bootstrap : Using lo:", "22809": "Bootstrap: Using lo:",
                 "23007": "Bootstrap: Using lo:"}
        for version, form in forms.items():
            ranks = self.run_good(2, SMALL, env={"FAKE_NCCL_VERSION": version, "FAKE_NCCL_HCAS": "rocep1s0f1"})
            log = ranks[1].log()
            self.assertTrue(any(form in line for line in log), log)
            self.assertTrue(any("NET/IB : Using [0]rocep1s0f1:1/RoCE [RO]; OOB lo:127.0.0.1<0>" in line
                                for line in log), log)
            self.assertTrue(any("1[0] -> 0[0] [send] via NET/IB/0" in line for line in log), log)


class Refusals(unittest.TestCase):
    def refused(self, options=None, **more):
        """A single rank 1 that fails before anything is done."""
        with Ranks(2, {"sizes": [8], **(options or {})}, absent=(0,), **more) as ranks:
            ranks[1].status()
            ranks[1].reader.join(5)
            return ranks[1]

    def test_ABusyGpuIsRefusedAndItsUserNamed(self):
        path = {"LD_LIBRARY_PATH": FAKES + ":" + os.path.join(FAKES, "nvml")}
        rank = self.refused(env={**path, "FAKE_NVML_PROCESSES": f"{os.getpid()}:5000000"})
        with open("/proc/self/comm", encoding="utf-8") as comm:
            name = comm.read().strip()
        self.assertEqual(rank.one("hello")["busy"], [{"pid": os.getpid(), "name": name, "bytes": 5000000}])
        self.assertEqual(rank.one("hello")["busy_source"], "nvml")
        failed = rank.one("failed")
        self.assertEqual(failed["code"], "busy")
        self.assertEqual(failed["text"],
                         f"wanted the GPU to itself, found it used by {name} (pid {os.getpid()})")
        self.assertEqual(rank.status(), 1)

    def test_ABusyGpuIsTakenWhereThatIsAllowed(self):
        path = {"LD_LIBRARY_PATH": FAKES + ":" + os.path.join(FAKES, "nvml")}
        with Ranks(2, {**SMALL, "allow_busy": True}, env={**path, "FAKE_NVML_PROCESSES": "1:5000000"}) as ranks:
            self.assertTrue(ranks.run(), ranks.failed)
            self.assertEqual(ranks[0].one("hello")["busy"][0]["pid"], 1)

    def test_RanksOfTheSameRunDoNotMakeTheGpuBusy(self):
        """Ours have the same run among their options, whoever lists them."""
        path = {"LD_LIBRARY_PATH": FAKES + ":" + os.path.join(FAKES, "nvml")}
        sibling = speed.start(["sh", "-c", "read -r word", "sh", json.dumps({"run": f"test-{os.getpid()}"})],
                              stdin=subprocess.PIPE)
        try:
            with Ranks(2, SMALL, env={**path, "FAKE_NVML_PROCESSES": f"{sibling.pid}:0"}) as ranks:
                self.assertTrue(ranks.run(), ranks.failed)
                self.assertEqual(ranks[0].one("hello")["busy"], [])
        finally:
            sibling.communicate(b"\n")

    def test_MoreThanMemoryAllowsIsRefusedWithFigures(self):
        rank = self.refused({"sizes": [1048576]}, env={"FAKE_CUDA_INTEGRATED": "0", "FAKE_CUDA_FREE": "1611661312"})
        self.assertEqual(rank.one("hello")["max_bytes"], 524288)
        failed = rank.one("failed")
        self.assertEqual(failed["code"], "memory")
        self.assertEqual(failed["text"], "wanted room for 1048576 bytes, found 1611661312 bytes of the GPU's memory "
                         "free, enough for 524288")

    def test_UnifiedMemoryIsGuardedByWhatTheHostHasAvailable(self):
        rank = self.refused({"reserve": 1099511627776})
        failed = rank.one("failed")
        self.assertEqual(failed["code"], "memory")
        self.assertRegex(failed["text"], r"^wanted room for 8 bytes, found \d+ bytes of memory available, which with "
                         r"1099511627776 kept free is enough for 0$")

    def test_MemoryThatTheDriverRefusesIsItsError(self):
        failed = self.refused(env={"FAKE_CUDA_FAULT": "no-memory"}).one("failed")
        self.assertEqual((failed["code"], failed["call"], failed["result"]), ("cuda", "cuMemAlloc", 2))
        self.assertEqual(failed["text"], "wanted cuMemAlloc to succeed, found CUDA_ERROR_OUT_OF_MEMORY: out of memory")

    def test_NoGpuIsSaid(self):
        failed = self.refused(env={"FAKE_CUDA_FAULT": "no-device"}).one("failed")
        self.assertEqual(failed["text"],
                         "wanted cuInit to succeed, found CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected")
        failed = self.refused({"gpu": 2}).one("failed")
        self.assertEqual(failed["text"], "wanted GPU 2, found 1 of them")

    def test_NoDriverIsSaid(self):
        with tempfile.TemporaryDirectory() as folder:
            rank = self.refused(env={"LD_LIBRARY_PATH": folder})
        if not rank.of("failed") or rank.one("failed")["code"] != "no-libcuda":
            self.skipTest("this machine has NVIDIA's driver")
        self.assertRegex(rank.one("failed")["text"], "^wanted libcuda.so.1, the loader says: .*cannot open shared")
        self.assertEqual(rank.one("failed")["hint"], "it comes with NVIDIA's driver")

    def test_NoNcclIsSaid(self):
        failed = self.refused({"library": "/nowhere/libnccl.so.2"}).one("failed")
        self.assertEqual(failed["code"], "no-libnccl")
        self.assertEqual(failed["text"], "wanted /nowhere/libnccl.so.2, the loader says: /nowhere/libnccl.so.2: "
                         "cannot open shared object file: No such file or directory")

    def test_ALibraryThatIsTooOldIsSaid(self):
        library = os.path.join(FAKES, "libcuda.so.1")
        failed = self.refused({"library": library}).one("failed")
        self.assertEqual(failed["code"], "old-nccl")
        self.assertEqual(failed["text"],
                         f"wanted NCCL 2.14 or newer, found no version in {library} without ncclGetVersion")

    def test_ALineThatIsNoOrderIsRefused(self):
        with Ranks(2, SMALL, absent=(0,)) as ranks:
            self.assertTrue(ranks.await_all("hello"))
            ranks[1].send({"command": "dance"})
            self.assertEqual(ranks[1].status(), 1)
            self.assertEqual(ranks[1].one("failed")["code"], "protocol")
            self.assertEqual(ranks[1].one("failed")["text"],
                             "wanted an order, found '" + json.dumps({"command": "dance"}) + "'")

    def test_WrongOptionsAreAUsageError(self):
        found = speed.run([PROGRAM, "nccl", '{"rank": 9}'], 60, capture_output=True, text=True, check=False)
        self.assertEqual(found.returncode, 2)
        self.assertEqual(found.stdout, "")
        self.assertTrue(found.stderr.startswith("spark-verify: wanted run, found none\n"), found.stderr)


class RealLibrary(unittest.TestCase):
    """NCCL itself, as far as it goes without a GPU: its loading, its id, the text of its refusal."""

    def test_TheIdHoldsRankZerosAddressAndTheRefusalIsNccls(self):
        found = sorted(glob.glob("/usr/lib/*/libnccl.so.2") + glob.glob("/usr/local/cuda*/lib*/libnccl.so.2"))
        if not found:
            self.skipTest("no libnccl.so.2 is installed here")
        with Ranks(2, {**SMALL, "library": found[0]}, absent=(1,)) as ranks:
            self.assertTrue(ranks.until_init(), ranks.failed)
            self.assertFalse(ranks.await_all("init-done"))
            self.assertEqual(ranks[0].status(), 1)
            self.assertEqual(ranks[0].one("hello")["library"], os.path.realpath(found[0]))
            unique_id = bytes.fromhex(ranks[0].one("unique-id")["id"])
            self.assertEqual(unique_id[8:10], b"\x02\x00")
            self.assertEqual(unique_id[12:16], bytes([127, 0, 0, 1]))
            failed = ranks[0].one("failed")
            self.assertEqual((failed["code"], failed["call"]), ("nccl", "ncclCommInitRankConfig"))
            self.assertTrue(failed["text"].startswith("wanted NCCL's communicator of 2 ranks, found "
                                                      "ncclUnhandledCudaError: Cuda failure"), failed["text"])
            self.assertTrue(any("Bootstrap" in line and "Using lo:127.0.0.1" in line for line in ranks[0].log()))


if __name__ == "__main__":
    unittest.main()
