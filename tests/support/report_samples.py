"""Reports of `verify` as values, with figures that were published of Sparks: nothing here was measured."""

import itertools

FORMAT = "spark-reconcile/report/1"
GIB = 1 << 30


def check(level, what, source, target=None, rail=None, outcome="pass", **more):
    one = {"level": level, "what": what, "from": source}
    if target:
        one["to"] = target
    if rail is not None:
        one["rail"] = f"rail{rail}"
    return {**one, "outcome": outcome, **more}


def write(what, source, target, rail, gbps, roofline, outcome="pass", latency_us=None):
    measured = f"{gbps:.1f} Gb/s" + (f", {latency_us:.1f} µs" if latency_us else "")
    more = {"latency_us": latency_us} if latency_us else {}
    return check("rdma", what, source, target, rail, outcome, measured=measured, gbps=gbps, roofline_gbps=roofline,
                 expected=f"at least {0.94 * roofline:.1f} Gb/s of {roofline:.1f} Gb/s", **more)


def checks_of(nodes, slow=()):
    """All levels up to rdma over two rails; a node of `slow` is degraded."""
    checks = [check("facts", what, node, rail=rail) for node in nodes for rail in (0, 1)
              for what in ("port", "link", "carrier", "address", "mtu", "speed")]
    pairs = list(itertools.permutations(nodes, 2))
    checks += [check("ping", "jumbo-ping", *pair, rail) for pair in pairs for rail in (0, 1)]
    checks += [check("ssh", "ssh", *pair, rail) for pair in pairs for rail in (0, 1)]
    for pair in pairs:
        bad = set(pair) & set(slow)
        for rail in (0, 1):
            spread = (len(pair[0]) * 7 + len(pair[1]) * 3 + rail + pairs.index(pair)) % 5
            checks.append(write("write-alone", *pair, rail, 13.2 if bad else 106.0 + spread, 111.8,
                                "fail" if bad else "pass", 1.7 + spread / 10))
            checks.append(write("write-together", *pair, rail, 9.1 if bad else 93.0 + spread, 98.05,
                                "fail" if bad else "pass"))
    return checks


def test_of(collective, size, busbw, in_place=False):
    time_us = size / busbw / 1e3
    return {"collective": collective, "bytes": size, "type": "float", "in_place": in_place, "iterations": 20,
            "time_us": time_us, "p50_us": time_us, "p95_us": time_us * 1.2, "algbw": busbw, "busbw": busbw, "wrong": 0}


def nccl_of(nodes, best=21.8):
    sizes = [1 << power for power in range(10, 31, 2)]
    tests = [test_of(collective, size, best * share / (1 + (1 << 22) / size), in_place)
             for collective, share in (("all_reduce", 1.0), ("all_gather", 0.93), ("reduce_scatter", 0.9))
             for size in sizes for in_place in (False, True)]
    ranks = [{"node": node, "version": "2.28.9+cuda13.0", "library": "/usr/lib/aarch64-linux-gnu/libnccl.so.2",
              "gpu": "NVIDIA GB10", "path": "rdma", "counted": True,
              "rails": [{"hca": hca, "rail": rail, "sent": 1e9, "received": 1e9}
                        for hca, rail in (("rocep1s0f1", "rail0"), ("roceP2p1s0f1", "rail1"))]} for node in nodes]
    return {"root": "192.168.1.21:43321", "seconds": 14.2, "roofline": {"ring": 24.5, "most": 27.9}, "ranks": ranks,
            "tests": tests, "pairs": []}


def device(name, number):
    ports = [{"cage": "p1", "rail": f"rail{rail}", "address": f"192.168.{177 + rail}.{number}/24", "netdev": netdev}
             for rail, netdev in ((0, "enp1s0f1np1"), (1, "enP2p1s0f1np1"))]
    return {"name": name, "model": "", "switch": False, "level": 0, "ports": ports}


def switch(name, level, model=""):
    return {"name": name, "model": model, "switch": True, "level": level, "ports": []}


def cable(source, source_port, target, target_port, gbps=200):
    return {"from": source, "from_port": source_port, "to": target, "to_port": target_port, "gbps": gbps}


def pair_fabric(nodes):
    return {"title": "homelab · one cable p1–p1", "devices": [device(node, i + 1) for i, node in enumerate(nodes)],
            "cables": [cable(0, "p1", 1, "p1")]}


