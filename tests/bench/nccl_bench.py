#!/usr/bin/env python3
"""spark-verify's all_reduce bus bandwidth against nccl-tests', alternating in one run on the same GPUs.

    nccl_bench.py [--gpus N | --ranks-on-one-gpu N] [--sizes BYTES,...] [--rounds N] [--library PATH]
                  [--all-reduce-perf PATH] [--plain PATH]

The other side is `all_reduce_perf` of nccl-tests where it is at hand (one process for all GPUs, so not for several ranks
on one GPU), and `nccl_plain` beside it, which times as nccl-tests does with one process per rank. Prints one JSON line.
Not a test: the machine decides the figures, only the ratios mean something.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "nccl")]
from ranks import BUILD, Ranks  # noqa: E402

WARM_UP, ITERATIONS = 5, 20


class Setup:
    """Which ranks on which GPUs, and what all programs are given alike."""

    def __init__(self, gpus, ranks_on_one, library, sizes):
        self.count = ranks_on_one or gpus
        self.gpu = (lambda rank: 0) if ranks_on_one else (lambda rank: rank)
        self.library = library
        self.sizes = sizes
        # Multicast can put a host's GPUs out of service where others share them.
        self.env = {**os.environ, "NCCL_NVLS_ENABLE": "0"}
        if library:
            self.env["LD_LIBRARY_PATH"] = os.path.dirname(library) + ":" + os.environ.get("LD_LIBRARY_PATH", "")
        self.one_gpu = bool(ranks_on_one)

    def rank_env(self, rank):
        return {"NCCL_HOSTID": f"host-{rank}"} if self.one_gpu else {}


def ours(setup):
    words = ["--sizes", ",".join(map(str, setup.sizes)), "--placement", "out", "--warm-up", str(WARM_UP),
             "--iterations", str(ITERATIONS), "--size-deadline", "120000"]
    if setup.library:
        words += ["--library", setup.library]
    with Ranks(setup.count, words, env={"NCCL_NVLS_ENABLE": "0"}, fakes=False, one_host=not setup.one_gpu,
               rank_words={rank: ["--gpu", str(setup.gpu(rank))] for rank in range(setup.count)}) as ranks:
        if not ranks.run(timeout=300):
            raise RuntimeError(f"spark-verify failed: {ranks.failed}")
        of_rank = [rank.of("result") for rank in ranks.ranks.values()]
        assert all(result["wrong"] == 0 for results in of_rank for result in results)
        return {str(size): statistics.mean(results[i]["busbw"] for results in of_rank)
                for i, size in enumerate(setup.sizes)}


def plain(setup, program):
    with tempfile.TemporaryDirectory() as folder:
        common = [os.path.join(folder, "id"), str(WARM_UP), str(ITERATIONS), *map(str, setup.sizes)]
        processes = [subprocess.Popen([program, str(rank), str(setup.count), str(setup.gpu(rank)), *common],
                                      env={**setup.env, **setup.rank_env(rank)}, stdout=subprocess.PIPE, text=True)
                     for rank in range(setup.count)]
        try:
            outputs = [process.communicate(timeout=300)[0] for process in processes]
        finally:
            for process in processes:
                process.kill()
    rows = [json.loads(line) for line in outputs[0].splitlines() if line.startswith("{")]
    return {str(row["bytes"]): row["busbw"] for row in rows}


def nccl_tests(setup, program):
    """Rows: size count type redop root, then time algbw busbw #wrong out of place and in place."""
    found = {}
    for size in setup.sizes:
        text = subprocess.run([program, "-g", str(setup.count), "-b", str(size), "-e", str(size), "-w", str(WARM_UP),
                               "-n", str(ITERATIONS)], env=setup.env, capture_output=True, text=True, check=True,
                              timeout=300).stdout
        row = [line.split() for line in text.splitlines() if line.split()[:1] == [str(size)]][-1]
        found[str(size)] = float(row[7])
    return found


def others(setup, all_reduce_perf, plain_program):
    sides = {}
    if all_reduce_perf and not setup.one_gpu:
        sides["all_reduce_perf"] = lambda: nccl_tests(setup, all_reduce_perf)
    if plain_program:
        sides["nccl_plain"] = lambda: plain(setup, plain_program)
    return sides


def compare(setup, rounds, sides):
    """Medians, and ours divided by each other side's of the same round."""
    figures = {"spark-verify": [], **{name: [] for name in sides}}
    for _ in range(rounds):
        figures["spark-verify"].append(ours(setup))
        for name, side in sides.items():
            figures[name].append(side())
    report = {"ranks": setup.count, "one_gpu": setup.one_gpu, "rounds": figures, "busbw": {}, "ratio": {}}
    for size in map(str, setup.sizes):
        report["busbw"][size] = {name: statistics.median(one[size] for one in all_rounds)
                                 for name, all_rounds in figures.items()}
        report["ratio"][size] = {
            name: statistics.median(own[size] / other[size]
                                    for own, other in zip(figures["spark-verify"], figures[name]))
            for name in sides}
    return report


def find_plain():
    """Beside this file, where tests/gpu/prepare puts it, or as it was built."""
    places = [os.path.join(HERE, "nccl_plain"), os.path.join(BUILD, "tests", "bench", "nccl_plain")]
    return next((place for place in places if os.path.exists(place)), "")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--gpus", type=int, default=2)
    options.add_argument("--ranks-on-one-gpu", type=int, default=0)
    options.add_argument("--sizes", default="268435456,1073741824")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--library", default="")
    options.add_argument("--all-reduce-perf", default=shutil.which("all_reduce_perf") or "")
    options.add_argument("--plain", default=find_plain())
    given = options.parse_args()
    setup = Setup(given.gpus, given.ranks_on_one_gpu, given.library, [int(size) for size in given.sizes.split(",")])
    sides = others(setup, given.all_reduce_perf, given.plain)
    if not sides:
        sys.exit("nccl_bench: wanted all_reduce_perf or nccl_plain to compare with, found neither")
    print(json.dumps(compare(setup, given.rounds, sides)))


if __name__ == "__main__":
    main()
