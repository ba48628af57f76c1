"""The commands of README.md and docs/*.md that need no node, run as they stand there."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from spark_cli import PROGRAM, ROOT, speed

import doc_blocks


def run_pages(kind, prepare, run, after_each=""):
    """Runs each page's commands of this kind in a folder of its own; returns what does not hold."""
    failures = []
    for name in doc_blocks.pages():
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            page = doc_blocks.Page(name, folder, kind, lambda script, folder=folder: run(folder, script), after_each)
            if page.has_commands():
                prepare(folder)
                failures += page.failures()
    return failures


def prepare(folder):
    """What the pages begin with: the examples, and the pair as cluster.yaml."""
    shutil.copytree(os.path.join(ROOT, "manifests"), folder / "manifests")
    shutil.copytree(os.path.join(ROOT, "schema"), folder / "schema")
    shutil.copy(folder / "manifests" / "pair.yaml", folder / "cluster.yaml")


def run(folder, script):
    environment = {**os.environ, "HOME": str(folder), "PATH": os.path.dirname(PROGRAM) + ":" + os.environ["PATH"]}
    return speed.run(["bash", "-c", script], 60, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")


class Docs(unittest.TestCase):
    def test_commands_that_need_no_node_run_as_written(self):
        failures = run_pages("no nodes", prepare, run)
        self.assertFalse(failures, "\n".join(failures))


class Runner(unittest.TestCase):
    """The runner itself can fail."""

    def fail(self, text, kind="no nodes"):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            (folder / "a.md").write_text(text, encoding="utf-8")
            page = doc_blocks.Page("a.md", folder, kind, lambda script: run(folder, script), root=folder)
            return "\n".join(page.failures())

    def test_another_exit_code_than_the_comment_says_fails(self):
        self.assertIn("line 4: wanted exit 0 or 2: false", self.fail(
            "<!-- run: no nodes -->\n```sh\ntrue\nfalse   # exit 0 or 2\n```\n"))
        self.assertIn("line 3: wanted exit 0: false", self.fail("<!-- run: no nodes -->\n```sh\nfalse\n```\n"))
        self.assertEqual("", self.fail("<!-- run: no nodes -->\n```sh\nfalse   # exit 1: as expected\n```\n"))

    def test_commands_of_another_kind_are_not_run(self):
        self.assertEqual("", self.fail("<!-- run: lab pair -->\n```sh\nfalse\n```\n<!-- not run: no -->\n```sh\nfalse\n```\n"))

    def test_output_that_is_not_printed_in_this_order_fails(self):
        block = "<!-- run: no nodes -->\n```sh\nseq 3\n```\n\n<!-- output -->\n```text\n"
        self.assertEqual("", self.fail(block + "1\n…\n3\n```\n"))
        self.assertIn("print no line '1'", self.fail(block + "3\n1\n```\n"))

    def test_a_file_block_is_there_for_the_commands_after_it(self):
        self.assertEqual("", self.fail(
            "<!-- file: a.yaml -->\n```yaml\na: b\n```\n<!-- run: no nodes -->\n```sh\ngrep -qx 'a: b' a.yaml\n```\n"))


if __name__ == "__main__":
    unittest.main()
