#!/usr/bin/env python3
"""Says of which Debian packages programs are made, from what the linker loads and what ninja recorded of the build. Writes

    depends                    what the package needs, as dpkg-shlibdeps says it
    copyright                  our text, then that of every package whose code is inside
    spark-reconcile.spdx.json  all of that as SPDX 2.3

into a folder. The first program must be spark-reconcile itself: it is started to print its version and its commit's date.
Programs for another type of machine come with the folder of that type's libraries (tests/packages-arm64), which has a database of
dpkg of its own."""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Whose notice is left out. Headers of libraries that the program loads say how to call them and hold no code. Boost's licence requires no
# notice with compiled code, and Debian's file about Boost has 2 MB.
NO_NOTICE = re.compile("libc6-dev|linux-libc-dev|libssl-dev|libssh-dev|libboost.*")
CROSS = re.compile(r"spark-verify-(\w+)$")
# sysroot: "" for those of this machine
Package = collections.namedtuple("Package", "name sysroot")


def run(*command, folder=None):
    return subprocess.run(command, cwd=folder, check=True, text=True, stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}).stdout


def database(sysroot):
    return [f"--admindir={sysroot}/var/lib/dpkg"] if sysroot else []


def find_packages(paths, sysroot):
    """The packages that own the files. A library's own name for a file may go through the link /lib."""
    found = set()
    for path in sorted(set(paths)):
        owner = sysroot if sysroot and path.startswith(sysroot) else ""
        for name in (path, os.path.realpath(path), re.sub("^/usr", "", os.path.realpath(path))):
            done = subprocess.run(["dpkg-query", *database(owner), "--search", name], check=False, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
            if done.returncode == 0:
                found.add(Package(done.stdout.split("\n")[0].rsplit(": ", 1)[0].split(", ")[0], owner))
                break
    return found


def library_folder(sysroot, triplet):
    return os.path.join(sysroot, "usr/lib", triplet)


def list_loaded(program, sysroot, triplet):
    """The shared libraries that the program itself names."""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "--dynamic", program))
    if sysroot:
        return [os.path.join(library_folder(sysroot, triplet), name) for name in names]
    places = dict(re.findall(r"^\s*(\S+) => (\S+)", run("ldd", program), re.MULTILINE))
    return [places[name] for name in names if name in places]


def list_built_in(build, programs, sysroot):
    """Archives and headers outside the tree that went into the programs. ninja would write its records while it is running itself: it
    gets a copy."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("build.ninja", "CMakeFiles"):
            os.symlink(build / name, os.path.join(folder, name))
        for name in (".ninja_deps", ".ninja_log"):
            shutil.copy(build / name, folder)
        inputs = set(run("ninja", "-t", "inputs", *programs, folder=folder).splitlines())
        records = run("ninja", "-t", "deps", folder=folder)
    headers = set()
    for record in records.split("\n\n"):
        lines = record.splitlines()
        if lines and lines[0].split(": ")[0] in inputs:
            headers.update(os.path.normpath(build / line.strip()) for line in lines[1:])
    system = ("/usr/", f"{sysroot}/usr/") if sysroot else "/usr/"
    # One header of each folder will do.
    folders = {os.path.dirname(path): path for path in sorted(headers) if path.startswith(system)}
    archives = (os.path.normpath(build / path) for path in inputs if path.endswith(".a"))
    return [*folders.values(), *(path for path in archives if path.startswith(system))]


def list_runtime(compiler, *archives):
    """The compiler's own archives."""
    return [os.path.normpath(run(compiler, f"-print-file-name={name}").strip()) for name in archives]


def describe(package):
    fields = ("Package", "Version", "Architecture", "source:Package", "source:Version", "Maintainer")
    values = run("dpkg-query", *database(package.sysroot), "--show", "--showformat", "\\n".join("${%s}" % field for field in fields),
                 package.name).splitlines()
    return dict(zip(fields, values))


def write_depends(output, programs, sysroot, triplet):
    places = [*database(sysroot), f"-l{library_folder(sysroot, triplet)}"] if sysroot else []
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "debian"))
        pathlib.Path(folder, "debian", "control").touch()
        done = subprocess.run(["dpkg-shlibdeps", "-O", *places, *(f"-e{os.path.abspath(program)}" for program in programs)], cwd=folder, check=False,
                              text=True, capture_output=True)
    # It warns of programs outside a package's folder.
    if done.returncode != 0:
        sys.exit(done.stderr)
    (output / "depends").write_text(done.stdout.strip().removeprefix("shlibs:Depends=") + "\n", encoding="utf-8")


