"""What a row of the matrix may say: one function per verb, given its trial and the rest of its line."""

import os
import signal
import time

import node_state
from management import Management
from pair import NODES, Broken, NotRun, speed

# Seconds; a call that is met in a clean run comes within this time in any other, on a busy machine too.
REACH_S = 120


def kill(trial, _rest):
    """The controller is gone at once, as by the plug."""
    trial.controller.signal(signal.SIGKILL)
    trial.controller.process.wait()


def interrupt(trial, _rest):
    trial.controller.signal(signal.SIGINT)


def sh(trial, rest):
    """sh NODE SCRIPT: as root on the node, beside the program."""
    node, script = rest.split(" ", 1)
    trial.pair.lab.sh(node, script)


def by_hand(trial, rest):
    """by-hand add|del NODE: on the management interface, what no file lists: addresses, routes, a rule. What is to be deleted must be there."""
    how, node = rest.split()
    things = [f"-4 address {how} 192.168.1.20{node}/24 dev enP7s7", f"-4 address {how} 10.99.0.{node}/32 dev enP7s7",
              f"-6 address {how} fd00:77::{node}/64 dev enP7s7 nodad", f"-4 route {how} 172.31.0.0/16 via 192.168.1.1 dev enP7s7",
              f"-4 route {how} 172.30.0.0/16 via 192.168.1.1 dev enP7s7 table 100",
              f"-6 route {how} fd00:88::/64 via fd00:77::99 dev enP7s7", f"-4 rule {how} pref 500 from 10.99.0.{node} lookup 100"]
    if how == "del":
        things = [thing.removesuffix(" nodad") for thing in reversed(things)]
    failed = trial.pair.lab.sh(node, "".join(f"ip {thing} 2>/dev/null || echo {thing}\n" for thing in things))
    if failed:
        raise Broken(f"spark-{node} refuses:\n{failed}")


def management(trial, rest):
    """management dhcp|listed: every node's management is configured in another way, from a DHCP server or with a list of its own.
    management note: what it has now is what it must keep.
    management kept: it has all that and nothing more, and no node has sent the server anything since.
    management over: it is as at first again."""
    if rest == "note":
        trial.management.note()
    elif rest == "kept":
        changes = trial.management.changes()
        if changes:
            raise Broken("\n".join(["the management interface is not as it was:", *changes]))
    elif rest == "over":
        trial.management.restore()
    else:
        trial.management = Management(trial.pair.lab, rest, {node: "networkd" for node in NODES})


def lab(trial, rest):
    """lab WORDS: `reconnect` and `start` are over when every node answers again."""
    trial.pair.lab.lab(*rest.split())
    if rest.split()[0] in ("reconnect", "start") and not speed.eventually(trial.pair.reachable, REACH_S, 0.2):
        raise Broken(f"a node does not answer on the management network; {speed.gave_up(REACH_S)}")


def outside(trial, rest):
    """outside COMMAND: where the controller runs."""
    trial.pair.lab.lab("exec", *rest.split())


def restart(trial, rest):
    """restart NODE: the plug is pulled and inserted again; the controller's packets to it are lost meanwhile."""
    trial.pair.lab.lab("restart", "--hard", rest)


def wait(_trial, rest):
    """wait SECONDS: as much longer on a slow machine as the nodes' deadline is."""
    time.sleep(speed.scaled(float(rest)))


def wrap(trial, rest):
    """wrap NODE COMMAND HOW [VALUE]: see wrapper.sh; an insert's words are separated by |."""
    node, name, how, *value = rest.split(" ", 3)
    trial.pair.order(int(node), name, how, "".join(value).replace("|", "\n"))


def failed_once(trial, rest):
    """failed-once NODE COMMAND…: one of these, wrapped with fail-once, did fail."""
    node, *names = rest.split()
    if all(os.path.exists(trial.pair.order_file(int(node), name, "fail-once")) for name in names):
        raise Broken(f"wanted a failure of {' or '.join(names)} on spark-{node}, and none was called")


def unwrap(trial, rest):
    trial.pair.clear()


def gate(trial, rest):
    """gate NODE COMMAND NUMBER: the call of that number from now on waits until `release`."""
    node, name, number = rest.split()
    trial.pair.gate(int(node), name, int(number))


def reach(trial, rest):
    """reach NODE COMMAND: waits until that call is made."""
    node, name = rest.split()
    reached = trial.pair.order_file(int(node), name, "reached")
    ended = trial.controller.ended
    speed.eventually(lambda: os.path.exists(reached) or ended(), REACH_S, 0.02)
    if not os.path.exists(reached):
        why = f"the program had ended with {trial.controller.process.returncode}\n{trial.controller.said()}" if ended() else speed.gave_up(REACH_S)
        raise NotRun(f"spark-{node} never came to the call of {name} that was waited for; {why}")


def release(trial, _rest):
    trial.pair.release()
    trial.began = time.monotonic()


def end(trial, _rest):
    trial.end_controller()


def decided(trial, _rest):
    """Waits until no node has a guard any more."""
    trial.wait_decided()


def committed(trial, rest):
    """committed NODE: waits until an apply is committed there, and not finished."""
    at = node_state.root(trial.pair.lab.run, int(rest))
    if not speed.eventually(lambda: node_state.lingering(at), REACH_S, 0.1):
        raise Broken(f"spark-{rest} has not committed; {speed.gave_up(REACH_S)}")


