# shellcheck shell=dash
# Sets the build in $1 aside, where read_build.sh does not see it. A revert moves it back; the guard deletes it when the apply is
# finished, and the folders above it where they are empty. A plan may show the command, so that it is one line.
aside=${1%/*}/.${1##*/}; rm -rf -- "$1.new" && printf '%s\n' "${1%/*/*}" "${1%/*}" >>"$SPARK_JOURNAL/made" && { [ ! -e "$1" ] || { rm -rf -- "$aside" && printf '%s\n' "$aside" >>"$SPARK_JOURNAL/aside" && mv -T -- "$1" "$aside"; }; }
