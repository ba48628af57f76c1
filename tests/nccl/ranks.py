"""Runs ranks of `spark-verify nccl` on this machine, as the controller does over SSH: collects what each says, hands
rank 0's id to all, and tells all to abort when one fails."""

import json
import os
import queue
import signal
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("SPARK_BINARY_DIR", os.path.join(HERE, "..", "..", "build"))
# tests/gpu/prepare puts the program beside this file.
BESIDE = os.path.join(HERE, "spark-verify")
PROGRAM = os.environ.get("SPARK_VERIFY", BESIDE if os.path.exists(BESIDE) else os.path.join(BUILD, "spark-verify"))
FAKES = os.path.join(BUILD, "fakes")

LAST = ("end", "failed", "aborted")


class Rank:
    """One process. Its events, each with the second at which it was read."""

    def __init__(self, rank, words, env, heard):
        self.rank = rank
        self.events = []
        self.heard = heard
        self.process = subprocess.Popen([PROGRAM, "nccl", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
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

    def tell(self, order):
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended; its last event says why

    def of(self, name):
        return [event for event in self.events if event["event"] == name]

    def one(self, name):
        found = self.of(name)
        assert len(found) == 1, f"rank {self.rank}: {len(found)} times {name}: {self.told()}"
        return found[0]

    def log(self):
        return [event["text"] for event in self.of("log")]

    def told(self):
        return [event for event in self.events if event["event"] != "log"]

    def signal(self, number):
        os.kill(self.process.pid, number)

    def status(self, timeout=20):
        status = self.process.wait(timeout=timeout)
        self.reader.join(timeout=5)
        return status


class Ranks:
    """A run of `count` ranks. env and words may be given per rank as {rank: …} beside those for all. fakes: with the
    libraries of FAKES, else with the machine's own. one_host: as NCCL sees it; each rank is a node otherwise."""

    def __init__(self, count, words=(), env=None, rank_words=None, rank_env=None, absent=(), fakes=True,
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
            flags = ["--run", f"test-{os.getpid()}", "--rank", str(rank), "--ranks", str(count), *words,
                     *(rank_words or {}).get(rank, ())]
            self.ranks[rank] = Rank(rank, flags, own, self.heard)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for rank in self.ranks.values():
            if rank.process.poll() is None:
                rank.process.kill()
            rank.process.wait()
            rank.reader.join(timeout=5)
            for stream in (rank.process.stdin, rank.process.stdout, rank.process.stderr):
                try:
                    stream.close()
                except OSError:
                    pass

    def __getitem__(self, rank):
        return self.ranks[rank]

    def tell_all(self, order):
        for rank in self.ranks.values():
            rank.tell(order)

    def await_all(self, name, timeout=30):
        """True once every rank has said it; False as soon as one fails, is gone, or time is over."""
        end = time.monotonic() + timeout
        missing = {rank for rank in self.ranks if rank not in self.backlog.get(name, set())}
        while missing:
            try:
                rank, event = self.heard.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                return False
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
        """To the id in everybody's hands."""
        if not self.await_all("hello", timeout=120):
            return False
        end = time.monotonic() + 30
        while 0 in self.ranks and not self[0].of("unique-id") and not self.failed and time.monotonic() < end:
            self.await_all("unique-id", timeout=0.05)
        if self.failed or not self[0].of("unique-id"):
            return False
        unique_id = self[0].one("unique-id")["id"]
        self.tell_all({"command": "id", "id": change_id(unique_id) if change_id else unique_id})
        return True

    def until_go(self, change_id=None):
        if not self.until_init(change_id) or not self.await_all("init-done", timeout=120):
            return False
        self.tell_all({"command": "go"})
        return True

    def run(self, timeout=60):
        """The whole run. True: every rank said end. Otherwise all are told to abort, and `failed` begins with the
        first that failed."""
        good = self.until_go() and self.await_all("end", timeout)
        if not good:
            self.abort()
        return good

    def abort(self):
        self.tell_all({"command": "abort"})
        for rank in self.ranks.values():
            try:
                rank.status(timeout=6)
            except subprocess.TimeoutExpired:
                rank.signal(signal.SIGKILL)  # a stopped one hears nothing
        return self
