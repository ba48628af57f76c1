# shellcheck shell=dash
# The NCCL that programs load, or the one at $1. The first line is its path, then the variables that it knows and its
# version; no line: there is no such library.
lib=$1
if [ -z "$lib" ]; then
  for ldconfig in ldconfig /sbin/ldconfig; do
    lib=$($ldconfig -p 2>/dev/null | sed -n 's/^[[:space:]]*libnccl\.so\.2 .* => //p' | head -n 1)
    [ -z "$lib" ] || break
  done
fi
[ -n "$lib" ] && [ -e "$lib" ] || exit 0
{ printf '%s\n' "$lib"
grep -aoE 'NCCL_[A-Z0-9_]+|NCCL version [0-9]+[.][0-9]+[.][0-9]+' -- "$lib"; } | sort -u