def leaf_spine_fabric(nodes):
    """Two leaves with half of the nodes each, and one spine."""
    count = len(nodes)
    devices = [device(node, i + 1) for i, node in enumerate(nodes)]
    devices += [switch("leaf-1", 1, "NVIDIA SN3700"), switch("leaf-2", 1, "NVIDIA SN3700"), switch("spine-1", 2)]
    cables = [cable(i, "p1", count + (i >= count // 2), f"port-{i % (count // 2) + 1}") for i in range(count)]
    cables += [cable(count + leaf, f"port-{20 + up}", count + 2, f"swp{2 * leaf + up + 1}", 400)
               for leaf in (0, 1) for up in (0, 1)]
    return {"title": f"homelab · {count} nodes on 3 switches", "devices": devices, "cables": cables}


def facts_of(nodes, kernel="6.11.0-1016-nvidia"):
    return {node: {"NVIDIA driver": "580.95.05", "firmware of rocep1s0f1": "28.45.4028", "kernel": kernel,
                   "libnccl": "2.28.9", "mtu of enp1s0f1np1": "9000", "operating system": "Ubuntu 24.04.3 LTS",
                   "product": "NVIDIA_DGX_Spark", "rate of enp1s0f1np1": "200 Gb/s"} for node in nodes}


def finding(code, nodes, outcome="fail", **more):
    return {"code": code, "outcome": outcome, "level": "rdma", "nodes": nodes, "rails": ["rail0", "rail1"],
            "expected": "at least 105.1 Gb/s of 111.8 Gb/s", "measured": "13.2 Gb/s", "evidence": [],
            "cause": "the ConnectX is degraded: it carries the same little in both directions",
            "next_step": "shut it down, take its power away for a minute, and start it again", "explains": 1, **more}


def make(nodes, fabric, level="nccl", findings=(), slow=(), began="2026-11-24T03:12:05Z"):
    checks = checks_of(nodes, slow)
    outcomes = ("pass", "warn", "fail", "could-not-measure", "skipped")
    summary = {outcome: sum(one["outcome"] == outcome for one in checks) for outcome in outcomes}
    report = {"format": FORMAT, "program": "0.1.0", "time": "2026-11-24T03:12:37Z",
              "cluster": "homelab", "level": level, "exit_code": 6 if summary["fail"] else 0,
              "summary": summary, "unreachable": [], "findings": list(findings), "checks": checks,
              "run": {"began": began, "seconds": 31.4, "program": "0.1.0"}, "facts": facts_of(nodes), "fabric": fabric}
    if level == "nccl":
        report["nccl"] = nccl_of(nodes)
    return report


def healthy_pair(**more):
    nodes = ["spark-1", "spark-2"]
    return make(nodes, pair_fabric(nodes), **more)


def degraded_eight():
    """Eight nodes with long names, one of which is slow."""
    nodes = [f"spark-in-the-basement-rack-{i}.fabric.example.org" for i in range(1, 9)]
    findings = [finding("hca-degraded", nodes[2:3], evidence=[
                    "rocep1s0f1: 13.2 Gb/s to " + nodes[0], "x" * 180, "<script>alert(1)</script>"], explains=28),
                finding("congestion", nodes[:2], "warn", rails=["rail0"]),
                finding("rail-unproven", nodes[4:5], "could-not-measure")]
    return {**make(nodes, leaf_spine_fabric(nodes), "rdma", findings, slow=nodes[2:3]),
            "not_measured": {"level": "nccl", "why": "no usable NVIDIA driver on " + nodes[7]}}


def earlier_eight():
    """The same eight a day before: none is degraded, but other writes are slower, and another finding is there."""
    before = {**degraded_eight(), "run": {"began": "2026-11-23T03:12:05Z", "seconds": 29.8, "program": "0.1.0"}}
    nodes = [device["name"] for device in before["fabric"]["devices"] if not device["switch"]]
    findings = [finding("path-mtu", nodes[5:7], evidence=["ping: local error: message too long, mtu=1500"]), before["findings"][1]]
    checks = checks_of(nodes) + [check("ping", "path", nodes[0], rail=0)]
    for number, one in enumerate(checks):
        if one["what"] == "write-together" and number % 5 == 0:
            one["gbps"] *= 0.8
    return {**before, "findings": findings, "checks": checks, "facts": facts_of(nodes, "6.11.0-1014-nvidia")}
