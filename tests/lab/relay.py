"""Two ends of spark-verify joined through their own ssh channels, as the program joins them."""

import json
import shlex
import subprocess
import threading
import time

from spark_lab import LAB, speed


def write_command(options):
    return f"/var/lib/spark-verify write {shlex.quote(json.dumps(options))}"


class Relay:
    """Runs `spark-verify write` on two nodes and carries every line of one end to the other."""

    def __init__(self, lab, ends, before=None, limit_s=120):
        """ends: {node: options}; before: called with the node and each message, before it is carried."""
        self.messages = {node: [] for node in ends}
        self.began = time.monotonic()
        processes = {}
        for node, options in ends.items():
            command = [LAB, "ssh", "--run", lab.run, str(node), f"sudo {write_command(options)}"]
            processes[node] = speed.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True, bufsize=1)
        carriers = [threading.Thread(target=self._carry, args=(processes, node, before)) for node in ends]
        for carrier in carriers:
            carrier.start()
        over = threading.Event()

        def kill():
            over.set()
            for process in processes.values():
                process.kill()
        killer = threading.Timer(speed.scaled(limit_s), kill)
        killer.start()
        for carrier in carriers:
            carrier.join()
        killer.cancel()
        self.codes = {node: process.wait() for node, process in processes.items()}
        self.errors = {node: process.stderr.read() for node, process in processes.items()}
        for process in processes.values():
            process.stdout.close()
            process.stderr.close()
        self.seconds = time.monotonic() - self.began
        if over.is_set():
            raise speed.GaveUp(f"spark-verify write: {speed.gave_up(limit_s)}\n{self.messages}\n{self.errors}")

    def _carry(self, processes, node, before):
        peer = next(other for other in processes if other != node)
        for line in processes[node].stdout:
            message = json.loads(line)
            message["at"] = time.monotonic() - self.began
            self.messages[node].append(message)
            if before:
                before(node, message)
            try:
                processes[peer].stdin.write(line)
            except (BrokenPipeError, ValueError):
                pass
        # An end that is gone says no more: what waits for it must not wait for its deadline.
        try:
            processes[peer].stdin.close()
        except BrokenPipeError:
            pass

    def find(self, node, event):
        return [message for message in self.messages[node] if message["event"] == event]
