# shellcheck shell=dash
# shellcheck disable=SC2046 # one line
# Name, bytes, mode, owner and time of all that the drill touches, one line each; "absent" where there is nothing.
look() {
  if [ -e "$1" ]; then echo "$1 $(stat -c '%a %u:%g %y' "$1") $(sha256sum <"$1")"; else echo "$1 absent"; fi
}
look_at_value() { echo "$1" $(sysctl -n "$1"); }
