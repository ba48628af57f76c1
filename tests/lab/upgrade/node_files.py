"""Files of a lab node, read and written from outside it: as a dict of paths, so that it can be kept, compared and put on
another node. Also what a recorded state consists of."""

import base64
import difflib
import hashlib
import os
import stat
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("", "faults"):
    sys.path.append(os.path.join(os.path.dirname(HERE), folder))

from node_state import root  # noqa: E402

LONG = 4000  # characters
STATES = os.path.join(HERE, "states")
OURS = "/var/lib/spark-reconcile"
# Where an apply may write what outlives a restart, and below /run what is on trial.
TREES = ("/etc", OURS, "/home/nvidia/.ssh", "/root/.ssh", "/usr/local/bin")
TRIAL_TREES = ("/run/netplan", "/run/sysctl.d", "/run/systemd/network", "/run/systemd/system", "/run/systemd/system.conf.d",
               "/run/systemd/user.conf.d", "/run/udev/rules.d")
HOST_KEYS = tuple(f"/etc/ssh/ssh_host_{kind}_key{half}" for kind in ("ed25519", "ecdsa") for half in ("", ".pub"))
# A daemon's, not an apply's.
NOISE = ("/etc/.updated", "/etc/.pwd.lock", "/etc/machine-id", "/etc/resolv.conf", "/run/systemd/system/lab", "/etc/ld.so.cache")


class Contents(dict):
    """Bytes of files by the beginning of their digest: as text; as base64 where they are none, or a private key, which scanners
    of repositories take for a secret; or, once packed, as the edits that make them of another text."""

    def add(self, data):
        name = hashlib.sha256(data).hexdigest()[:16]
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = None
        if text is None or "PRIVATE KEY" in text:
            self[name] = {"base64": base64.b64encode(data).decode()}
        else:
            self[name] = text
        return name

    def bytes_of(self, name):
        value = self[name]
        if isinstance(value, str):
            return value.encode()
        if "base64" in value:
            return base64.b64decode(value["base64"])
        lines = self.bytes_of(value["like"]).decode().splitlines(keepends=True)
        for first, last, new in reversed(value["edits"]):
            lines[first:last] = new
        return "".join(lines).encode()

    def pack(self, names):
        """Only these, and long texts that are alike once only: each node and each apply has its own guard and ledger."""
        packed = Contents()
        whole = []
        for name in sorted(names):
            value = self[name]
            if isinstance(value, str) and len(value) > LONG:
                edits = [(find_edits(self[other], value), other) for other in whole]
                best = min(edits, key=lambda one: len(str(one[0])), default=([[0, 0, [value]]], ""))
                if len(str(best[0])) < len(value) / 2:
                    value = {"like": best[1], "edits": best[0]}
                else:
                    whole.append(name)
            packed[name] = value
        return packed


def find_edits(old, new):
    """Lines of `old` to be replaced, [FIRST, LAST + 1, LINES], in order."""
    old, new = (text.splitlines(keepends=True) for text in (old, new))
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [[first, last, new[begin:end]] for what, first, last, begin, end in changes if what != "equal"]


def describe(path, contents):
    """One file, link or directory, as text: "file MODE UID:GID SECONDS CONTENT", "link UID:GID TARGET", "directory MODE
    UID:GID"; None for anything else."""
    found = os.lstat(path)
    owner = f"{found.st_uid}:{found.st_gid}"
    mode = f"{stat.S_IMODE(found.st_mode):04o}"
    if stat.S_ISLNK(found.st_mode):
        return f"link {owner} {os.readlink(path)}"
    if stat.S_ISDIR(found.st_mode):
        return f"directory {mode} {owner}"
    if not stat.S_ISREG(found.st_mode):
        return None
    with open(path, "rb") as file:
        return f"file {mode} {owner} {int(found.st_mtime)} {contents.add(file.read())}"


def read_trees(lab, node, trees, contents):
    """All below these folders of a node, by path."""
    at = root(lab.run, node)
    found = {}

    def read(path):
        if path.startswith(NOISE):
            return
        described = describe(at + path, contents)
        if described is None:
            return
        found[path] = described
        if described.startswith("directory"):
            for name in sorted(os.listdir(at + path)):
                read(f"{path}/{name}")

    for tree in trees:
        if os.path.lexists(at + tree):
            read(tree)
    return found


def find_changes(before, after):
    """What differs, as `after` has it; "absent" for what is not there any more."""
    return {path: after.get(path, "absent") for path in sorted({*before, *after}) if before.get(path) != after.get(path)}


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        for name in os.listdir(path):
            remove(os.path.join(path, name))
        os.rmdir(path)
    elif os.path.lexists(path):
        os.remove(path)


def write_files(lab, node, files, contents):
    """Brings these paths of a node to the given state. Parents that are not named are there, unless only another release of Debian
    makes them."""
    at = root(lab.run, node)
    for path in sorted(files, reverse=True):
        if files[path] == "absent":
            remove(at + path)
    for path in sorted(files):
        write_file(at + path, files[path], contents)


def write_file(path, described, contents):
    kind, _, rest = described.partition(" ")
    if kind == "absent":
        return
    if kind == "link":
        owner, _, target = rest.partition(" ")
        remove(path)
        os.symlink(target, path)
        os.lchown(path, *map(int, owner.split(":")))
        return
    words = rest.split()
    if kind == "directory":
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(contents.bytes_of(words[3]))
    os.chown(path, *map(int, words[1].split(":")))
    os.chmod(path, int(words[0], 8))
    if kind == "file":
        os.utime(path, (int(words[2]), int(words[2])))
