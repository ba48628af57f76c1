"""The commands of README.md and docs/*.md that need nodes, run as they stand there on two nodes: page after page, as a reader would.

The first page begins in an empty folder with nodes fresh from installation, the others with the pair's manifest applied. A node of the
lab sets neither net.core.* nor a higher limit of locked memory, so that after each command a manifest gets other values for these."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from spark_lab import LAB, PROGRAM, ROOT, LabTest, speed  # noqa: E402

import doc_blocks  # noqa: E402

KIND = "lab pair"
FOR_LAB = ("sed -i -e 's/^  net.core.rmem_max: .*/  net.ipv4.tcp_mtu_probing: 1/' -e '/^  net.core.wmem_max: /d' "
           "-e 's/^memlock: unlimited/memlock: 4096/'")
ADAPT = f"[ ! -e cluster.yaml ] || {FOR_LAB} cluster.yaml"


class Docs(LabTest):
    options = ("--topology", "direct")

    def test_commands_on_two_nodes_run_as_written(self):
        first = True
        for name in doc_blocks.pages():
            with tempfile.TemporaryDirectory() as temporary:
                folder = pathlib.Path(temporary)
                page = doc_blocks.Page(name, folder, KIND, lambda script, folder=folder: self.run_script(folder, script), ADAPT)
                if not page.has_commands():
                    continue
                with self.subTest(page=name):
                    if not first:
                        self.apply_pair(folder)
                    first = False
                    failures = page.failures()
                    self.assertFalse(failures, "\n".join(failures))
                    print(f"{name}: ran as written", flush=True)
        self.assertFalse(first, "no page has commands for the lab")

    def run_script(self, folder, script):
        path = os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]
        return speed.run([LAB, "exec", "--run", self.lab.run, "--", "env", f"PATH={path}", "bash", "-c", script], 900, cwd=folder,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def apply_pair(self, folder):
        (folder / "manifests").symlink_to(os.path.join(ROOT, "manifests"))
        done = self.run_script(folder, f"cp manifests/pair.yaml cluster.yaml; {ADAPT}\n"
                               "spark-reconcile apply cluster.yaml --yes --brief --no-verify")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
