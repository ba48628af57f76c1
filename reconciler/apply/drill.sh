# shellcheck shell=dash
# shellcheck disable=SC2046 # one line
# What a drill makes on a node, and what it compares afterwards.

keep() { mkdir -p "${1%/*}" && printf '%s' "$2" >"$1"; } # PATH CONTENT

# Name, bytes, mode, owner and time of all that the drill touches, one line each; "absent" where there is nothing.
print_state() { # PATH
  if [ -e "$1" ]; then echo "$1 $(stat -c '%a %u:%g %y' "$1") $(sha256sum <"$1")"; else echo "$1 absent"; fi
}
print_value() { echo "$1" $(sysctl -n "$1"); }
