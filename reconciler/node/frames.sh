# shellcheck shell=dash
# The first lines of every script that runs on a node. Frames part its output: each begins with a line that no other
# output holds, on both streams.
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
umask 077
cd /
frame() { # LABEL…
  for label do shift; set -- "$@" "$NONCE" "$label"; done
  printf '\n%s %s\n' "$@"
  printf '\n%s %s\n' "$@" >&2
}
