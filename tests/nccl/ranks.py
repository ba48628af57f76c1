"""Runs ranks of `spark-verify nccl` on this machine, as the controller does over SSH: collects what each says, hands
rank 0's id to all, and orders all to abort when one fails."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# tests/gpu/prepare puts these two beside this file.
sys.path.append(os.path.join(HERE, "..", "support"))

import children  # noqa: E402
import speed  # noqa: E402

children.die_with_runner()
BUILD = os.environ.get("SPARK_BINARY_DIR", os.path.join(HERE, "..", "..", "build"))
# tests/gpu/prepare puts the program beside this file.
BESIDE = os.path.join(HERE, "spark-verify")
PROGRAM = os.environ.get("SPARK_VERIFY", BESIDE if os.path.exists(BESIDE) else os.path.join(BUILD, "spark-verify"))
FAKES = os.path.join(BUILD, "fakes")

LAST = ("end", "failed", "aborted")


class Rank:
    """One process. Its events, each with the second at which it was read."""

    def __init__(self, rank, options, env, heard):
        self.rank = rank
        self.events = []
        self.heard = heard
        self.process = speed.start([PROGRAM, "nccl", json.dumps(options)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=env, text=True, bufsize=1)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            event = json.loads(line)
            event["at"] = time.monotonic()
            self.events.append(event)
            self.heard.put((self.rank, event))
        self.heard.put((self.rank, {"event": "gone", "at": time.monotonic()}))

    def send(self, order):
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended; its last event says why

    def of(self, name):
        return [event for event in self.events if event["event"] == name]

    def one(self, name):
        found = self.of(name)
        assert len(found) == 1, f"rank {self.rank}: {len(found)} times {name}: {self.received()}"
        return found[0]

    def log(self):
        return [event["text"] for event in self.of("log")]

    def received(self):
        return [event for event in self.events if event["event"] != "log"]

    def signal(self, number):
        os.kill(self.process.pid, number)

    def status(self, limit_s=20):
        status = speed.wait(self.process, limit_s)
        self.reader.join(timeout=speed.scaled(5))
        return status


class Ranks:
    """A run of `count` ranks. env and options may be given per rank as {rank: …} beside those for all. fakes: with the
    libraries of FAKES, else with the machine's own. one_host: as NCCL sees it; each rank is a node otherwise."""

    def __init__(self, count, options=None, env=None, rank_options=None, rank_env=None, absent=(), fakes=True,
                 one_host=False):
        self.heard = queue.Queue()
        self.failed = []  # (rank, event) in the order in which they were heard
        self.began = time.monotonic()
        self.ranks = {}
        self.backlog = {}
        for rank in range(count):
            if rank in absent:
                continue
            own = dict(os.environ)
            if fakes:
                own["LD_LIBRARY_PATH"] = FAKES
                own["FAKE_GPU_CONF"] = "/dev/null"
                own["NCCL_SOCKET_IFNAME"] = "=lo"
            if not one_host:
                own["NCCL_HOSTID"] = f"host-{rank}"
            own.update(env or {})
            own.update((rank_env or {}).get(rank, {}))
            its_own = {"run": f"test-{os.getpid()}", "rank": rank, "ranks": count, **(options or {}),
                       **(rank_options or {}).get(rank, {})}
            self.ranks[rank] = Rank(rank, its_own, own, self.heard)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for rank in self.ranks.values():
            if rank.process.poll() is None:
                rank.process.kill()
            rank.process.wait()
            rank.reader.join(timeout=speed.scaled(5))
            for stream in (rank.process.stdin, rank.process.stdout, rank.process.stderr):
                try:
                    stream.close()
                except OSError:
                    pass

    def __getitem__(self, rank):
        return self.ranks[rank]

    def send_all(self, order):
        for rank in self.ranks.values():
            rank.send(order)

    def await_all(self, name, limit_s=30):
        """True once every rank has said it; False as soon as one fails or is gone."""
        heard = self.hear_all(name, speed.scaled(limit_s))
        if heard is None:
            raise speed.GaveUp(f"wanted '{name}' from every rank; {speed.gave_up(limit_s)}, found "
                               f"{ {rank: one.received()[-1:] for rank, one in self.ranks.items()} }")
        return heard

    def hear_all(self, name, seconds):
        """As await_all, but no limit: None when the seconds are over."""
        end = time.monotonic() + seconds
        missing = {rank for rank in self.ranks if rank not in self.backlog.get(name, set())}
        while missing:
            try:
                rank, event = self.heard.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                return None
            kind = event["event"]
            self.backlog.setdefault(kind, set()).add(rank)
            if kind == name:
                missing.discard(rank)
            if kind == "failed":
                self.failed.append((rank, event))
                return False
            if kind == "gone" and name != "gone" and not any(
                    last in self.backlog and rank in self.backlog[last] for last in LAST):
                self.failed.append((rank, event))
                return False
        return True

    def until_init(self, change_id=None):
        """To the id in everyone's hands."""
        if not self.await_all("hello", 120):
            return False
        end = time.monotonic() + speed.scaled(30)
        while 0 in self.ranks and not self[0].of("unique-id") and not self.failed and time.monotonic() < end:
            self.hear_all("unique-id", 0.05)
        if self.failed or not self[0].of("unique-id"):
            return False
        unique_id = self[0].one("unique-id")["id"]
        self.send_all({"command": "id", "id": change_id(unique_id) if change_id else unique_id})
        return True

    def until_go(self, change_id=None):
        if not self.until_init(change_id) or not self.await_all("init-done", 120):
            return False
        self.send_all({"command": "go"})
        return True

    def run(self, limit_s=60):
        """The whole run. True: every rank said end. Otherwise all are ordered to abort, and `failed` begins with the
        first that failed."""
        good = self.until_go() and self.await_all("end", limit_s)
        if not good:
            self.abort()
        return good

    def abort(self):
        self.send_all({"command": "abort"})
        for rank in self.ranks.values():
            try:
                rank.status(limit_s=6)
            except speed.GaveUp:
                rank.signal(signal.SIGKILL)  # a stopped one hears nothing
        return self
