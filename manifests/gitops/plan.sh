#!/bin/sh
# Validates a manifest and plans it. FOLDER gets plan.json, which apply.sh takes, and comment.md, which is for the page
# of the change. plan.json is missing where there is nothing to review. Exit code: that of spark-reconcile.
set -eu

[ $# = 2 ] || { echo "usage: plan.sh MANIFEST FOLDER" >&2; exit 1; }
manifest=$1 folder=$2
# Bytes. GitHub takes 65536 characters per comment.
longest=60000

mkdir -p "$folder"
rm -f "$folder/plan.json"

fence() { printf '\n```\n'; cat; printf '```\n'; }

# The page of a change is no place for a plan of any length.
shorten() {
  head -c "$longest" "$folder/shown"
  if [ "$(wc -c <"$folder/shown")" -gt "$longest" ]; then
    printf '\n\nThe rest of the plan is left out here. It is in the log of the job.\n'
  fi
}

code=0
spark-reconcile validate "$manifest" >"$folder/shown" 2>&1 || code=$?
if [ "$code" != 0 ]; then
  cat "$folder/shown" >&2
  { echo "**The manifest is not valid.** Nothing was planned."; fence <"$folder/shown"; } >"$folder/comment.md"
  rm -f "$folder/shown"
  exit "$code"
fi

spark-reconcile plan "$manifest" --format markdown --out "$folder/plan.json" >"$folder/shown" 2>"$folder/errors" ||
  code=$?
cat "$folder/shown"
cat "$folder/errors" >&2
{
  shorten
  if [ "$code" != 0 ]; then
    printf '\n**Exit code %s: there is no plan that can be applied.**\n' "$code"
    fence <"$folder/errors"
  fi
} >"$folder/comment.md"
# A plan of some nodes, or one that apply refuses, is not what a reviewer should approve.
[ "$code" = 0 ] || rm -f "$folder/plan.json"
rm -f "$folder/shown" "$folder/errors"
exit "$code"
