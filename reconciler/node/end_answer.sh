# shellcheck shell=dash
# shellcheck disable=SC2154 # ANSWER comes before the script
# What follows each script of a shell that answers several: the line that ends both streams.
code=$?
printf '\n%s done %s\n' "$ANSWER" "$code"
printf '\n%s done %s\n' "$ANSWER" "$code" >&2
