"""The Debian package in a fresh root file system of Debian or Ubuntu: apt installs it from its file, it is used, upgraded and purged.

$SPARK_PACKAGE is the package (the newest of build/package without it), $SPARK_LAB_OS the release, as for the lab: its root file systems
are used here too. A package of the preset `dev` fits only the release on which it was built."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import debian_package
import spdx
from debian_package import MANIFEST, output, read_machine, speed

LAB = os.path.join(debian_package.ROOT, "tests", "lab", "lab")
RELEASES = ("bookworm", "trixie", "noble")
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
TIMER = "spark-reconcile-drift.timer"
LIBEXEC = "/usr/libexec/spark-reconcile"
DOC = "/usr/share/doc/spark-reconcile"
# What apt and dpkg write about themselves, and caches.
KEPT = ("/proc", "/sys", "/dev", "/run", "/tmp", "/var/cache", "/var/lib/apt", "/var/lib/dpkg", "/var/log", "/etc/ld.so.cache")
OTHER_TYPE, OTHER_MACHINE = (("x86_64", debian_package.X86_64) if os.uname().machine == "aarch64"
                             else ("aarch64", debian_package.AARCH64))


def find_release():
    with open("/etc/os-release", encoding="utf-8") as file:
        own = dict(line.rstrip().split("=", 1) for line in file if "=" in line)
    return os.environ.get("SPARK_LAB_OS", own.get("VERSION_CODENAME", ""))


def enter_mount_namespace():
    """What is mounted here ends with this process."""
    if os.environ.get("SPARK_OWN_MOUNTS") != "1":
        os.environ["SPARK_OWN_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", "--", sys.executable, *sys.argv])


class FreshRoot:
    """The lab's root file system under a layer in memory."""

    def __init__(self, release):
        lower = output(LAB, "root", "networkd", "--os", release, limit_s=1200).strip()
        self.folder = tempfile.mkdtemp()
        self.path = os.path.join(self.folder, "root")
        self.mount("-t", "tmpfs", "-o", "size=2g", "package", self.folder)
        for name in ("upper", "work", "root"):
            os.mkdir(os.path.join(self.folder, name))
        self.mount("-t", "overlay", "overlay", "-o", f"lowerdir={lower},upperdir={self.folder}/upper,workdir={self.folder}/work", self.path)
        self.mount("-t", "proc", "proc", self.inside("/proc"))
        shutil.copy("/etc/resolv.conf", self.inside("/etc/resolv.conf"))
        self.write("/usr/sbin/policy-rc.d", "#!/bin/sh\nexit 101\n", 0o755)

    @staticmethod
    def mount(*words):
        speed.run(["mount", *words], 60, check=True)

    def close(self):
        speed.run(["umount", "--recursive", "--lazy", self.folder], 60, check=True)
        os.rmdir(self.folder)

    def inside(self, path):
        return self.path + path

    def write(self, path, text, mode=0o644):
        with open(self.inside(path), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.inside(path), mode)

    def run(self, *command, limit_s=60):
        proxies = {name: value for name, value in os.environ.items() if name.endswith("_proxy")}
        return speed.run(["chroot", self.path, *command], limit_s, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, env={**ENVIRONMENT, **proxies})

    def apt(self, *words):
        done = self.run("apt-get", "-y", "-o", "Dpkg::Use-Pty=0", *words, limit_s=600)
        if done.returncode != 0:
            raise AssertionError(f"apt-get {' '.join(words)}: exit {done.returncode}\n{done.stdout}")
        return done.stdout

    def list_paths(self):
        prune = [word for path in KEPT for word in ("-path", path, "-o")][:-1]
        return set(self.run("find", "/", "(", *prune, ")", "-prune", "-o", "-print").stdout.splitlines())


def make_older(package, folder):
    """The same package with a version before."""
    tree = os.path.join(folder, "tree")
    output("dpkg-deb", "--raw-extract", package, tree)
    control = os.path.join(tree, "DEBIAN", "control")
    with open(control, encoding="utf-8") as file:
        text = file.read()
    with open(control, "w", encoding="utf-8") as file:
        file.write(re.sub(r"(?m)^Version: .*$", "Version: 0.0.1-1", text))
    output("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", tree, os.path.join(folder, "older.deb"))
    shutil.rmtree(tree)


