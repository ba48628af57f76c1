#!/usr/bin/env python3
"""spark-verify's all_reduce bus bandwidth against nccl-tests', alternating in one run on the same GPUs.

    nccl_bench.py [--gpus N | --ranks-on-one-gpu N] [--sizes BYTES,...] [--rounds N] [--library PATH]
                  [--all-reduce-perf PATH] [--plain PATH]

The rival is `all_reduce_perf` of nccl-tests where it is at hand; it has one process for all GPUs, so for several ranks on
one GPU, and where it is missing, `nccl_plain` stands in, which times as it does with one process per rank. Both sides get
the same sizes, floats, sum, out of place, the same warm-up and iterations. Prints one JSON line.
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

    def __init__(self, gpus, ranks_on_one, library, sizes, fakes=False):
        self.count = ranks_on_one or gpus
        self.gpu = (lambda rank: 0) if ranks_on_one else (lambda rank: rank)
        self.library = library
        self.sizes = sizes
        self.fakes = fakes
        self.loaded = {}  # as spark-verify's ranks say
        # NVLink multicast needs the fabric manager's help, and is no part of what a cluster of Sparks has.
        self.env = {**os.environ, "NCCL_NVLS_ENABLE": "0"}
        if library:
            self.env["LD_LIBRARY_PATH"] = os.path.dirname(library) + ":" + os.environ.get("LD_LIBRARY_PATH", "")
        self.one_gpu = bool(ranks_on_one)

    def rank_env(self, rank):
        return {"NCCL_HOSTID": f"host-{rank}"} if self.one_gpu else {}


def ours(setup):
    options = {"sizes": setup.sizes, "in_place": False, "warm_up": WARM_UP, "iterations": ITERATIONS, "size_ms": 120000}
    if setup.library:
        options["library"] = setup.library
    with Ranks(setup.count, options, env={"NCCL_NVLS_ENABLE": "0"}, fakes=setup.fakes, one_host=not setup.one_gpu,
               rank_options={rank: {"gpu": setup.gpu(rank)} for rank in range(setup.count)}) as ranks:
        if not ranks.run(limit_s=300):
            raise RuntimeError(f"spark-verify failed: {ranks.failed}")
        hello = ranks[0].one("hello")
        setup.loaded = {key: hello[key] for key in ("gpu", "nccl_version", "cuda_driver", "library")}
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


def busbw_out_of_place(text, size):
    """Rows: size count type redop root, then time algbw busbw #wrong out of place and in place."""
    rows = [line.split() for line in text.splitlines() if line.split()[:1] == [str(size)]]
    if not rows or len(rows[-1]) < 13:
        raise RuntimeError(f"wanted a row of {size} bytes from all_reduce_perf, found: {text[-2000:]}")
    return float(rows[-1][7])


def nccl_tests(setup, program):
    found = {}
    for size in setup.sizes:
        text = subprocess.run([program, "-g", str(setup.count), "-b", str(size), "-e", str(size), "-w", str(WARM_UP),
                               "-n", str(ITERATIONS), "-d", "float", "-o", "sum"], env=setup.env, capture_output=True,
                              text=True, check=True, timeout=300).stdout
        found[str(size)] = busbw_out_of_place(text, size)
    return found


def choose_rival(setup, all_reduce_perf, plain_program):
    """Its name, how it is run, and why it is not nccl-tests; None where there is none."""
    if all_reduce_perf and not setup.one_gpu:
        return "all_reduce_perf", lambda: nccl_tests(setup, all_reduce_perf), ""
    if not plain_program:
        return None
    why = "all_reduce_perf has one rank per GPU" if setup.one_gpu else "no all_reduce_perf is at hand"
    return "nccl_plain", lambda: plain(setup, plain_program), f"nccl_plain stood in: {why}"


def compare(setup, rounds, rival):
    """Alternating. The ratio is the median over the rounds of ours divided by the rival's of the same round."""
    name, run_rival, note = rival
    pairs = [(ours(setup), run_rival()) for _ in range(rounds)]
    report = {"ranks": setup.count, "rounds": rounds, "rival": name, **({"note": note} if note else {}), "sizes": {}}
    for size in map(str, setup.sizes):
        ratios = [own[size] / other[size] for own, other in pairs]
        report["sizes"][size] = {"busbw": round(statistics.median(own[size] for own, _ in pairs), 3),
                                 "rival": round(statistics.median(other[size] for _, other in pairs), 3),
                                 "ratio": round(statistics.median(ratios), 4),
                                 "least": round(min(ratios), 4), "most": round(max(ratios), 4)}
    return report


def lines(report):
    """For people."""
    for size, row in report["sizes"].items():
        yield (f"{int(size) / 2**20:g} MiB: {row['busbw']:.2f} against {row['rival']:.2f} GB/s of {report['rival']}, "
               f"ratio {row['ratio']:.4f} ({row['least']:.4f} to {row['most']:.4f} in {report['rounds']} rounds)")
    if "note" in report:
        yield report["note"]


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
    rival = choose_rival(setup, given.all_reduce_perf, given.plain)
    if not rival:
        sys.exit("nccl_bench: wanted all_reduce_perf or nccl_plain to compare with, found neither")
    print(json.dumps(compare(setup, given.rounds, rival)))


if __name__ == "__main__":
    main()
