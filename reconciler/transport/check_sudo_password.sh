# shellcheck shell=dash
# shellcheck disable=SC2153 # a value of TrySudoPassword
# Prints whether sudo wants no password, or takes PASSWORD, which is tried once; also where sudo remembers an earlier one.
# printf is a part of the shell: the password is no argument. The login may export a variable of either name.
# Both commands are shells: sudoers may allow these alone. The second one reads nothing, so that it takes no password for a
# command, and its input ends behind the password: sudo would take a further line for a second attempt.
unset given; given=$PASSWORD; unset PASSWORD
if LC_ALL=C sudo -n -k sh -s -- "$1" "$2" </dev/null >/dev/null 2>&1; then echo none
else printf '%s\n' "$given" | LC_ALL=C sudo -S -k -p '' sh -c : && echo taken; fi
