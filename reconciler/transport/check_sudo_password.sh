# shellcheck shell=dash
# shellcheck disable=SC2153 # a value of TrySudoPassword
# Prints whether sudo wants no password, or takes PASSWORD, which is tried once; also where sudo remembers an earlier one.
# printf is a part of the shell: the password is no argument. The login may export a variable of either name.
unset given; given=$PASSWORD; unset PASSWORD
if LC_ALL=C sudo -n -k true 2>/dev/null; then echo none
else printf '%s\n' "$given" | LC_ALL=C sudo -S -k -p '' true && echo taken; fi
