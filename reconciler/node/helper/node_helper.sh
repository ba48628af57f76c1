# shellcheck shell=dash
# shellcheck disable=SC2154 # from journal.sh and home_path.sh
# Functions of every session on a node, behind frames.sh, home_path.sh, journal.sh, generated.sh and outside.sh. Every
# function returns non-zero at the first thing that fails and says on stderr what it was.
say() { printf '%s\n' "$1" >&2; return 1; }
newline='
'

# The guard counts its limit from now, and while `working` is locked, from the latest end of a step.
progress() { # SECONDS
  uptime; echo "$up $1" >"$J/progress"
}
working() { exec 8<"$J/working" && flock -n 8 || say 'another step is still running'; }
undecided() { ! is_decided || say 'this node has reverted the plan'; }

target() { # PATH
  case $1 in *"$newline"*) say "wanted a path of one line, found $1"; return 1 ;; esac
  resolve "$1" ''
  [ -n "$T" ] || say "no such user on this node: $1" || return 1
  if [ -n "$user" ]; then
    [ "$self" = 0 ] || [ "$self" = "$uid" ] || say "$T is written by root or $user only"
    return # and where it is read or written links are refused
  fi
  [ ! -L "$T" ] || say "$T is a symbolic link: it is not replaced" || return 1
  if [ -e "$T" ] && [ ! -f "$T" ]; then say "$T is not a regular file"; return 1; fi
}

