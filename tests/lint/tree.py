"""What the checks in this folder share: the files of the tree, and how a check runs and proves itself."""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77  # the exit status that ctest takes for "skipped"


def files(root, *suffixes):
    """Files below root that git tracks or would track, relative, sorted; all files where there is no git."""
    listing = subprocess.run(
        # Root may look at the tree of the user who called sudo.
        ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listing.returncode == 0:
        names = listing.stdout.decode().split("\0")
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*")
                 if not path.relative_to(root).parts[0].startswith("build")
                 and path.relative_to(root).parts[0] not in (".git", ".cache")]
    return sorted(pathlib.PurePosixPath(name) for name in set(names)
                  if name and (root / name).is_file() and (not suffixes or name.endswith(suffixes)))


def text(root, name):
    """The file's text, or nothing for a file that is no text."""
    try:
        return (root / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def main(check, bad, good):
    """check(root) returns its complaints. With --self-test every tree of `bad` must bring a complaint that holds
    the tree's word, and `good` none; a tree is a map from file name to text, in which ROOT stands for its folder."""
    if sys.argv[1:] == ["--self-test"]:
        for word, tree in [*bad.items(), (None, good)]:
            with tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                for name, content in tree.items():
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    (root / name).write_text(content.replace("ROOT", folder), encoding="utf-8")
                found = check(root)
            if word is None and found:
                sys.exit(f"self-test: wanted no complaint, found {found}")
            if word is not None and not any(word in line for line in found):
                sys.exit(f"self-test: wanted a complaint with {word!r}, found {found}")
        return
    if sys.argv[1:]:
        sys.exit(f"usage: {sys.argv[0]} [--self-test]")
    found = check(ROOT)
    if found:
        sys.exit("\n".join(found))