def write_copyright(output, own, packages):
    text = own.read_text(encoding="utf-8")
    files = {}
    for package in sorted(packages):
        name = package.name.split(":")[0]
        if not NO_NOTICE.fullmatch(name):
            files.setdefault(os.path.realpath(f"{package.sysroot}/usr/share/doc/{name}/copyright"), []).append(name)
    for path, names in sorted(files.items(), key=lambda item: item[1]):
        heading = f"Code of {', '.join(names)}"
        text += f"\n{heading}\n{'=' * len(heading)}\n\n{pathlib.Path(path).read_text(encoding='utf-8').strip()}\n"
    (output / "copyright").write_text(text, encoding="utf-8")


def make_package(package):
    found = describe(package)
    distribution = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text(encoding="utf-8").splitlines() if "=" in line)
    vendor, release = (distribution[key].strip('"') for key in ("ID", "VERSION_ID"))
    return {
        "SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", package.name),
        "name": found["Package"],
        "versionInfo": found["Version"],
        "supplier": "Person: " + re.sub(r"\s*<(.*)>$", r" (\1)", found["Maintainer"]),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "sourceInfo": f"built from {found['source:Package']} {found['source:Version']}",
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": f"pkg:deb/{vendor}/{found['Package'].replace('+', '%2B')}@{found['Version'].replace('+', '%2B').replace(':', '%3A')}"
                                f"?arch={found['Architecture']}&distro={vendor}-{release}",
        }],
    }


def write_sbom(output, version, built, loaded, inside):
    own = {
        "SPDXID": "SPDXRef-spark-reconcile",
        "name": "spark-reconcile",
        "versionInfo": version,
        "supplier": "NOASSERTION",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "sourceInfo": f"commit {built['commit']} of {built['date']}",
        "licenseConcluded": "Apache-2.0",
        "licenseDeclared": "Apache-2.0",
        "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": "APPLICATION",
    }
    packages = {package: make_package(package) for package in sorted(loaded | inside)}
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    relations += [(own["SPDXID"], "DYNAMIC_LINK", packages[package]["SPDXID"]) for package in sorted(loaded)]
    relations += [(own["SPDXID"], "STATIC_LINK", packages[package]["SPDXID"]) for package in sorted(inside)]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"spark-reconcile-{version}",
        "creationInfo": {"created": f"{built['date']}T00:00:00Z", "creators": ["Tool: spark-reconcile/packaging/linked.py"]},
        "packages": [own, *packages.values()],
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations],
    }
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["documentNamespace"] = f"https://spdx.org/spdxdocs/spark-reconcile-{version}-{digest[:32]}"
    (output / "spark-reconcile.spdx.json").write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build folder, of ninja")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--version", required=True, help="the package's")
    parser.add_argument("--copyright", type=pathlib.Path, required=True, help="our own text")
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--sysroot", default="", help="what the programs were linked against, if not this machine's libraries")
    parser.add_argument("--triplet", help="the name of the folder of libraries there")
    parser.add_argument("--emulator", action="append", default=[], help="what starts the first program, word by word")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    built = json.loads(run(*options.emulator, options.programs[0], "version", "--format", "json"))
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", built["date"]):  # no clone
        built["date"] = "1970-01-01"
    options.output.mkdir(parents=True, exist_ok=True)
    native = [program for program in options.programs if not CROSS.search(program)]
    inside = list_built_in(options.build, [os.path.basename(program) for program in native], options.sysroot)
    inside += list_runtime(options.compiler, "libgcc.a", "libstdc++.a")
    for cross in filter(None, map(CROSS.search, options.programs)):
        inside += list_runtime(f"{cross[1]}-linux-gnu-g++", "libgcc.a", "libstdc++.a")
    inside = find_packages(inside, options.sysroot)
    loaded = find_packages((path for program in native for path in list_loaded(program, options.sysroot, options.triplet)), options.sysroot)
    write_depends(options.output, native, options.sysroot, options.triplet)
    write_copyright(options.output, options.copyright, inside)
    write_sbom(options.output, options.version, built, loaded, inside)


if __name__ == "__main__":
    main()
