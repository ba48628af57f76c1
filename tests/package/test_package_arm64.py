"""The Debian package for arm64 on a machine of another type: what it holds and needs, and its programs under qemu-user. It is unpacked
and not installed: the scripts of an arm64 system need that system or a kernel that knows of qemu.

$SPARK_PACKAGE is the package (the newest of build-arm64/package without it), $SPARK_SYSROOT what tests/packages-arm64 made."""

import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import debian_package
import spdx
from debian_package import AARCH64, MANIFEST, X86_64, output, read_machine, speed

SYSROOT = os.environ.get("SPARK_SYSROOT", os.path.join(debian_package.ROOT, "build-arm64", "sysroot"))
DATABASE = os.path.join(SYSROOT, "var", "lib", "dpkg")
LIBRARIES = os.path.join(SYSROOT, "usr", "lib", "aarch64-linux-gnu")
EMULATOR = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
# A program that is copied to a node lies below /var/lib for some seconds, and here this machine is the node.
OWN_STATE = ("unshare", "--mount", "--propagation", "private", "--", "sh", "-c", 'mount -t tmpfs node /var/lib && exec "$@"', "sh")


def field(name):
    return output("dpkg-deb", "--field", PACKAGE, name).strip()


class Package(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tree = folder.name
        output("dpkg-deb", "--extract", PACKAGE, cls.tree)
        cls.program = os.path.join(cls.tree, "usr/bin/spark-reconcile")
        cls.libexec = os.path.join(cls.tree, "usr/libexec/spark-reconcile")

    def emulate(self, *command):
        return output(EMULATOR, "-L", SYSROOT, *command, limit_s=120)

    def test_it_is_for_arm64(self):
        self.assertEqual(field("Architecture"), "arm64")
        self.assertEqual(read_machine(self.program), AARCH64)

    def test_it_holds_spark_verify_for_both_types_of_machine(self):
        self.assertEqual(sorted(os.listdir(self.libexec)), ["spark-verify", "spark-verify-x86_64"])
        for name, machine in (("spark-verify", AARCH64), ("spark-verify-x86_64", X86_64)):
            path = os.path.join(self.libexec, name)
            self.assertEqual(read_machine(path), machine)
            self.assertTrue(os.access(path, os.X_OK))

    def test_it_depends_on_the_package_of_each_library_that_it_loads(self):
        depends = {re.match(r"\S+", one)[0] for one in field("Depends").split(", ")}
        names = re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", self.program))
        self.assertIn("libssh.so.4", names)
        for name in names:
            owner = output("dpkg-query", "--admindir", DATABASE, "--search", os.path.realpath(os.path.join(LIBRARIES, name))).split(": ")[0]
            # spdlog is wanted under the name of a package that its own provides.
            known = output("dpkg-query", "--admindir", DATABASE, "--show", "--showformat", "${Package}, ${Provides}", owner)
            self.assertTrue(depends & {re.match(r"\S*", one)[0] for one in known.split(", ")}, f"{name} is of {known}: {depends}")

    def test_what_it_depends_on_is_what_it_was_linked_against(self):
        output("dpkg-checkbuilddeps", f"--admindir={DATABASE}", "-a", "arm64", "-d", field("Depends"), "/dev/null")

    def test_the_list_of_what_is_inside_names_packages_of_arm64(self):
        with open(os.path.join(self.tree, "usr/share/doc/spark-reconcile/spark-reconcile.spdx.json"), encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual(spdx.find_mistakes(document), [])
        types = {one["name"]: re.search(r"arch=(\w+)", one["externalRefs"][0]["referenceLocator"])[1]
                 for one in document["packages"] if "externalRefs" in one}
        for name in ("libssh-4", "libssl3", "libc6", "libssh-dev"):
            self.assertEqual(types.get(name), "arm64", types)
        self.assertEqual(types.get("nlohmann-json3-dev"), "all", types)

    def test_the_program_runs(self):
        version = field("Version").split("-")[0]
        self.assertRegex(self.emulate(self.program, "version"), rf"^spark-reconcile {re.escape(version)} \(commit ")
        examples = sorted(glob.glob(os.path.join(self.tree, "usr/share/spark-reconcile/manifests/*.yaml")))
        self.assertTrue(examples)
        for path in examples:
            self.emulate(self.program, "validate", path)
        self.assertIn("spark-verify facts", self.emulate(os.path.join(self.libexec, "spark-verify"), "--help"))

    @unittest.skipUnless(os.uname().machine == "x86_64", "the node of this test is this machine")
    def test_a_node_of_the_other_type_gets_spark_verify_for_that_type(self):
        path = os.path.join(self.tree, "cluster.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(MANIFEST)
        done = speed.run([*OWN_STATE, EMULATOR, "-L", SYSROOT, self.program, "status", "--verbs", "--node", "spark-1", "--format", "json",
                          path], 120, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        [node] = [one for one in json.loads(done.stdout)["nodes"] if one["name"] == "spark-1"]
        # What it says of devices is this machine's. That it said something shows that it was started.
        self.assertEqual(node["host"]["arch"], "x86_64")
        self.assertIn("verbs", node["rdma"], done.stderr)
        self.assertNotIn("wanted the program", json.dumps(node))

    def test_lintian_finds_no_error(self):
        debian_package.assert_no_error_of_lintian(self, PACKAGE)


def explain_skip():
    if os.geteuid() != 0:
        return "a folder of its own for the node needs root"
    if not PACKAGE:
        return "there is no package for arm64 (tests/packages-arm64, then cmake --workflow --preset package-arm64)"
    if not os.path.isdir(DATABASE):
        return "there are no libraries for arm64 (tests/packages-arm64)"
    if not EMULATOR:
        return "no qemu-aarch64 is installed"
    return None


PACKAGE = debian_package.find_package("build-arm64", "*_arm64.deb")

if __name__ == "__main__":
    debian_package.skip_all_if(explain_skip())
    unittest.main()
