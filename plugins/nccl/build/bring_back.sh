# shellcheck shell=dash
# Moves the build in $1 back that was set aside, where there is none. A plan may show the command, so that it is one line.
aside=${1%/*}/.${1##*/}; [ -e "$1" ] || [ ! -e "$aside" ] || mv -T -- "$aside" "$1"