class Package(unittest.TestCase):
    """Tests run in the order of their names; each goes on from where the one before it ended."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.root = FreshRoot(RELEASE)
        cls.addClassCleanup(cls.root.close)
        shutil.copy(PACKAGE, cls.root.inside("/tmp/newer.deb"))
        make_older(PACKAGE, cls.root.inside("/tmp"))
        cls.root.apt("-qq", "update")
        cls.before = cls.root.list_paths()

    def run_inside(self, *command, expect=0):
        done = self.root.run(*command)
        self.assertEqual(done.returncode, expect, f"{' '.join(command)}\n{done.stdout}")
        return done.stdout

    def read(self, path):
        with open(self.root.inside(path), encoding="utf-8") as file:
            return file.read()

    def installed_version(self):
        return self.run_inside("dpkg-query", "--show", "--showformat", "${Version}", "spark-reconcile")

    def test_1_apt_installs_it_from_a_file_with_what_it_needs(self):
        self.root.apt("--no-install-recommends", "install", "/tmp/older.deb")
        self.assertEqual(self.installed_version(), "0.0.1-1")
        self.assertEqual(self.run_inside("dpkg", "--verify", "spark-reconcile"), "")

    def test_2_the_program_runs_without_the_source_tree(self):
        version = output("dpkg-deb", "--field", PACKAGE, "Version").strip().split("-")[0]
        self.assertRegex(self.run_inside("spark-reconcile", "version"), rf"^spark-reconcile {re.escape(version)} \(commit ")
        for name in sorted(os.listdir(self.root.inside("/usr/share/spark-reconcile/manifests"))):
            if name.endswith(".yaml"):
                self.run_inside("spark-reconcile", "validate", f"{DOC}/examples/{name}")
        self.assertIn("fabric.mtu", self.run_inside("spark-reconcile", "explain", "fabric.mtu"))

    def test_3_it_copies_the_installed_spark_verify_to_a_node(self):
        self.root.write("/tmp/cluster.yaml", MANIFEST)
        facts = json.loads(self.run_inside("sh", "-c", "spark-reconcile status --verbs --node spark-1 --format json "
                                                       "/tmp/cluster.yaml 2>/dev/null"))
        [node] = [one for one in facts["nodes"] if one["name"] == "spark-1"]
        # There is no library of RDMA in this root file system: what spark-verify itself says.
        self.assertIn("wanted libibverbs.so.1", json.dumps(node["rdma"]["verbs"]))
        self.assertFalse(os.path.exists(self.root.inside("/var/lib/spark-reconcile")))

    def test_4_spark_verify_is_there_for_both_types_of_machine(self):
        self.assertIn("spark-verify facts", self.run_inside(f"{LIBEXEC}/spark-verify", "--help"))
        path = self.root.inside(f"{LIBEXEC}/spark-verify-{OTHER_TYPE}")
        if not os.path.exists(path) and not shutil.which(f"{OTHER_TYPE}-linux-gnu-g++"):
            self.skipTest(f"built without a compiler for {OTHER_TYPE}")
        self.assertEqual(read_machine(path), OTHER_MACHINE)
        self.assertTrue(os.access(path, os.X_OK))

    def test_5_pages_completions_schemas_and_documents_are_in_their_places(self):
        commands = self.run_inside("spark-reconcile", "__complete", "--", "").split()
        self.assertIn("apply", commands)
        for name in ("spark-reconcile", *(f"spark-reconcile-{command}" for command in commands if not command.startswith("-"))):
            with gzip.open(self.root.inside(f"/usr/share/man/man1/{name}.1.gz"), "rt", encoding="utf-8") as page:
                self.assertTrue(page.readline().startswith('.TH "spark'), name)
        bash = "/usr/share/bash-completion/completions/spark-reconcile"
        self.assertIn("_spark_reconcile", self.run_inside("bash", "-c", f". {bash} && complete -p spark-reconcile"))
        self.assertTrue(self.read("/usr/share/zsh/vendor-completions/_spark-reconcile").startswith("#compdef spark-reconcile\n"))
        self.assertIn("complete -c spark-reconcile", self.read("/usr/share/fish/vendor_completions.d/spark-reconcile.fish"))
        schema = json.loads(self.read("/usr/share/spark-reconcile/schema/cluster.schema.json"))
        self.assertEqual(schema, json.loads(self.run_inside("spark-reconcile", "schema")))
        # Examples name their schema by its place beside them.
        named = re.search(r"\$schema=(\S+)", self.read("/usr/share/spark-reconcile/manifests/pair.yaml")).group(1)
        self.assertTrue(os.path.exists(self.root.inside(f"/usr/share/spark-reconcile/manifests/{named}")))
        self.assertIn("Apache License", self.read(f"{DOC}/copyright"))
        self.assertTrue(os.path.exists(self.root.inside(f"{DOC}/docs/start.md")))

    def test_6_the_list_of_parts_agrees_with_what_the_package_needs(self):
        document = json.loads(self.read(f"{DOC}/spark-reconcile.spdx.json"))
        self.assertEqual(spdx.find_mistakes(document), [])
        names = {package["SPDXID"]: package["name"] for package in document["packages"]}
        parts = {}
        for relation in document["relationships"]:
            parts.setdefault(relation["relationshipType"], set()).add(names[relation["relatedSpdxElement"]])
        self.assertEqual(parts["DESCRIBES"], {"spark-reconcile"})
        needed = {one.split()[0] for one in output("dpkg-deb", "--field", PACKAGE, "Depends").split(", ")}
        # A library may provide what is needed under the name of its interface: libspdlog1.10-fmt9.
        self.assertEqual({name for name in needed if name in parts["DYNAMIC_LINK"] or name.rsplit("-", 1)[0] in parts["DYNAMIC_LINK"]}, needed)
        self.assertLessEqual({"libyaml-cpp-dev", "libfmt-dev", "nlohmann-json3-dev", "libcli11-dev"}, parts["STATIC_LINK"])

    def test_6_a_list_of_parts_that_breaks_the_standard_is_found(self):
        text = self.read(f"{DOC}/spark-reconcile.spdx.json")
        for right, wrong in (('"DYNAMIC_LINK"', '"LINKS"'), ('"SPDXRef-libc6', '"libc6'), ('"supplier": "Person', '"supplier": "Team'),
                             ('"relatedSpdxElement": "SPDXRef-libc6', '"relatedSpdxElement": "SPDXRef-libc7'), ('T00:00:00Z', ' 00:00')):
            self.assertIn(right, text)
            self.assertNotEqual(spdx.find_mistakes(json.loads(text.replace(right, wrong, 1))), [], right)

    def test_7_the_timer_is_off_until_it_is_turned_on_and_an_upgrade_leaves_it_so(self):
        unit = f"/usr/lib/systemd/system/{TIMER}"
        self.assertEqual(self.run_inside("systemctl", "is-enabled", TIMER, expect=1), "disabled\n")
        self.assertEqual(self.run_inside("systemd-analyze", "--man=no", "verify", unit), "")
        self.root.apt("--no-install-recommends", "install", "/tmp/newer.deb")
        self.assertEqual(self.installed_version(), output("dpkg-deb", "--field", PACKAGE, "Version").strip())
        self.assertEqual(self.run_inside("systemctl", "is-enabled", TIMER, expect=1), "disabled\n")
        self.run_inside("systemctl", "enable", TIMER)
        self.root.apt("--no-install-recommends", "--allow-downgrades", "install", "/tmp/older.deb")
        self.root.apt("--no-install-recommends", "install", "/tmp/newer.deb")
        self.assertEqual(self.run_inside("systemctl", "is-enabled", TIMER), "enabled\n")

    def test_8_a_purge_leaves_nothing(self):
        self.root.apt("--purge", "autoremove", "spark-reconcile")
        self.assertEqual(self.root.list_paths() ^ self.before, set())
        self.assertNotIn("spark-reconcile", self.run_inside("find", "/var", "-path", "*spark-reconcile*"))

    def test_9_lintian_finds_no_error(self):
        debian_package.assert_no_error_of_lintian(self, PACKAGE)


def explain_skip():
    if os.geteuid() != 0:
        return "a root file system needs root"
    if RELEASE not in RELEASES:
        return f"there are root file systems of {', '.join(RELEASES)} only; SPARK_LAB_OS chooses one"
    if not PACKAGE:
        return "there is no package (cpack makes it)"
    return None


RELEASE = find_release()
PACKAGE = debian_package.find_package("build", "*.deb")

if __name__ == "__main__":
    debian_package.skip_all_if(explain_skip())
    enter_mount_namespace()
    unittest.main()
