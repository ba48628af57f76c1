"""report: saved reports of verify again, and two of them compared; graph with a report. No node is queried."""

import copy
import json
import os
import unittest
from xml.etree import ElementTree

import jsonschema

from spark_cli import ROOT, CliTest

import report_samples


class Reports(CliTest):
    def save(self, name, report):
        self.write(name, json.dumps(report))

    def setUp(self):
        super().setUp()
        self.today = report_samples.healthy_pair()
        self.save("today.json", self.today)
        self.yesterday = report_samples.healthy_pair(began="2026-11-23T03:12:05Z")
        self.save("yesterday.json", self.yesterday)

    def test_the_samples_are_reports(self):
        with open(os.path.join(ROOT, "schema/report.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.validate(self.today, schema)
        jsonschema.validate(report_samples.degraded_eight(), schema)

    def test_a_saved_report_is_shown_in_every_form(self):
        text = self.spark("report", "today.json")
        self.assert_ends(text, 0, err="")
        self.assertTrue(text.stdout.startswith("homelab · verify up to nccl\n\nfacts: 24 passed, 0 failed"), text.stdout)
        markdown = self.spark("report", "today.json", "--format", "markdown", "--junit", "junit.xml", "--report", "page.html")
        self.assert_ends(markdown, 0, err="")
        self.assertTrue(markdown.stdout.startswith("# Verification of homelab: passed\n"))
        self.assertEqual(ElementTree.fromstring(self.read("junit.xml")).get("failures"), "0")
        self.assertIn("<h1>homelab: passed</h1>", self.read("page.html"))
        again = self.spark("report", "today.json", "--format", "json")
        self.assertEqual({**json.loads(again.stdout), "time": self.today["time"]}, self.today)

    def test_a_report_of_a_failure_is_shown_with_exit_code_0(self):
        self.save("eight.json", report_samples.degraded_eight())
        self.assertEqual(self.spark("report", "eight.json").returncode, 0)

    def test_two_equal_reports_end_with_0(self):
        done = self.spark("report", "yesterday.json", "today.json")
        self.assert_ends(done, 0, err="", out="""\
homelab: 2026-11-24 03:12 UTC compared with 2026-11-23 03:12 UTC
nothing got worse

78 figures are the same: bandwidths within 5 %, times within 20 %
""")

    def test_what_got_slower_ends_with_6_and_is_named_with_unit_and_per_cent(self):
        for check in self.today["checks"]:
            if check["what"] == "write-together" and check["from"] == "spark-1":
                check["gbps"] /= 2
        self.today["facts"]["spark-1"]["kernel"] = "6.17.0-1001-nvidia"
        self.save("today.json", self.today)
        done = self.spark("report", "yesterday.json", "today.json")
        self.assert_ends(done, 6, err="")
        self.assertIn("""\
worse: 2 figures are slower

slower since 2026-11-23 03:12 UTC
""", done.stdout)
        self.assertRegex(done.stdout, r"write-together spark-1 to spark-2 on rail0  [\d.]+ → [\d.]+ Gb/s  -50\.0 %\n")
        self.assertIn("  kernel  6.11.0-1016-nvidia → 6.17.0-1001-nvidia  on spark-1\n", done.stdout)
        self.assertEqual(self.spark("report", "yesterday.json", "today.json", "--noise", "60").returncode, 0)
        markdown = self.spark("report", "yesterday.json", "today.json", "--format", "markdown")
        self.assert_ends(markdown, 6, err="")
        self.assertIn("## slower since 2026-11-23 03\\:12 UTC\n", markdown.stdout)

    def test_what_was_not_measured_again_ends_with_7(self):
        del self.today["nccl"]
        self.save("today.json", self.today)
        self.assertEqual(self.spark("report", "yesterday.json", "today.json").returncode, 7)

    def test_a_file_that_is_no_report_is_refused_with_its_place(self):
        cases = {
            "none.json": "none.json: cannot be read: No such file or directory\n",
            "empty.json": "empty.json: not valid JSON: ",
            "other.json": "other.json: /format: wanted spark-reconcile/report/1, found spark-reconcile/plan/1\n",
            "bad.json": "bad.json: /checks/0/outcome: unknown word \"good\"\n",
        }
        self.write("empty.json", "")
        self.save("other.json", {"format": "spark-reconcile/plan/1"})
        bad = copy.deepcopy(self.today)
        bad["checks"][0]["outcome"] = "good"
        self.save("bad.json", bad)
        for name, said in cases.items():
            for arguments in ((name,), (name, "today.json"), ("today.json", name)):
                with self.subTest(arguments):
                    done = self.spark("report", *arguments)
                    self.assert_ends(done, 1, out="")
                    self.assertTrue(done.stderr.startswith(said), done.stderr)

    def test_two_reports_are_a_page_too(self):
        self.save("today.json", {**self.today, "facts": report_samples.facts_of(["spark-1", "spark-2"], "6.17.0-1001-nvidia")})
        text = self.spark("report", "yesterday.json", "today.json")
        done = self.spark("report", "yesterday.json", "today.json", "--report", "page.html")
        self.assert_ends(done, 0, out=text.stdout, err="")
        page = self.read("page.html")
        self.assertIn("<h1>homelab: nothing got worse</h1>", page)
        self.assertIn("<td>6.11.0-1016-nvidia</td><td>6.17.0-1001-nvidia</td><td>spark-1, spark-2</td>", page)
        self.assert_ends(self.spark("report", "yesterday.json", "today.json", "--report", "none/page.html"), 1, out="",
                         err="none/page.html: cannot be written: No such file or directory\n")

    def test_two_reports_are_no_junit_and_no_metrics(self):
        for more in (("--junit", "junit.xml"), ("--prometheus", "today.prom")):
            self.assert_ends(self.spark("report", "yesterday.json", "today.json", *more), 1, out="",
                             err="two reports are compared as text, markdown, JSON or a page only\n")

    def test_a_comparison_is_json_by_its_schema(self):
        with open(os.path.join(ROOT, "schema/comparison.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        for check in self.today["checks"]:
            if check["what"] == "write-together" and check["from"] == "spark-1":
                check["gbps"] /= 2
        self.today["findings"] = report_samples.degraded_eight()["findings"][:1]
        self.today["facts"]["spark-1"]["kernel"] = "6.99"
        self.save("today.json", self.today)
        for files, code in ((("yesterday.json", "today.json"), 6), (("yesterday.json", "yesterday.json"), 0)):
            done = self.spark("report", *files, "--format", "json")
            self.assertEqual(done.returncode, code, done.stderr)
            comparison = json.loads(done.stdout)
            jsonschema.validate(comparison, schema)
            self.assertEqual(comparison["exit_code"], code)
        done = json.loads(self.spark("report", "yesterday.json", "today.json", "--format", "json").stdout)
        self.assertEqual({change["percent"] for change in done["slower"]}, {-50.0})
        self.assertEqual([finding["code"] for finding in done["findings"]["worse"]], ["hca-degraded"])
        self.assertEqual([change["after"] for change in done["facts"]], ["6.99"])

    def test_reports_of_two_clusters_are_not_compared(self):
        self.save("today.json", {**self.today, "cluster": "office"})
        self.assert_ends(self.spark("report", "yesterday.json", "today.json"), 1, out="",
                         err="wanted two reports of one cluster, found homelab and office\n")

    def test_a_page_that_cannot_be_written_is_an_error(self):
        done = self.spark("report", "today.json", "--report", "none/page.html")
        self.assert_ends(done, 1, out="", err="none/page.html: cannot be written: No such file or directory\n")

    def test_a_report_that_is_read_is_not_overwritten(self):
        before = self.read("today.json")
        for files in (("today.json",), ("today.json", "yesterday.json"), ("yesterday.json", "today.json")):
            self.assert_ends(self.spark("report", *files, "--report", "./today.json"), 1, out="", err="""\
./today.json: is the report that is read
  hint: name another file with --report
""")
            self.assertEqual(self.read("today.json"), before)


class GraphWithReport(CliTest):
    def setUp(self):
        super().setUp()
        report = report_samples.healthy_pair()
        self.write("report.json", json.dumps({**report, "cluster": "lab"}))
        self.write("other.json", json.dumps(report))

    def test_each_cable_has_the_colour_and_the_figure_of_what_it_carried(self):
        for kind, colour in (("svg", 'stroke="#'), ("dot", ', color="#'), ("mermaid", "linkStyle 0 stroke:#")):
            with self.subTest(kind):
                done = self.spark("graph", "--format", kind, "--report", "report.json")
                self.assert_ends(done, 0, err="")
                self.assertRegex(done.stdout, r"1\d\d\.\d of 200 Gb/s")
                self.assertIn(colour, done.stdout)
                self.assertNotIn(" of 200 Gb/s", self.spark("graph", "--format", kind).stdout)

    def test_text_has_no_colours(self):
        self.assert_ends(self.spark("graph", "--report", "report.json"), 1, out="",
                         err="--report goes with a drawing: it needs --format svg, dot, mermaid or json\n")

    def test_the_report_is_of_the_manifests_cluster(self):
        self.assert_ends(self.spark("graph", "--format", "svg", "--report", "other.json"), 1, out="",
                         err="other.json: is of cluster homelab, and the manifest describes lab\n")
        self.assert_ends(self.spark("graph", "--format", "svg", "--report", "none.json"), 1, out="",
                         err="none.json: cannot be read: No such file or directory\n")


if __name__ == "__main__":
    unittest.main()
