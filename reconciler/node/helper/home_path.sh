# shellcheck shell=dash
# shellcheck disable=SC2034,SC2154 # d is the caller's, who reads self_group; HOME_FILES is the text of home_files.sh
# Functions over the file $T of a step in $d. What lies below a user's home is read and written by that user alone (see
# home_files.sh), everything else by us. `same`, `put` and `read_text` are journal.sh's.
looked_up=
entry=
ROOT= # a folder that stands for /

# Sets `self` and `self_group` to the numbers of the user and the group that this shell runs as.
find_self() {
  while read -r self_key _ self_number _; do
    case $self_key in Uid:) self=$self_number ;; Gid:) self_group=$self_number; break ;; esac
  done </proc/self/status
}

# Sets T to the path with ~USER's home put in and ROOT before it, or to nothing when the node has no such user. Below a home
# `user`, `home` and `below` say which; `user` is empty for any other path.
resolve() { # PATH ROOT
  case "$1" in
    '~'*)
      user=${1#'~'}; user=${user%%/*}; below=${1#*/}
      if [ "$user" != "$looked_up" ]; then
        home=; looked_up=$user; find_self
        entry=$(getent passwd -- "$user")
        IFS=: read -r _ _ uid gid _ home _ <<EOF
$entry
EOF
      fi
      if [ -n "$home" ]; then T=$2$home/$below; else T=; fi ;;
    *) user=; T=$2$1 ;;
  esac
}

# Sets `mount` to the place of the file system that the home lies on, by its path alone: a request to one on another machine
# may never end.
find_home_mount() {
  mount=/
  while read -r _ _ _ _ at _; do
    case $ROOT$home/ in "$at"/*) [ "${#at}" -le "${#mount}" ] || mount=$at ;; esac
  done <"${MOUNTS:-/proc/self/mountinfo}"
}

# Sets T and `user` for the step in $d.
load_target() {
  if [ -e "$d/home" ]; then read_text "$d/home"; resolve "$text" ''
  else read_text "$d/path"; user=; T=$text; fi
  [ -n "$T" ]
}

# What this shell waits for has a limit, unless this shell has one itself.
together=
within() { # SECONDS COMMAND…, which takes the place of the shell that calls it
  if [ -n "$together" ]; then shift; exec "$@"; fi
  exec timeout -k 1 "$@"
}

# One of home_files.sh's verbs, as the user. Root alone can become another user; without it we stay who we are. Our locks
# are not handed on. It takes the place of the shell that calls it, one of a pipeline.
in_home() { # VERB ARG…
  set -- sh -c "$HOME_FILES" home_files "$ROOT$home" "$@"
  [ "$self" != 0 ] || [ "$uid" = 0 ] || set -- setpriv --reuid "$uid" --regid "$gid" --init-groups -- "$@"
  within 10 "$@" 8>&- 9>&-
}

# The same with the content of FILE on stdin, through a pipe: no descriptor of ours is handed on but /dev/null. Sets `answer`.
request_home() { # FILE VERB ARG…
  content=$1; shift
  if [ "$content" = /dev/null ]; then answer=$(in_home "$@" 2>/dev/null </dev/null | timeout -k 1 12 head -c 4000)
  else answer=$(cat -- "$content" | in_home "$@" 2>/dev/null | timeout -k 1 12 head -c 4000); fi
  [ -n "$answer" ] || answer="nothing could be done as $user below $home"
  [ "$answer" = ok ]
}

# Copies the file to TO, with mode, owner and times. Non-zero: `answer` says why, or "absent" and the component that is not
# there.
fetch_home() { # TO
  answer=$(in_home fetch "$below" 1048576 2>/dev/null </dev/null | timeout -k 1 12 head -c 1050000 |
    { IFS= read -r found; printf '%s' "$found"; case $found in 'file '*) exec cat >"$1" ;; esac; })
  [ -n "$answer" ] || answer="nothing could be read as $user below $home"
  case $answer in
    "file "*[!0-9.\ ]*) answer="$T: an answer that is not understood"; return 1 ;;
    "file "*) ;;
    *) return 1 ;;
  esac
  # shellcheck disable=SC2086 # five words
  set -- "$1" $answer
  [ "$(stat -c %s -- "$1")" = "$5" ] || { answer="$T was changed while it was read"; return 1; }
  chown -- "$uid:$4" "$1" && chmod -- "$3" "$1" && touch -d "@$6" -- "$1" || { answer="no copy of $T could be kept"; return 1; }
}

put_home() { # FILE [VERB]
  # shellcheck disable=SC2046 # four words
  request_home "$1" "${2:-put}" "$below" $(stat -c '%a %g %s %.Y' -- "$1")
}

is_target() { # FILE
  [ -e "$1" ] || return 1
  if [ -z "$user" ]; then answer=differs; same "$1" "$T" 2>/dev/null
  else request_home "$1" compare "$below" "$(stat -c '%a %u %g' -- "$1")"; fi
}
is_absent() {
  if [ -z "$user" ]; then answer=differs; [ ! -e "$T" ]
  else request_home /dev/null find_nothing "$below"; fi
}
keep_target() { # FILE
  if [ -z "$user" ]; then cp -p -- "$T" "$1"; else fetch_home "$1"; fi
}
put_target() { # FILE
  if [ -z "$user" ]; then put "$1" "$T"; else put_home "$1"; fi
}
remove_target() {
  if [ -z "$user" ]; then rm -f -- "$T" && { [ ! -d "${T%/*}" ] || sync "${T%/*}"; }
  else request_home /dev/null remove "$below"; fi
}
