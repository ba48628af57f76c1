# shellcheck shell=dash
# shellcheck disable=SC2154 # user, home, looked_up and entry are what resolve of home_path.sh finds
# Functions that read a node in one go; the calls follow. Values: ROOT, a folder that stands for /, LARGEST in bytes, LONG and
# PARTS, see read_contents, and `together`, see gather_command.

# Sorts a candidate into F (regular, to be read), L (link), N (link to /dev/null), D (not there), U (not readable), O (something
# else): sets t.
look() { # FILE
  if [ -L "$1" ]; then if [ "$1" -ef /dev/null ]; then t=N; else t=L; fi
  elif [ -f "$1" ]; then if [ -r "$1" ]; then t=F; else t=U; fi
  elif [ -e "$1" ]; then t=O
  elif [ -d "${1%/*}" ] && [ ! -x "${1%/*}" ]; then t=U
  else t=D; fi
}

# At most LARGEST of each file. LONG may have more: it is read as stdin, in as many parts as PARTS has words, since one process
# reads all files.
read_contents() { # FILE…
  stdin=/dev/null
  for path do
    shift
    # shellcheck disable=SC2086 # several words
    if [ "$path" = "$LONG" ]; then stdin=$path; set -- "$@" $PARTS
    else set -- "$@" "$path"; fi
  done
  head -q -c "$LARGEST" -- "$@" <"$stdin"
}

# Read between two looks: when both agree, nothing changed in between and the sizes are true. What is not F is passed over.
read_between_looks() { # STATE FILE, as one word…
  for path do shift; case $path in 'F '*) set -- "$@" "${path#F }" ;; esac; done
  frame stat
  [ $# -eq 0 ] || stat --printf '%s %a %U %G %u %g %i %y %n\0' -- "$@"
  frame content
  [ $# -eq 0 ] || read_contents "$@"
  frame again
  [ $# -eq 0 ] || stat --printf '%s %a %U %G %u %g %i %y %n\0' -- "$@"
}

# What lies below homes, one process for each user, which has that user's rights; see home_files.sh for its answer. Paths that
# begin otherwise are passed over.
read_homes() { # ~USER/FILE…
  for path do shift; case $path in '~'*/*) set -- "$@" "$path" ;; esac; done
  while [ $# -gt 0 ]; do
    resolve "$1" "$ROOT"
    if [ -z "$home" ]; then frame "no-user $user"
    else
      frame "home $user"
      {
        for path do shift; case $path in "~$user/"*) set -- "$@" "${path#*/}" ;; esac; done
        in_home read "$@" </dev/null
      } 2>/dev/null | within 12 head -c $((8 * LARGEST))
    fi
    for path do shift; case $path in "~$user/"*) ;; *) set -- "$@" "$path" ;; esac; done
  done
}

# FILES and LISTS say how many there are of the first and the last. What was looked at is collected at the end of the
# arguments as "STATE PATH", or "~USER/PATH", while they are taken from the front. All are printed at once, since each output
# wakes sshd and the controller. A list names further files: no process more than the list itself, and no file twice.
gather_files() { # FILES LISTS FILE… MATCH… LIST…
  files=$1; lists=$2; shift 2
  matches=$(($# - files - lists))
  frame files
  while [ "$files" -gt 0 ]; do
    files=$((files - 1))
    path=$1; shift
    case $path in '~'*) set -- "$@" "$path"; continue ;; esac
    look "$ROOT$path"
    set -- "$@" "$t $ROOT$path"
  done
  while [ "$matches" -gt 0 ]; do
    matches=$((matches - 1))
    path=$1; shift
    [ -e "$path" ] || continue
    look "$path"
    set -- "$@" "$t $path"
  done
  while [ "$lists" -gt 0 ]; do
    lists=$((lists - 1))
    list=$1; shift
    look "$list"
    set -- "$@" "$t $list"
    [ $t = F ] || continue
    while IFS= read -r listed; do
      case $listed in '~'*) ;; *) listed=$ROOT$listed ;; esac
      for have do [ "${have#[A-Z] }" != "$listed" ] || continue 2; done
      case $listed in
        '~'*) set -- "$@" "$listed" ;;
        *) look "$listed"; set -- "$@" "$t $listed" ;;
      esac
    done <"$list"
  done
  [ $# -eq 0 ] || printf '%s\0' "$@"
  read_between_looks "$@"
  read_homes "$@"
}

gather_values() { # FILE…
  frame values
  [ $# -eq 0 ] || grep -aHZ -m1 '' "$@"
}

# `ended` is a frame that is printed together with the next one. With `together` set the shell that gathers has a limit, and
# what it runs needs none. Shell that defines in_place() and calls it runs in that shell itself, see MakeInPlaceProbe.
ended=
gather_command() { # ID LIMIT_S ARGV…
  frame ${ended:+"$ended"} "command $1"
  shift
  if [ -z "$together" ]; then timeout -k 1 "$@" </dev/null
  else
    shift
    case "$1 $2 ${3-}" in
      "sh -c in_place()"*) run_in_place "$@" ;;
      *) (run_apart "$@") ;;
    esac
  fi
  ended="exit $?"
}
end_commands() { [ -z "$ended" ] || frame "$ended"; ended=; }
end_gathering() { frame ${ended:+"$ended"} end; }
run_in_place() { script=$3; shift 4; eval "$script"; }
run_apart() {
  unset NONCE
  [ "$1 $2" = "sh -c" ] || exec "$@"
  script=$3
  [ $# = 3 ] || shift
  shift 3
  eval "$script"
}
