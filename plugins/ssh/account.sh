# shellcheck shell=dash
# "NAME|MODE|OWNER|GROUP" of the process that looks and of each file that is there, in the home of the user $1; stderr names
# those that are not there, and why others are not looked at. The user looks, since a link could lead root anywhere. The
# process has the user's primary group, and so has its folder in /proc. Of the private key nothing more is read.
if [ -n "${entry-}" ] && [ "${looked_up-}" = "$1" ]; then account=$entry # gathering looked it up
else account=$(getent passwd -- "$1") || return 3; fi
IFS=: read -r _ _ uid gid _ home _ <<END
$account
END
# shellcheck disable=SC2016 # for the user's own shell
set -- sh -c '
  cd -- "$1" || exit 5
  refuse() { printf "\047%s\047 %s\n" "$1" "$2" >&2; }
  key=.ssh/id_ed25519_spark
  why=
  if [ -L .ssh ]; then why="is a symbolic link"
  elif [ -e .ssh ] && [ ! -d .ssh ]; then why="is not a directory"; fi
  set -- /proc/self/
  if [ -n "$why" ]; then refuse .ssh "$why"; refuse $key "cannot be reached: ~/.ssh $why"
  elif [ -L $key ]; then refuse $key "is a symbolic link"; set -- "$@" .ssh
  else set -- "$@" .ssh $key; fi
  exec stat -c "%n|%a|%U|%G" "$@"' sh "$home"
self=
while read -r key self _; do [ "$key" != Uid: ] || break; done </proc/self/status
[ "$self" = 0 ] || [ "$self" = "$uid" ] || printf '/proc/self/|0|%s|%s\n' "$1" "$(id -gn -- "$1")" # we stay who we are
[ "$self" != 0 ] || [ "$uid" = 0 ] || set -- setpriv --reuid "$uid" --regid "$gid" --init-groups -- "$@"
"$@"