journal() { # STEP TRIAL
  d=$J/$1
  [ -d "$d" ] || mkdir "$d" && printf '%s' "$T" >"$d/path" || return 1
  if [ -n "$user" ]; then journal_home; return; fi
  if [ -e "$T" ]; then cp -p -- "$T" "$d/before"
  else true >"$d/absent"; fi || return 1
  # Where another program uses the trial's place already, the file is written where it belongs.
  [ -z "$2" ] || { [ -e "$2" ] && ! grep -qsxF -- "$2" "$J"/*/trial; } ||
    printf '%s' "$2" >"$d/trial"
}

journal_home() {
  printf '~%s/%s' "$user" "$below" >"$d/home" || return 1
  find_home_mount && printf '%s\n' "$mount" >"$d/mount" || return 1
  fetch_home "$d/before" && return 0
  [ ! -e "$d/before" ] || rm -f -- "$d/before"
  case $answer in
    "absent "*) printf '%s' "${answer#absent }" >"$d/absent" ;;
    *) say "$answer" ;;
  esac
}

# Whether the file, which this shell made, is root's and is to be. Its folder may have given it another group. Names of others are
# not looked up, since that takes a program.
is_roots() { # FILE OWNER:GROUP
  [ "$2:$self:$self_group" = root:root:0:0 ] && [ -O "$1" ] && [ -G "$1" ]
}

stage_write() { # STEP PATH MODE OWNER GROUP CONTENT TRIAL [MTIME]
  target "$2" || return 1
  [ -z "$user" ] || [ "$4" = "$user" ] || say "$T: wanted the owner $user, whose home it is in, found $4" || return 1
  d=$J/$1 && { [ -d "$d" ] || mkdir "$d"; } && printf '%s' "$6" >"$d/new" && { is_roots "$d/new" "$4:$5" || chown -- "$4:$5" "$d/new"; } &&
    chmod "$3" "$d/new" && { [ -z "${8:-}" ] || touch -d "$8" -- "$d/new"; } && journal "$1" "$7"
}
stage_remove() { # STEP PATH TRIAL
  target "$2" && journal "$1" "$3"
}

parents() { make_folder "${T%/*}"; }
make_folder() { # FOLDER
  if [ -z "$1" ] || [ -d "$1" ]; then return 0; fi
  make_folder "${1%/*}" && printf '%s\n' "$1" >>"$J/made" && sync "$J/made" && (umask 022 && mkdir -- "$1")
}

# What is overwritten is in the journal, or nothing is written.
unmoved() {
  if [ -e "$d/before" ]; then is_target "$d/before"; else is_absent; fi && return
  [ "$answer" != differs ] || answer="$T was changed by another program meanwhile"
  say "$answer"
}
is_as_written() {
  is_target "$d/new" || { [ "$answer" = differs ] && answer="$T was changed by another program meanwhile"; say "$answer"; }
}

write_file() { # STEP PATH
  note "$what"
  target "$2" && d=$J/$1 && unmoved && true >"$d/begun" || return 1
  if [ -e "$d/trial" ]; then
    read_text "$d/trial" && to=$text && make_folder "${to%/*}" && put "$d/new" "$to" "$d/begun"
  elif [ -n "$user" ]; then sync "$d/begun" "$d" && { put_home "$d/new" || say "$answer"; }
  else parents && put "$d/new" "$T" "$d/begun"; fi
}

remove_file() { # STEP PATH
  note "$what"
  target "$2" && d=$J/$1 && unmoved && true >"$d/begun" || return 1
  if [ -e "$d/trial" ]; then
    read_text "$d/trial" && to=$text && make_folder "${to%/*}" && true >"$to"
  else
    sync "$d/begun" "$d" || return 1
    if [ -n "$user" ]; then remove_target || say "$answer"; else remove_target; fi
  fi
}

# In a prune, for a command that sets a value below PATH, in the kernel. What is gone (a port, since it saves power) has
# nothing to restore. Where the program that would set it is gone, the value stays until the node restarts.
if_there() { # PATH command_step STEP LIMIT_S USER ARGV…
  why=
  if [ ! -e "$1" ]; then why="$1 is gone: there is nothing to restore"
  elif ! command -v "$6" >/dev/null 2>&1; then why="$6 is not installed: what it set stays until a restart"; fi
  shift
  [ -n "$why" ] || { without_reload "$@"; return; }
  step=$2
  [ "$step" = - ] || mark_command "nothing: $why" || return 1 # it stands for what follows without a mark
  note "$why"
}

# A step that the revert looks for is marked before it runs, and noted; `-` instead of its number: the revert does not.
command_step() { # STEP LIMIT_S USER ARGV…
  step=$1; limit=$2; user=$3; shift 3
  [ "$step" = - ] || mark_command "$*" || return 1
  if [ -z "$user" ]; then keep_generated timeout -k 2 "$limit" "$@" </dev/null; return; fi
  resolve "~$user/." ''
  [ -n "$T" ] || say "no such user on this node: $user" || return 1
  if [ "$self" = "$uid" ]; then (cd "$home" && timeout -k 2 "$limit" "$@" </dev/null)
  else # our locks are not handed on to the user
    # shellcheck disable=SC2016 # for that shell
    (cd "$home" && HOME=$home timeout -k 2 "$limit" sh -c 'exec runuser "$@" 8>&- 9>&-' sh -u "$user" -- "$@" </dev/null)
  fi
}

mark_command() { # TEXT
  note "$what"
  [ -d "$J/$step" ] || mkdir "$J/$step" && printf '%s\n' "$1" >"$J/$step/command" && true >"$J/$step/begun" || return 1
  sync "$J/$step"
}

# Ends the shell as it was to end. Where that failed and a file system is full, a hint follows as the last line of stderr: the
# shell's own writes call that an I/O error.
explain_full() {
  status=$?
  [ "$status" = 0 ] || for folder in "$D" /etc; do
    read -r bytes blocks inodes left <<TEXT
$(stat -f -c '%S %f %c %d' -- "$folder" 2>/dev/null)
TEXT
    [ -n "$left" ] || continue
    free=$((bytes * blocks / 1024))
    if [ "$free" -lt 64 ]; then room="$free KiB of free space"
    elif [ "$inodes" != 0 ] && [ "$left" -lt 16 ]; then room="$left free inodes"
    else continue; fi
    case $(keep_times "$folder" 2>&1) in *': Read-only file system') continue ;; esac # an image has no room at any time
    say "hint: the file system of $folder has $room: make room there"
    break
  done
  exit "$status"
}
# Fails where the folder takes no change, and changes nothing. (One that is append-only takes a time only from the clock.)
keep_times() { touch -c -r "$1" -- "$1"; } # FOLDER

# The requests: in each J is the journal, and the first call that fails ends it.
begin_staging() { # STEP…: their folders are made by one program
  trap explain_full EXIT
  for step do shift; set -- "$@" "$J/$step"; done
  find_self
  mkdir -p -- "$J" "$@" && undecided && true >>"$J/working" || exit 1
}
stage() { "$@" || exit 1; } # COMMAND…
end_staging() {
  check_seen || exit 1
  find "$J" ! -type l -exec sync {} + || { say 'the journal cannot be written to the disk'; exit 1; }
}

# What a plan would overwrite is what it was made from, or the apply ends here. `seen`: lines of sha256sum.
seen=
expect() { # STEP DIGEST|absent
  if [ "$2" = absent ]; then
    [ -e "$J/$1/absent" ] || say_changed "$J/$1"
  else
    [ -e "$J/$1/before" ] || say_changed "$J/$1" || return 1
    seen="$seen$2  $J/$1/before$newline"
  fi
}
say_changed() { read_text "$1/path"; say "$text was changed since the plan was made"; } # STEP's folder
check_seen() {
  [ -n "$seen" ] || return 0
  differs=$(sha256sum -c 2>/dev/null <<END
${seen%"$newline"}
END
) && return 0
  for line in $differs; do case $line in "$J"/*/before:) at=${line%/before:} ;; FAILED) say_changed "$at"; return 1 ;; esac; done
  say 'what the plan was made from cannot be compared'
}

