# shellcheck shell=dash
# The primary group of the user $1, then one line per file that is there; stderr names those that are not, and why others
# are not looked at. The user looks, since a link could lead root anywhere. Only mode and owner of the private key are read.
if [ -n "${entry-}" ] && [ "${looked_up-}" = "$1" ]; then account=$entry # gathering looked it up
else account=$(getent passwd -- "$1") || return 3; fi
id -gn -- "$1" || return 4
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
  if [ -n "$why" ]; then refuse .ssh "$why"; refuse $key "cannot be reached: ~/.ssh $why"
  elif [ -L $key ]; then refuse $key "is a symbolic link"; stat -c "%n|%a|%U" .ssh
  else exec stat -c "%n|%a|%U" .ssh $key; fi
  exit 1' sh "$home"
self=
while read -r key self _; do [ "$key" != Uid: ] || break; done </proc/self/status
[ "$self" != 0 ] || [ "$uid" = 0 ] || set -- setpriv --reuid "$uid" --regid "$gid" --init-groups -- "$@"
"$@"
