"""What a node is, read from its files and its kernel and never through ssh: a dict of names and values, made to be compared."""

import fcntl
import functools
import glob
import hashlib
import os
import stat
import subprocess

from spark_lab import speed

# Whole trees: what an apply might touch is not taken from it. Below /run, what its own parts make of /etc.
TREES = ("/etc", "/home/nvidia/.ssh", "/root/.ssh", "/run/netplan", "/run/sysctl.d", "/run/modprobe.d", "/run/systemd/network",
         "/run/systemd/system", "/run/systemd/system.conf.d", "/run/udev/rules.d", "/run/NetworkManager", "/usr/local/bin")
# One command's worth of shell per reading; each line is one value, named by what stands before its first tab.
LIVE = r"""
ip -o addr | awk '$4 !~ /^fe80/ && $2 != "lo" {printf "address %s %s %s\t%s\n", $2, $3, $4, $0}' | sed 's/\t[0-9]*: /\t/'
ip -o -d link | awk -F': ' '{sub(/@.*/, "", $2); print $2}' | while read -r dev; do
  read -r mtu <"/sys/class/net/$dev/mtu"; read -r operstate <"/sys/class/net/$dev/operstate"
  read -r flags <"/sys/class/net/$dev/flags"; printf 'link %s\tmtu %s %s %s\n' "$dev" "$mtu" "$operstate" "$flags"
done
{ ip -4 route; ip -6 route | grep -v fe80; } | sed 's/.*/route &\tthere/'
{ ip -4 rule; ip -6 rule; } | tr '\t' ' ' | sed 's/.*/rule &\tthere/'
grep -rs '' /proc/sys/net/core /proc/sys/net/ipv4/conf /proc/sys/net/ipv6/conf /proc/sys/net/ipv4/tcp_[a-em-z]* |
  sed 's/^\([^:]*\):\(.*\)/sysctl \1\t\2/'
systemctl show -p Id,Description,ActiveState,SubState,UnitFileState,NeedDaemonReload fabric-note.service ssh.service \
  systemd-networkd.service | awk -v RS= -F'\n' '{for (i = 2; i <= NF; i++) print "unit " $1 " " $i "\tthere"}'
systemctl show -p DefaultLimitMEMLOCK | sed 's/.*/manager &\tthere/'
systemctl list-units --plain --no-legend --no-pager 'spark-reconcile*' | sed 's/ .*//; s/.*/guard &\tloaded/'
"""
# A guard is gone when neither the running systemd nor the next boot knows one.
GUARDS = ("run/systemd/transient/*spark-reconcile*", "etc/systemd/system/*spark-reconcile*",
          "etc/systemd/system/*.wants/*spark-reconcile*", "run/systemd/system/*spark-reconcile*")


@functools.cache
def cgroups():
    with open("/proc/mounts", encoding="utf-8") as mounts:
        return next(line.split()[1] for line in mounts if line.split()[2] == "cgroup2")


def leader(run, node):
    """The number of the node's PID 1 on this machine; None while the node is off."""
    try:
        with open(f"{cgroups()}/spark-reconcile-lab/{run}/{node}/payload/init.scope/cgroup.procs", encoding="utf-8") as procs:
            return int(procs.readline() or 0) or None
    except OSError:
        return None


def root(run, node):
    pid = leader(run, node)
    return None if pid is None else f"/proc/{pid}/root"


def applies(at):
    """The state of each apply that was armed on a node, by its folder; see docs/recovery.md."""
    states = {}
    for guard in glob.glob(at + "/var/lib/spark-reconcile/journal/*/guard"):
        try:
            with open(os.path.join(os.path.dirname(guard), "state"), encoding="utf-8") as state:
                states[os.path.dirname(guard)] = state.read().strip()
        except FileNotFoundError:
            states[os.path.dirname(guard)] = "none"
    return states


def locked(run, node):
    """Whether a shell on the node holds the lock of an apply."""
    at = root(run, node)
    try:
        with open(f"{at}/var/lib/spark-reconcile/lock", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # the node is off, or has had no apply
        return False
    return False


def guarded(run, node):
    """Whether an undecided apply, or a guard of one that is over, is still there."""
    at = root(run, node)
    if at is None:
        return True
    states = applies(at).values()
    if any(state not in ("committed", "finished", "reverted") for state in states):
        return True
    return "committed" not in states and any(glob.glob(os.path.join(at, pattern)) for pattern in GUARDS)


def lingering(at):
    """The folders of the applies that are committed and not finished yet."""
    return {folder for folder, found in applies(at).items() if found == "committed"}


def without_beacons(state, folders):
    """A node that has committed shows for a while that it has, to peers that have not heard: what it keeps for them is no part of
    what the apply made. A plain apply afterwards ends it. `folders`: of such applies."""
    beacons = []
    for folder in folders:
        if os.path.exists(folder + "/peers"):
            with open(folder + "/peers", encoding="utf-8") as peers:
                beacons += [line.split()[2].partition("::")[0] for line in peers if line.startswith("own ")]
    if not folders:
        return state
    return {name: value for name, value in state.items()
            if not name.startswith("guard ") and "spark-reconcile-guard-" not in name and not any(one in name for one in beacons)}


def describe(path):
    """Mode, owner, kind and content of one file."""
    info = os.lstat(path)
    value = f"{stat.S_IMODE(info.st_mode):04o} {info.st_uid}:{info.st_gid} "
    if stat.S_ISLNK(info.st_mode):
        return value + "-> " + os.readlink(path)
    if stat.S_ISREG(info.st_mode):
        with open(path, "rb") as content:
            return value + hashlib.sha256(content.read()).hexdigest()[:16]
    return value + ("directory" if stat.S_ISDIR(info.st_mode) else "special")


def files(at):
    """Every file, link and directory of TREES."""
    state = {}
    for tree in TREES:
        for folder, folders, names in os.walk(at + tree):
            # An empty directory in /run says nothing to anyone.
            here = [] if tree.startswith("/run/") else [""]
            for name in [*here, *names, *(name for name in folders if os.path.islink(os.path.join(folder, name)))]:
                path = os.path.join(folder, name) if name else folder
                try:
                    state["file " + path[len(at):]] = describe(path)
                except FileNotFoundError:  # went away while we looked: the next reading shows it
                    state["file " + path[len(at):]] = "going away"
    return state


def read(run, node):
    """The state of a running node; of one that is off, that it is."""
    at = root(run, node)
    if at is None:
        return {"node": "off"}
    before = lingering(at)  # one may end while we read
    state = files(at)
    # As `lab sh` enters a node, which does more than reading needs.
    enter = ["nsenter", "-t", at.split("/")[2], "-m", "-u", "-i", "-n", "-p", "-C", "--", "env", "-i", "LC_ALL=C.UTF-8",
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-c", LIVE]
    live = speed.run(enter, 60, check=True, stdout=subprocess.PIPE, text=True)
    for line in live.stdout.splitlines():
        name, _, value = line.partition("\t")
        state[name] = value
    return without_beacons(state, before | lingering(at))


def differences(wanted, found, most=12):
    """One line per name that is not the same, `most` at the most."""
    names = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    lines = [f"{name}: wanted {wanted.get(name, 'absent')}, found {found.get(name, 'absent')}" for name in names]
    return lines[:most] + ([f"and {len(lines) - most} more"] if len(lines) > most else [])
