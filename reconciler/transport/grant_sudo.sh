# shellcheck shell=dash
# shellcheck disable=SC2153,SC2016 # values of grant_sudo; quoted for the shell behind sudo
# Adds RULE to the drop-in FILE of sudoers, whose first line is MARK; a file with another first line is left alone (exit 3).
# PASSWORD is this user's for sudo: a variable of this shell, which was read from its input, and no argument of any program.
# sudo ignores a file with a dot in its name while it is checked.
unset given; given=$PASSWORD; unset PASSWORD # the login may export a variable of either name
printf '%s\n' "$given" | LC_ALL=C sudo -S -k -p '' sh -c '
  umask 077
  if [ -e "$3" ]; then old=$(cat "$3") || exit 1; else old=$1; fi
  [ "$(printf "%s\n" "$old" | head -n 1)" = "$1" ] || exit 3
  new=$(mktemp "${3%/*}/.spark-reconcile.XXXXXXXXXX") || exit 1
  trap "rm -f \"$new\"" EXIT
  { printf "%s\n" "$old" | grep -vxF -e "$2"; printf "%s\n" "$2"; } >"$new" &&
    visudo -cqf "$new" && chmod 0440 "$new" && mv -f "$new" "$3" && trap - EXIT
' sh "$MARK" "$RULE" "$FILE"
