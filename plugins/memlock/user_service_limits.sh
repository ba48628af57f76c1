# shellcheck shell=dash
# $1: the user. Queries the user's own manager for the limits of its services; 3: none runs.
uid=$(id -u "$1") || exit 1
group=$(id -g "$1") || exit 1
export XDG_RUNTIME_DIR="/run/user/$uid"
[ -S "$XDG_RUNTIME_DIR/systemd/private" ] || exit 3
set -- systemctl --user show --no-pager --property=DefaultLimitMEMLOCK,DefaultLimitMEMLOCKSoft
[ "$(id -u)" = "$uid" ] ||
  set -- setpriv --reuid "$uid" --regid "$group" --init-groups "$@"
exec "$@"