def second(trial, rest):
    """second EXIT: another controller tries the same; it must end with that code and change nothing."""
    done = trial.pair.lab.spark("apply", trial.manifest, "--yes", "--brief", "--no-verify", *trial.pair.program_options)
    if done.returncode != int(rest):
        raise Broken(f"a second controller exits {done.returncode}, wanted {rest}: {done.stdout[-500:]}{done.stderr[-500:]}")


def _limit(trial, node, path, limit):
    """A file system of its own on a directory, with what was there; `limit` is an option of tmpfs, for a shell where /run/copy is that."""
    trial.pair.lab.sh(node, f"mkdir -p {path} /run/below /run/copy && cp -a {path}/. /run/copy/ && mount --bind --make-private {path} /run/below && "
                             f"mount -t tmpfs -o mode=$(stat -c %a {path}),{limit} tmpfs {path} && cp -a /run/copy/. {path}/")


def small(trial, rest):
    """small NODE DIRECTORY KIB: a file system of its own, with what was there, and no more room than that."""
    node, path, room = rest.split()
    _limit(trial, node, path, f"size=$(($(du -sk /run/copy | cut -f1) + {room}))k")


def few(trial, rest):
    """few NODE DIRECTORY COUNT: the same with no more inodes than that; a file, a folder or a link takes one."""
    node, path, count = rest.split()
    _limit(trial, node, path, f"nr_inodes=$(($(find /run/copy | wc -l) + {count}))")
    free = int(trial.pair.lab.sh(node, f"df --output=iavail {path} | tail -n 1"))
    if free != int(count):
        raise Broken(f"wanted {count} free inodes in {path} of spark-{node}, found {free}")


def fill(trial, rest):
    """fill NODE DIRECTORY: no room is left in it."""
    node, path = rest.split()
    trial.pair.lab.sh(node, f"dd if=/dev/zero of={path}/.fill bs=1k 2>/dev/null; true >{path}/.fill.2; echo x >{path}/.fill.2; true")


def large(trial, rest):
    """large NODE DIRECTORY: what `small` or `few` began is over; what is in it stays."""
    node, path = rest.split()
    trial.pair.lab.sh(node, f"rm -f {path}/.fill {path}/.fill.2; find /run/below -mindepth 1 -delete; cp -a {path}/. /run/below/ && "
                             f"umount -l {path} && umount /run/below && rm -rf /run/copy")


def read_only(trial, rest):
    node, path = rest.split()
    trial.pair.lab.sh(node, f"mount --bind {path} {path} && mount -o remount,bind,ro {path}")


def writable(trial, rest):
    node, path = rest.split()
    trial.pair.lab.sh(node, f"umount -l {path}")


def kept(trial, rest):
    """kept NODE FOLDER: where the program says that all is as before, each file below the folder is, with nothing repaired yet."""
    node, folder = rest.split()
    if trial.exit_code not in (4, 130):
        return
    was, now = ({name: value for name, value in state[int(node)].items() if name.startswith(f"file {folder}/")}
                for state in (trial.pair.known[trial.here], trial.pair.read()))
    if was != now:
        raise Broken("\n".join([f"exit {trial.exit_code}, and below {folder} it is not as before:", *node_state.differences(was, now)]))


def reported(trial, rest):
    """reported NODE FILE: where the program says that all is as before, it names each text of another hand in that file that is kept in the
    journal."""
    node, path = rest.split()
    if trial.exit_code not in (4, 130):
        return
    texts = trial.pair.lab.sh(node, "cd /var/lib/spark-reconcile/journal && cd \"$(ls -t | head -n 1)\" && for step in [0-9]*; do "
                                    f"[ ! -e $step/foreign ] || [ \"$(cat $step/path)\" != {path} ] || echo \"$PWD/$step/foreign\"; done")
    for text in texts.splitlines():
        wanted = f"note: spark-{node}: {path} was changed by another program: its text is kept in {text}\n"
        if wanted not in trial.controller.said():
            raise Broken(f"exit {trial.exit_code}, and nothing says that {text} of spark-{node} has another hand's text\n{trial.controller.said()}")


def already_before(trial, rest):
    """already-before NODE: waits until it is as before but for the guard, with nothing repaired yet and nothing written down."""
    def is_guards(name):
        return name.startswith("guard ") or (name.startswith("file /etc/systemd/system/") and "spark-reconcile-" in name)

    def find_differences():
        was, now = ({name: value for name, value in state.items() if not is_guards(name)}
                    for state in (trial.pair.known[trial.here][int(rest)], node_state.read(trial.pair.lab.run, int(rest))))
        return node_state.differences(was, now)
    if not speed.eventually(lambda: not find_differences(), REACH_S, 1):
        raise Broken("\n".join([f"spark-{rest} is not as before; {speed.gave_up(REACH_S)}", *find_differences()]))


def leave(trial, rest):
    """leave NODE FILE: what no row may do; proves that the comparison sees it."""
    node, path = rest.split()
    at = node_state.root(trial.pair.lab.run, int(node))
    with open(at + path, "w", encoding="utf-8") as target:
        target.write("left behind\n")


VERBS = {name.replace("_", "-"): verb for name, verb in list(globals().items())
         if callable(verb) and not name.startswith("_") and getattr(verb, "__module__", "") == __name__}


def say(trial, line):
    """Carries one line of a row out."""
    name, _, rest = line.partition(" ")
    VERBS[name](trial, rest)
