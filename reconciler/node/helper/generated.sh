# shellcheck shell=dash
# shellcheck disable=SC2154 # J is the caller's
# When systemd reloads its units it runs its generators again, and these write the network files of every interface. networkd
# takes a new inode for a change: at its next reload it configures that interface from nothing, and drops all addresses,
# routes and rules that no file lists, management included. So the files are put back; what a change of ours needs there, its
# own commands bring.
NETWORK=/run/systemd/network      # what networkd reads
GENERATORS=/run/systemd/generator # each reload replaces this folder
HOLD=/run/spark-reconcile/held    # hard links to the files in NETWORK, so on one file system with it; one folder per apply

hold_generated() {
  (umask 077 && mkdir -p "$held") && { [ ! -d "$NETWORK" ] || cp -al -- "$NETWORK/." "$held"; }
}

list_files() { (cd "$1" && find . ! -type d); } # FOLDER

put_back() { # FILE
  [ "$held/$1" -ef "$NETWORK/$1" ] || { { [ -d "$NETWORK/${1%/*}" ] || mkdir -p "$NETWORK/${1%/*}"; } && ln -f -- "$held/$1" "$held.next" &&
    mv -fT -- "$held.next" "$NETWORK/$1"; }
}

restore_generated() {
  [ -d "$NETWORK" ] || return 0
  list_files "$NETWORK" | {
    set --
    while IFS= read -r file; do [ -e "$held/$file" ] || set -- "$@" "$NETWORK/$file"; done
    [ $# = 0 ] || rm -f -- "$@"
  }
  list_files "$held" | while IFS= read -r file; do put_back "$file"; done
}

# Of a command that was cut off it is not known what it meant to change: only inodes are put back.
restore_cut_off() {
  [ -d "$held" ] || return 0
  list_files "$held" | while IFS= read -r file; do
    ! cmp -s -- "$held/$file" "$NETWORK/$file" || put_back "$file"
  done
  rm -rf "$held"
}

release_held() { rm -rf "$held"; remove_empty; }
# Other scripts of ours have files in this folder too: the last one takes it away.
remove_empty() { [ ! -d "${HOLD%/*}" ] || rmdir -- "${HOLD%/*}" 2>/dev/null || :; }

# What a program makes may be read by a daemon that is not root: networkd cannot read what netplan makes with the umask of
# this script.
with_usual_umask() { (umask 022; exec "$@"); } # PROGRAM…

# For a command that cannot make systemd reload its units: nothing is generated behind it. `systemctl enable --no-reload` can: for
# a service that also has a script in /etc/init.d it runs update-rc.d, which reloads.
without_reload() { # COMMAND…
  reloads=no; "$@"; set -- $?
  reloads=
  return "$1"
}

# In a session `say` fails, so that nothing is run. In a revert it does not, and the command runs without this.
keep_generated() { # COMMAND…
  held=$HOLD-${J##*/}
  if [ -n "${reloads:-}" ] && [ ! -d "$held" ]; then with_usual_umask "$@"; return; fi
  restore_cut_off
  if ! hold_generated; then
    release_held
    say "the files in $NETWORK cannot be kept: no links to them in $held" || return 1
    with_usual_umask "$@"
    return
  fi
  ended=1
  if [ -d "$GENERATORS" ]; then
    # While the folder is open no other one has its inode.
    # shellcheck disable=SC2094 # nothing is written to it
    {
      ended=0; with_usual_umask "$@" 7<&- || ended=$?
      [ /proc/self/fd/7 -ef "$GENERATORS" ] || restore_generated
    } 7<"$GENERATORS"
  else # no unit is generated here
    ended=0; with_usual_umask "$@" || ended=$?
    [ ! -d "$GENERATORS" ] || restore_generated
  fi
  release_held
  return $ended
}
