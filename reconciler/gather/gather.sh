# shellcheck shell=dash
# shellcheck disable=SC2154 # T is what resolve of home_path.sh finds
# Functions that read a node in one go; the calls follow. Values: ROOT, a folder that stands for /, LARGEST in bytes. $1 of
# the script is $SSH_CONNECTION.
frame session
printf '%s' "$1"

# Sorts every candidate into F (regular, to be read), L (link), D (not there), U (not readable), O (something else).
look() {
  if [ -L "$1" ]; then t=L
  elif [ -f "$1" ]; then if [ -r "$1" ]; then t=F; else t=U; fi
  elif [ -e "$1" ]; then t=O
  elif [ -d "${1%/*}" ] && [ ! -x "${1%/*}" ]; then t=U
  else t=D; fi
  printf '%s %s\0' "$t" "$1"
}

# Read between two looks: when both agree, nothing changed in between and the sizes are true.
read_between_looks() { # FILE…
  frame stat
  [ $# -eq 0 ] || stat --printf '%s %a %U %G %i %y %n\0' -- "$@"
  frame content
  [ $# -eq 0 ] || head -q -c "$LARGEST" -- "$@"
  frame again
  [ $# -eq 0 ] || stat --printf '%s %a %U %G %i %y %n\0' -- "$@"
}

# FILES and LISTS say how many there are of the first and the last. What is to be read is collected at the end of the
# arguments, while they are taken from the front. A list names further files: no process more than the list itself, and
# no file twice.
gather_files() { # FILES LISTS FILE… MATCH… LIST…
  files=$1; lists=$2; shift 2
  matches=$(($# - files - lists))
  frame files
  while [ "$files" -gt 0 ]; do
    files=$((files - 1))
    resolve "$1" "$ROOT"; shift
    look "$T"
    [ $t != F ] || set -- "$@" "$T"
  done
  while [ "$matches" -gt 0 ]; do
    matches=$((matches - 1))
    path=$1; shift
    [ -e "$path" ] || continue
    look "$path"
    [ $t != F ] || set -- "$@" "$path"
  done
  while [ "$lists" -gt 0 ]; do
    lists=$((lists - 1))
    list=$1; shift
    look "$list"
    [ $t = F ] || continue
    set -- "$@" "$list"
    while IFS= read -r listed; do
      resolve "$listed" "$ROOT"
      for have do [ "$have" != "$T" ] || continue 2; done
      look "$T"
      [ $t != F ] || set -- "$@" "$T"
    done <"$list"
  done
  read_between_looks "$@"
}

gather_values() { # FILE…
  frame values
  [ $# -eq 0 ] || grep -aHZ -m1 '' "$@"
}

gather_command() { # ID LIMIT_S ARGV…
  id=$1; shift
  frame "command $id"
  timeout -k 1 "$@" </dev/null; r=$?
  frame "exit $r"
}
