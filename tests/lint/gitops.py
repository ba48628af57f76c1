#!/usr/bin/env python3
"""Checks the pipelines of manifests/gitops, which no test runs: the CI files are YAML without double keys, their jobs have what
the CI system requires, shellcheck accepts their shell, and the scripts and programs that they and the units call are there."""

import configparser
import re
import subprocess

import tree

try:
    import yaml
except ImportError:
    yaml = None

FOLDER = "manifests/gitops"
# How a pipeline and a unit call our scripts.
CALL = re.compile(r"(?<![\w/])(?:gitops/|/usr/local/lib/spark-reconcile-gitops/|\$scripts/)([\w-]+(?:\.\w+)?)")
# Keys of a GitLab CI file that are no jobs.
GLOBAL = ("stages", "default", "variables", "workflow", "include")


def load(text):
    """The document, or an error for a key that stands twice, of which YAML readers keep one."""

    class Loader(yaml.SafeLoader):
        pass

    def mapping(loader, node):
        keys = [loader.construct_object(key) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"{key!r} stands twice, line {node.start_mark.line + 1}")
        return loader.construct_mapping(node, deep=True)

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return yaml.load(text, Loader)


def check_shell(place, script):
    # GitHub's ${{ … }} is replaced before a shell sees it.
    done = subprocess.run(["shellcheck", "--shell=sh", "--format=gcc", "-"], input=re.sub(r"\$\{\{.*?\}\}", "x", script),
                          capture_output=True, text=True, check=False)
    return [f"{place}: {line}" for line in (done.stdout + done.stderr).splitlines()]


def check_github(name, document):
    # YAML 1.1 reads the key `on` as true.
    triggers = document.get("on", document.get(True)) or {}
    found = [f"{name}: wanted the trigger {one}" for one in ("pull_request", "push", "schedule") if one not in triggers]
    if "pull_request_target" in triggers:
        found.append(f"{name}: pull_request_target gives the secrets to changes from forks")
    jobs = document.get("jobs", {})
    for job, body in jobs.items():
        place = f"{name}: job {job}"
        found += [f"{place}: wanted {key}" for key in ("runs-on", "environment", "steps") if key not in body]
        found += [f"{place} needs {body['needs']}, which is no job" for _ in [0] if body.get("needs", job) not in jobs]
        for step in body.get("steps", []):
            if ("run" in step) == ("uses" in step):
                found.append(f"{place}: wanted a step with one of run and uses, found {sorted(step)}")
            found += check_shell(place, step.get("run", ""))
    return found


def check_gitlab(name, document):
    found = []
    stages = document.get("stages", [])
    jobs = {job: body for job, body in document.items() if job not in GLOBAL}
    for job, body in jobs.items():
        place = f"{name}: job {job}"
        base = jobs.get(body.get("extends", job))
        if base is None:
            found.append(f"{place} extends {body['extends']}, which is not there")
            continue
        merged = {**base, **body}
        if not job.startswith("."):
            found += [f"{place}: wanted {key}" for key in ("script", "rules", "environment") if key not in merged]
        if merged.get("stage") not in stages:
            found.append(f"{place}: wanted one of the stages {stages}, found {merged.get('stage')}")
        found += [f"{place} needs {one}, which is no job" for one in body.get("needs", []) if one not in jobs]
        found += check_shell(place, "\n".join(body.get("script", []) + body.get("after_script", [])))
    return found


def check_unit(name, text):
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str
    try:
        unit.read_string(text)
    except configparser.Error as error:
        return [f"{name}: {error}"]
    wanted = {".service": ("Service", "ExecStart"), ".timer": ("Timer", "OnCalendar")}[name.suffix]
    return [] if unit.has_option(*wanted) else [f"{name}: wanted {wanted[1]} in [{wanted[0]}]"]


def check_calls(root, name, text):
    for script in CALL.findall(text):
        target = root / FOLDER / script
        if not target.is_file():
            yield f"{name}: calls {script}, which is not in {FOLDER}"
        elif target.read_bytes()[:2] != b"#!":
            yield f"{name}: calls {script}, which is no script"


def check(root):
    found = []
    names = [name for name in tree.files(root) if str(name).startswith(FOLDER + "/")]
    if not names:
        return [f"wanted pipelines in {FOLDER}, found none"]
    for name in names:
        text = tree.text(root, name)
        found += check_calls(root, name, text)
        if name.suffix in (".service", ".timer"):
            found += check_unit(name, text)
        if name.suffix != ".yml":
            continue
        try:
            document = load(text)
        except yaml.YAMLError as error:
            found.append(f"{name}: {error}")
            continue
        found += (check_gitlab if name.name.startswith("gitlab") else check_github)(name, document)
    return found


HUB = "on: {pull_request: , push: , schedule: }\njobs:\n"
RUN = "  a: {runs-on: x, environment: x, steps: [{run: %s}]}\n"
LAB = "stages: [a]\na: {stage: %s, rules: [], environment: x, script: [%s]}\n"
BAD = {
    "'a' stands twice, line 1": {f"{FOLDER}/github.yml": "a: 1\na: 2\n"},
    "wanted the trigger schedule": {f"{FOLDER}/github.yml": "on: {pull_request: , push: }\njobs: {}\n"},
    "pull_request_target gives": {f"{FOLDER}/github.yml": "on: {pull_request_target: }\n"},
    "job a: wanted environment": {f"{FOLDER}/github.yml": HUB + "  a: {runs-on: x, steps: []}\n"},
    "job a needs b": {f"{FOLDER}/github.yml": HUB + "  a: {needs: b}\n"},
    "found ['run', 'uses']": {f"{FOLDER}/github.yml": HUB + "  a: {steps: [{run: x, uses: y}]}\n"},
    "job a: -:1:6: note: Double quote": {f"{FOLDER}/github.yml": HUB + RUN % "'echo $x'"},
    "calls b.sh, which is not in": {f"{FOLDER}/github.yml": HUB + RUN % "gitops/b.sh"},
    "calls c.sh, which is no script": {f"{FOLDER}/a.service": "[Service]\nExecStart=/usr/local/lib/spark-reconcile-gitops/c.sh\n",
                                       f"{FOLDER}/c.sh": "true\n"},
    "found b": {f"{FOLDER}/gitlab-ci.yml": LAB % ("b", "'true'")},
    "job a extends .b": {f"{FOLDER}/gitlab-ci.yml": "a: {extends: .b}\n"},
    "job a: wanted script": {f"{FOLDER}/gitlab-ci.yml": "stages: [a]\na: {stage: a}\n"},
    "no section headers": {f"{FOLDER}/a.timer": "OnCalendar=daily\n"},
    "wanted OnCalendar in [Timer]": {f"{FOLDER}/a.timer": "[Timer]\n"},
    "wanted pipelines": {"a.py": "\n"},
}
GOOD = {
    f"{FOLDER}/github.yml": HUB + RUN % "'gitops/b.sh \"${{ x }}\"'",
    f"{FOLDER}/gitlab-ci.yml": LAB % ("a", "gitops/b.sh"),
    f"{FOLDER}/b.sh": "#!/bin/sh\n",
    f"{FOLDER}/a.timer": "[Timer]\nOnCalendar=daily\n",
}

if __name__ == "__main__":
    if yaml is None:
        print("skipped: python3-yaml is not installed (tests/packages names it)")
        raise SystemExit(tree.SKIPPED)
    tree.main(check, BAD, GOOD)
