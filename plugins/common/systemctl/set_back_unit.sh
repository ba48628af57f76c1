# shellcheck shell=dash
# Sets the unit $1 back by `systemctl` with the words behind it. A unit that is gone, as with its package, has nothing to
# set back: it can only be stopped where it still runs, and lose its links. This is decided now, since the same apply may
# have removed its package. A plan may show the command, so that it is one line.
unit=$1; shift; state=$(systemctl show --property=LoadState,ActiveState -- "$unit") || exit; case $state in *LoadState=not-found*) ;; *) exec systemctl "$@" -- "$unit" ;; esac; case "$* $state" in *stop\ *ActiveState=inactive* | *stop\ *ActiveState=failed*) ;; *stop\ *) exec systemctl "$@" -- "$unit" ;; *disable\ *) systemctl "$@" -- "$unit" || : ;; esac
