#!/usr/bin/env python3
"""The comparison with nccl-tests: which rival is taken, which column is read, how the sides alternate."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "bench"))
import nccl_bench  # noqa: E402

# As all_reduce_perf of nccl-tests 2.17 prints it.
TABLE = """\
# nThread 1 nGpus 2 minBytes 268435456 maxBytes 268435456 step: 1048576(bytes) warmup iters: 5 iters: 20 agg iters: 1
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
   268435456      67108864     float     sum      -1   897.85  298.98  298.97      0   899.10  298.56  297.56      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 298.77
"""


class Bench(unittest.TestCase):
    def test_TheColumnIsBusBandwidthOutOfPlace(self):
        self.assertEqual(nccl_bench.busbw_out_of_place(TABLE, 268435456), 298.97)

    def test_ATableWithoutTheSizeIsAnError(self):
        with self.assertRaisesRegex(RuntimeError, "^wanted a row of 8 bytes from all_reduce_perf, found: # nThread"):
            nccl_bench.busbw_out_of_place(TABLE, 8)

    def test_NcclTestsAreTakenWhereTheyAreAtHandAndOneRankHasAGpu(self):
        two_gpus, one_gpu = nccl_bench.Setup(2, 0, "", [8]), nccl_bench.Setup(1, 2, "", [8])
        name, _, note = nccl_bench.choose_rival(two_gpus, "/opt/all_reduce_perf", "/opt/nccl_plain")
        self.assertEqual((name, note), ("all_reduce_perf", ""))
        name, _, note = nccl_bench.choose_rival(two_gpus, "", "/opt/nccl_plain")
        self.assertEqual((name, note), ("nccl_plain", "nccl_plain stood in: no all_reduce_perf is at hand"))
        name, _, note = nccl_bench.choose_rival(one_gpu, "/opt/all_reduce_perf", "/opt/nccl_plain")
        self.assertEqual((name, note), ("nccl_plain", "nccl_plain stood in: all_reduce_perf has one rank per GPU"))
        self.assertIsNone(nccl_bench.choose_rival(two_gpus, "", ""))

    def test_SidesAlternateAndTheRatioIsTheMedianOfRounds(self):
        order, setup = [], nccl_bench.Setup(2, 0, "", [8], fakes=True)
        own, others = iter([90.0, 99.0, 50.0]), iter([100.0, 100.0, 100.0])

        def mine(_):
            order.append("own")
            return {"8": next(own)}

        def rival():
            order.append("rival")
            return {"8": next(others)}
        original, nccl_bench.ours = nccl_bench.ours, mine
        try:
            report = nccl_bench.compare(setup, 3, ("all_reduce_perf", rival, ""))
        finally:
            nccl_bench.ours = original
        self.assertEqual(order, ["own", "rival"] * 3)
        self.assertEqual(report["sizes"]["8"], {"busbw": 90.0, "rival": 100.0, "ratio": 0.9, "least": 0.5, "most": 0.99})

    def test_OurSideRunsAllSizes(self):
        setup = nccl_bench.Setup(1, 2, "", [8, 65536], fakes=True)
        found = nccl_bench.ours(setup)
        self.assertEqual(set(found), {"8", "65536"})
        self.assertEqual(setup.loaded["gpu"], "NVIDIA GB10")


if __name__ == "__main__":
    unittest.main()
