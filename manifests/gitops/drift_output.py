#!/usr/bin/env python3
"""Reads what `spark-reconcile drift --format json` printed, and writes metrics for Prometheus and JUnit XML."""

import argparse
import json
import os
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

PREFIX = "spark_reconcile_"


def make_printable(text):
    """What a node says can neither move a terminal's cursor nor break XML."""
    return "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)


def list_changes(plan, node):
    return [change for stage in plan["stages"] for change in stage["changes"] if change["node"] == node]


def list_differences(plan, node):
    """Lines for a person; None as node: what concerns the cluster as a whole."""
    lines = [f"{'blocked: ' if change['change'] == 'blocked' else ''}{change['kind']} {change['name']}"
             + (f": {change['detail']}" if change["detail"] else "") for change in list_changes(plan, node)]
    for diagnostic in plan["diagnostics"]:
        concerned = node in diagnostic["nodes"] if node else not diagnostic["nodes"]
        # The line of a blocked change has its diagnostic already.
        if concerned and diagnostic["severity"] != "informs" and not diagnostic["change"]:
            lines.append(f"{diagnostic['message']} [{diagnostic['code']}]")
    return [make_printable(line) for line in lines]


def escape_label(value):
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def format_gauge(name, description, samples):
    """`samples`: pairs of labels and a value; None is unknown and gives no line."""
    lines = [f"# HELP {PREFIX}{name} {description}", f"# TYPE {PREFIX}{name} gauge"]
    for labels, value in samples:
        if value is not None:
            text = ",".join(f'{key}="{escape_label(label)}"' for key, label in labels.items())
            lines.append(f"{PREFIX}{name}{{{text}}} {value}")
    return lines


def count(plan, node, blocked):
    """None where the node was not read: nothing is known about it."""
    if node["unreachable"]:
        return None
    return sum((change["change"] == "blocked") == blocked for change in list_changes(plan, node["name"]))


def format_metrics(plan, exit_code, now_s):
    cluster = {"cluster": plan["cluster"]}
    warnings = sum(one["severity"] == "warns" for one in plan["diagnostics"])

    def per_node(measure):
        return [({**cluster, "node": node["name"]}, measure(node)) for node in plan["nodes"]]

    return "\n".join(
        format_gauge("drift_exit_code", "Exit code of the last drift run: 0 none, 2 drift, 3 a node was not read.",
                     [(cluster, exit_code)])
        + format_gauge("drift_timestamp_seconds", "When the last drift run ended, in seconds since 1970.", [(cluster, now_s)])
        + format_gauge("drift_warnings", "Warnings below the plan.", [(cluster, warnings)])
        + format_gauge("node_reached", "1: the node was read. 0: it was not, and nothing is known about it.",
                       per_node(lambda node: 0 if node["unreachable"] else 1))
        + format_gauge("drift_changes", "Changes that an apply would make on the node.",
                       per_node(lambda node: count(plan, node, blocked=False)))
        + format_gauge("drift_blocked", "Changes that the node needs and an apply would not make.",
                       per_node(lambda node: count(plan, node, blocked=True)))) + "\n"


def format_junit(plan):
    """A node that differs is a failure, one that was not read an error."""
    suite = xml.Element("testsuite", name=f"spark-reconcile drift {plan['cluster']}")
    results = {"failure": 0, "error": 0}
    cases = [(node["name"], node["unreachable"], list_differences(plan, node["name"])) for node in plan["nodes"]]
    of_cluster = list_differences(plan, None)
    if of_cluster:
        cases.append(("cluster", "", of_cluster))
    for name, unreachable, lines in cases:
        case = xml.SubElement(suite, "testcase", classname=f"{plan['cluster']}.drift", name=name)
        if unreachable or lines:
            kind = "error" if unreachable else "failure"
            results[kind] += 1
            xml.SubElement(case, kind, message=unreachable or f"differs from the manifest: {len(lines)}").text = "\n".join(lines)
    suite.attrib.update(tests=str(len(cases)), failures=str(results["failure"]), errors=str(results["error"]))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(suite, encoding="unicode") + "\n"


def publish(path, text):
    """By a rename: whoever reads it meanwhile gets the old text or the new one. Everyone may read it."""
    beside = None
    try:
        descriptor, beside = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".drift-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except OSError as error:
        if beside:
            os.unlink(beside)
        sys.exit(f"drift_output.py: {path}: cannot be written: {error.strerror}")


def show(plan):
    for node in plan["nodes"]:
        lines = [f"not read: {node['unreachable']}"] if node["unreachable"] else list_differences(plan, node["name"])
        for line in lines or ["no drift"]:
            print(f"{node['name']}: {line}")
    for line in list_differences(plan, None):
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--exit-code", type=int, required=True)
    parser.add_argument("--metrics")
    parser.add_argument("--junit")
    options = parser.parse_args()
    plan = json.load(sys.stdin)
    for node in plan["nodes"]:
        node["unreachable"] = make_printable(node["unreachable"])
    show(plan)
    if options.metrics:
        publish(options.metrics, format_metrics(plan, options.exit_code, int(time.time())))
    if options.junit:
        publish(options.junit, format_junit(plan))


if __name__ == "__main__":
    main()
