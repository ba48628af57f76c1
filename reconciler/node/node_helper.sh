# shellcheck shell=dash
# shellcheck disable=SC2154 # from journal.sh and home_path.sh
# shellcheck disable=SC2030,SC2031 # home is meant to change in the subshell alone
# Functions of every session on a node, behind frames.sh, home_path.sh, journal.sh, generated.sh and outside.sh. Every
# function returns non-zero at the first thing that fails and says on stderr what it was.
say() { printf '%s\n' "$1" >&2; return 1; }

# The guard counts its limit from now, and while `working` is locked, from the latest end of a step.
progress() { # SECONDS
  uptime; echo "$up $1" >"$J/progress"
}
working() { exec 8>>"$J/working" && flock -n 8 || say 'another step is still under way'; }
undecided() { [ ! -L "$J/decision" ] || say 'this node has reverted the plan'; }

target() { # PATH
  resolve "$1" ''
  [ -n "$T" ] || say "no such user on this node: $1" || return 1
  [ ! -L "$T" ] || say "$T is a symbolic link: it is not replaced" || return 1
  if [ -e "$T" ] && [ ! -f "$T" ]; then say "$T is not a regular file"; return 1; fi
}

journal() { # STEP TRIAL
  d=$J/$1
  [ -d "$d" ] || mkdir "$d" && printf '%s' "$T" >"$d/path" || return 1
  if [ -e "$T" ]; then cp -p -- "$T" "$d/before"
  else : >"$d/absent"; fi || return 1
  # Where another program uses the trial's place already, the file is written where it belongs.
  [ -z "$2" ] || { [ -e "$2" ] && ! grep -qsxF -- "$2" "$J"/*/trial; } ||
    printf '%s' "$2" >"$d/trial"
}

stage_write() { # STEP PATH MODE OWNER GROUP CONTENT TRIAL
  target "$2" && d=$J/$1 && { [ -d "$d" ] || mkdir "$d"; } && printf '%s' "$6" >"$d/new" && chown -- "$4:$5" "$d/new" &&
    chmod "$3" "$d/new" && journal "$1" "$7"
}
stage_remove() { # STEP PATH TRIAL
  target "$2" && journal "$1" "$3"
}

parents() { make_folder "${T%/*}" "$1" "$2"; } # OWNER GROUP
make_folder() { # FOLDER OWNER GROUP; below a home it is the owner's alone
  if [ -z "$1" ] || [ -d "$1" ]; then return 0; fi
  make_folder "${1%/*}" "$2" "$3" && printf '%s\n' "$1" >>"$J/made" && sync "$J/made" || return 1
  if [ -n "$home" ] && [ "${1#"$home"/}" != "$1" ]; then
    mkdir -- "$1" && chown -- "$2:$3" "$1" && chmod 0700 "$1"
  else (umask 022 && mkdir -- "$1"); fi
}

# What is overwritten is in the journal, or nothing is written.
unmoved() {
  if [ -e "$d/before" ]; then same "$d/before" "$T"; else [ ! -e "$T" ]; fi ||
    say "$T was changed by another program meanwhile"
}

write_file() { # STEP PATH OWNER GROUP
  target "$2" && d=$J/$1 && unmoved && : >"$d/begun" || return 1
  if [ -e "$d/trial" ]; then
    to=$(cat "$d/trial") && (home=; make_folder "${to%/*}" root root) && put "$d/new" "$to" "$d/begun"
  else parents "$3" "$4" && put "$d/new" "$T" "$d/begun"; fi
}

remove_file() { # STEP PATH
  target "$2" && d=$J/$1 && unmoved && : >"$d/begun" || return 1
  if [ -e "$d/trial" ]; then
    to=$(cat "$d/trial") && (home=; make_folder "${to%/*}" root root) && : >"$to"
  else sync "$d/begun" "$d" && rm -f -- "$T" && sync "${T%/*}"; fi
}

command_step() { # STEP LIMIT_S USER ARGV…
  step=$1; limit=$2; user=$3; shift 3
  [ -d "$J/$step" ] || mkdir "$J/$step" && printf '%s\n' "$*" >"$J/$step/command" && : >"$J/$step/begun" || return 1
  sync "$J/$step"
  if [ -z "$user" ]; then keep_generated timeout -k 2 "$limit" "$@" </dev/null; return; fi
  resolve "~$user/." ''
  [ -n "$T" ] || say "no such user on this node: $user" || return 1
  if [ "$(id -un)" = "$user" ]; then (cd "$home" && timeout -k 2 "$limit" "$@" </dev/null)
  else (cd "$home" && HOME=$home timeout -k 2 "$limit" runuser -u "$user" -- "$@" </dev/null); fi
}

# The requests: in each J is the journal, and the first call that fails ends it.
begin_staging() { mkdir -p "$J" && undecided || exit 1; }
stage() { "$@" || exit 1; } # COMMAND…
end_staging() { find "$J" -exec sync {} +; }

begin_activation() { working || exit 1; }
run_step() { # SECONDS WHAT COMMAND…
  frame step
  exit_code=0
  { undecided && progress "$1" && note "$2" && shift 2 && "$@"; } || exit_code=$?
  [ $exit_code != 0 ] || progress 0
  frame "exit $exit_code"
  [ $exit_code = 0 ] || { note "failed with $exit_code"; exit 0; }
}

# systemd-networkd drops rules that are not its own whenever it configures any interface.
end_activation() { restore_outside rule; }

heartbeat() { undecided && progress 0; }

# The last look before a commit: every file is as this apply left it, and what was on trial lies
# ready beside its target, so that the commit itself only renames.
prepare() {
  seen='|'
  for step in $(steps -rn); do
    d=$J/$step
    [ -e "$d/path" ] && [ -e "$d/begun" ] || continue
    T=$(cat "$d/path")
    case $seen in *"|$T|"*) continue ;; esac # a later pass wrote it again
    seen="$seen$T|"
    if [ -e "$d/trial" ]; then
      unmoved || return 1
      [ -e "$d/new" ] || continue
      to=$(cat "$d/trial")
      same "$d/new" "$to" || say "$to was changed by another program meanwhile" || return 1
      parents root root && cp -p -- "$d/new" "$(prepared)" && sync "$(prepared)" || return 1
    elif [ -e "$d/new" ]; then
      same "$d/new" "$T" || say "$T was changed by another program meanwhile" || return 1
    elif [ -e "$T" ]; then say "$T was made by another program meanwhile"; return 1; fi
  done
}