# A command finds the journal in SPARK_JOURNAL. What it sets aside for a revert it names there in `aside`, one path per line,
# and what it empties in `made`: when the apply is finished, the guard deletes the former, and the latter where it is empty.
begin_activation() { failed=''; export SPARK_JOURNAL="$J"; working || exit 1; }
run_step() { # SECONDS WHAT COMMAND…
  [ -z "$failed" ] || exit 0
  try_step "$@"
  [ -z "$failed" ] || exit 0
}
# After one that fails the next one is tried too, so that all that a node refuses is reported at once.
try_step() { # SECONDS WHAT COMMAND…
  frame step
  exit_code=0
  what=$2
  { undecided && progress "$1" && shift 2 && "$@"; } || exit_code=$?
  # Also of one that failed: the controller decides now, and the guard must not do so at the same moment.
  progress 0
  frame "exit $exit_code"
  [ $exit_code != 0 ] || return 0
  note "$what: failed with $exit_code"
  failed=yes
  undecided 2>/dev/null || exit 0
}

# systemd-networkd drops rules that are not its own whenever it configures any interface.
end_activation() { find_lost rule; restore_outside rule; remove_empty; }

heartbeat() { undecided && progress 0; }

# The commit renames and removes. It can do neither in a folder that is immutable or append-only, nor with a file that is so, or
# mounted: that takes no link either. (Without links dpkg could not replace a file.)
is_replaceable() { # LINK, for a moment
  folder=${T%/*}
  while [ ! -d "$folder/" ]; do folder=${folder%/*}; done
  why=$({ keep_times "$folder/" && { [ ! -e "$T" ] || { rm -f -- "$1" && ln -- "$T" "$1" && rm -f -- "$1"; }; }; } 2>&1) && return
  if [ -e "$T" ]; then
    hint='lsattr -d shows whether it or its folder is immutable or append-only, findmnt whether it is mounted or read-only'
    say "$T cannot be replaced or removed: ${why##*: } ($hint)"
  else
    hint='lsattr -d shows whether that folder is immutable or append-only, findmnt whether it is read-only'
    say "$T cannot be placed in $folder: ${why##*: } ($hint)"
  fi
}

# The last look before a commit: every file is as this apply left it, and what was on trial lies
# ready beside its target, so that the commit itself only renames.
prepare() {
  seen='|'
  list_steps -rn
  for step in $steps; do
    d=$J/$step
    [ -e "$d/path" ] && [ -e "$d/begun" ] || continue
    load_target || say "no such user on this node: $(cat "$d/path")" || return 1
    case $seen in *"|$T|"*) continue ;; esac # a later pass wrote it again
    seen="$seen$T|"
    if [ -e "$d/trial" ]; then
      # Named as the prepared copy: a revert removes what is left of it.
      unmoved && is_replaceable "$(prepared)" || return 1
      [ -e "$d/new" ] || continue
      read_text "$d/trial" && to=$text || return 1
      same "$d/new" "$to" || say "$to was changed by another program meanwhile" || return 1
      parents && cp -p -- "$d/new" "$(prepared)" && sync "$(prepared)" || return 1
    elif [ -e "$d/new" ]; then
      is_as_written || return 1
    else is_absent || say "$T was made by another program meanwhile" || return 1; fi
  done
}
