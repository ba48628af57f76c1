#!/bin/sh
# Runs a command with a login of its own: the private key in $SPARK_SSH_KEY and the host keys in the file
# $SPARK_KNOWN_HOSTS. Both lie in a temporary home that is removed at the end. Exit code: that of the command.
set -eu

[ $# -gt 0 ] || { echo "usage: login.sh COMMAND [ARGUMENT...]" >&2; exit 1; }
: "${SPARK_SSH_KEY:?login.sh: wanted the private key of the login, found nothing}"
: "${SPARK_KNOWN_HOSTS:?login.sh: wanted a file of host keys, found nothing}"

umask 077
HOME=$(mktemp -d)
export HOME
trap 'rm -rf "$HOME"' EXIT
# The command ends first, and this shell waits for it: an apply that is interrupted is reverted.
trap : HUP INT TERM
mkdir "$HOME/.ssh"
# A variable of a CI system may have lost the last newline, which OpenSSH requires.
printf '%s\n' "$SPARK_SSH_KEY" >"$HOME/.ssh/id_ed25519"
cp "$SPARK_KNOWN_HOSTS" "$HOME/.ssh/known_hosts"
unset SPARK_SSH_KEY SSH_AUTH_SOCK

code=0
"$@" || code=$?
exit "$code"
