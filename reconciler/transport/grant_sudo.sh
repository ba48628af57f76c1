# shellcheck shell=dash
# shellcheck disable=SC2153,SC2016 # values of grant_sudo; quoted for the shell behind sudo
# Writes RULE to the drop-in FILE of sudoers. PASSWORD is this user's for sudo: a variable of this shell, which was read from
# its input, and no argument of any program. sudo ignores a file with a dot in its name while it is checked.
printf '%s\n' "$PASSWORD" | LC_ALL=C sudo -S -k -p '' sh -c '
  umask 077
  new=$(mktemp "${2%/*}/.spark-reconcile.XXXXXXXXXX") || exit 1
  trap "rm -f \"$new\"" EXIT
  printf "%s" "$1" >"$new" && visudo -cqf "$new" && chmod 0440 "$new" && mv -f "$new" "$2" && trap - EXIT
' sh "$RULE" "$FILE"
