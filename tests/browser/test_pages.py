"""The report and the drawing in Chromium, as their readers see them: a computer and a phone, light and dark, on paper.

Skipped without Chromium, node or npm's registry. The printed pages stay in the build folder."""

import json
import os
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(ROOT, "tests", "support"))

import children  # noqa: E402
import report_samples  # noqa: E402
import speed  # noqa: E402

children.die_with_runner()
BUILD = os.environ.get("SPARK_BINARY_DIR", os.path.join(ROOT, "build"))
PROGRAM = os.environ.get("SPARK_RECONCILE", os.path.join(BUILD, "spark-reconcile"))
MODULES = os.path.join(BUILD, "browser")
OUT = os.path.join(MODULES, "pages")
# Nothing but the drawing, so that what is printed is its size.
AROUND_SVG = ('<!DOCTYPE html><html lang="en"><title>Drawing</title><style>body {{ margin: 0 }} svg {{ display: block }}</style>'
              '<main>{}</main></html>')
MOST_PAGES = {"pair.html": 6, "eight.html": 8, "changes.html": 10}
OLDEST_NODE = 18  # that playwright-core runs with


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def find(*names):
    for name in names:
        if path := shutil.which(name):
            return path
    skip(f"{' or '.join(names)} is not installed")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def install(npm):
    """The two packages of package-lock.json, below the build folder; once."""
    done = os.path.join(MODULES, "installed.json")
    wanted = read(os.path.join(HERE, "package-lock.json"))
    if os.path.exists(done) and read(done) == wanted:
        return
    os.makedirs(MODULES, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(HERE, name), MODULES)
    got = speed.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], 120, cwd=MODULES,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    if got.returncode != 0:
        skip(f"npm ci does not get the packages: {got.stdout.strip().splitlines()[-1:]}")
    with open(done, "w", encoding="utf-8") as file:
        file.write(wanted)


def spark(*arguments, expect=0):
    done = speed.run([PROGRAM, *arguments], 60, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    assert done.returncode == expect, done.stderr
    return done.stdout


def make_pages():
    shutil.rmtree(OUT, ignore_errors=True)
    os.makedirs(OUT)
    pages = []
    for name, report in (("pair", report_samples.healthy_pair()), ("eight", report_samples.degraded_eight())):
        source = os.path.join(OUT, f"{name}.json")
        with open(source, "w", encoding="utf-8") as file:
            json.dump(report, file)
        pages.append(os.path.join(OUT, f"{name}.html"))
        spark("report", source, "--report", pages[-1])
    before = os.path.join(OUT, "before.json")
    with open(before, "w", encoding="utf-8") as file:
        json.dump(report_samples.earlier_eight(), file)
    pages.append(os.path.join(OUT, "changes.html"))
    spark("report", before, os.path.join(OUT, "eight.json"), "--report", pages[-1], expect=6)
    for case in ("leaf-spine-8", "leaf-spine-32", "ring-8-collectives-only"):
        svg = spark("graph", os.path.join(ROOT, "tests/cases/fabric", case, "cluster.yaml"), "--format", "svg")
        pages.append(os.path.join(OUT, f"{case}.svg.html"))
        with open(pages[-1], "w", encoding="utf-8") as file:
            file.write(AROUND_SVG.format(svg))
    return pages


def look():
    chromium, node, npm = find("chromium", "chromium-browser"), find("node"), find("npm")
    version = speed.run([node, "--version"], 20, stdout=subprocess.PIPE, encoding="utf-8").stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < OLDEST_NODE:
        skip(f"wanted node {OLDEST_NODE} or later, found {version}")
    install(npm)
    done = speed.run([node, os.path.join(HERE, "pages.mjs"), chromium, MODULES, OUT, *make_pages()], 240,
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def is_drawing(one):
    return ".svg." in one["page"]


class Pages(unittest.TestCase):
    maxDiff = None

    def check(self, pages, judge):
        """`judge` gets each page as it was seen."""
        pages = list(pages)
        self.assertTrue(pages)
        for one in pages:
            with self.subTest(page=one["page"], width=one["width"], scheme=one["scheme"]):
                judge(one)

    def check_reports(self, judge):
        self.check((one for one in FOUND if not is_drawing(one)), judge)

    def check_printed_reports(self, judge):
        self.check((one for one in FOUND if "paper" in one and not is_drawing(one)), judge)

    def test_nothing_is_loaded_and_the_console_is_empty(self):
        self.check(FOUND, lambda one: self.assertEqual((one["requests"], one["messages"]), ([], [])))

    def test_a_report_is_no_wider_than_the_screen(self):
        self.check_reports(lambda one: self.assertLessEqual(one["scroll_width"], one["width"]))

    def test_axe_finds_no_violation(self):
        self.check_reports(lambda one: self.assertEqual(one["violations"], []))

    def test_the_keyboard_reaches_every_region_that_scrolls_and_shows_where_it_is(self):
        self.check_reports(lambda one: self.assertGreater(one["regions"], 3))
        self.check_reports(lambda one: self.assertEqual(one["reached"], one["regions"]))

    def test_nothing_of_a_report_is_beyond_the_edge_of_the_paper(self):
        self.check_printed_reports(lambda one: self.assertEqual(one["paper"]["beyond"], []))

    def test_a_report_is_printed_on_white_and_with_its_colours(self):
        self.check_printed_reports(lambda one: self.assertEqual((one["paper"]["background"], one["paper"]["keeps_colours"]),
                                                                ("rgb(255, 255, 255)", "exact")))

    def test_a_printed_report_can_be_read(self):
        self.check_printed_reports(lambda one: self.assertGreaterEqual(one["paper"]["smallest_letters"], 9))
        self.check_printed_reports(lambda one: self.assertLessEqual(one["printed_pages"], MOST_PAGES[one["page"]]))

    def test_a_drawing_prints_on_one_page(self):
        self.check((one for one in FOUND if is_drawing(one) and "paper" in one), lambda one: self.assertEqual(one["printed_pages"], 1))


if __name__ == "__main__":
    FOUND = look()
    unittest.main()
