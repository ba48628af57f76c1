# shellcheck shell=dash
# shellcheck disable=SC2153 # a value of CheckSudoPassword
# Tries PASSWORD once, also where sudo remembers an earlier one. printf is a part of the shell: the password is no argument.
printf '%s\n' "$PASSWORD" | LC_ALL=C sudo -S -k -p '' true
