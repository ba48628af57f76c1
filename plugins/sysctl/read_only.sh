# shellcheck shell=dash
# Each of the files that are given as arguments, with "r" before those that are there and cannot be written, as in a
# container, and "-" before the others. The kernel says so when a file is opened, and nothing is written; the `[ -w` of some
# shells looks at the mode alone.
for file do
  shift
  if [ ! -e "$file" ] || { true >>"$file"; } 2>/dev/null; then set -- "$@" "- $file"
  else set -- "$@" "r $file"; fi
done
[ $# -eq 0 ] || printf '%s\n' "$@"
