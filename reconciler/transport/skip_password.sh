# shellcheck shell=dash
# Run by `sudo -S`, which reads the password from the input, but leaves it there where it wants none. No shell may take it for a
# command: what comes before the line that begins the script is passed over. $1 and $2 are those of the shell that follows.
until IFS= read -r line || exit 1; [ "$line" = "the script begins here" ]; do :; done; exec sh -s -- "$1" "$2"
