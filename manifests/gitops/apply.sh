#!/bin/sh
# Applies the plan in FOLDER/plan.json, which plan.sh saved and a person reviewed, to the nodes of a manifest.
# FOLDER/events.ndjson gets the events. Exit code: that of spark-reconcile.
set -eu

[ $# = 2 ] || { echo "usage: apply.sh MANIFEST FOLDER" >&2; exit 1; }
manifest=$1 plan=$2/plan.json events=$2/events.ndjson

if [ ! -f "$plan" ]; then
  echo "apply.sh: wanted a reviewed plan in $plan, found none; nothing was changed" >&2
  echo "  next step: run plan.sh on this commit, review what it shows, then run apply.sh again" >&2
  exit 1
fi

code=0
spark-reconcile apply "$plan" --manifest "$manifest" --yes --brief --events "$events" || code=$?
if [ "$code" = 8 ]; then
  echo "apply.sh: the plan is stale; nothing was changed" >&2
  echo "  next step: run plan.sh on this commit, review what it shows, then run apply.sh again" >&2
fi
exit "$code"
