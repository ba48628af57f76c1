# shellcheck shell=dash
# Removes the build in $1, and the folders above it where they are empty. A plan may show the command, so that it is one line.
rm -rf -- "$1" "$1.new" && { rmdir -- "${1%/*}" "${1%/*/*}" 2>/dev/null || :; }
