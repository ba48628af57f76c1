# shellcheck shell=bash disable=SC2154,SC2034
# Sourced by `lab`; reads $run, $run_dir and $count, which run_load sets.
# A run: a directory below $state_root, an outer network namespace, a cgroup. All three carry its name.

state_root=${SPARK_LAB_STATE:-/run/spark-reconcile-lab}

with_state_lock() {
  mkdir -p "$state_root"
  (
    flock 7
    "$@"
  ) 7>"$state_root/.lock"
}

all_runs() {
  local dir
  for dir in "$state_root"/*/; do
    [[ ! -d $dir ]] || basename "$dir"
  done
}

# Fills run, run_dir, topology, count, nm, like, os, vm and arm64 from --run, $SPARK_LAB_RUN or the only run there is.
run_load() {
  if [[ -z $run ]]; then
    local runs
    mapfile -t runs < <(all_runs)
    [[ ${#runs[@]} == 1 ]] || die "wanted --run or SPARK_LAB_RUN, or exactly one run; found ${#runs[@]} runs: ${runs[*]:-none}"
    run=${runs[0]}
  fi
  run_dir=$state_root/$run
  [[ -e $run_dir/topology ]] || die "wanted a run named '$run' in $state_root, found: $(all_runs | xargs)"
  local word
  for word in topology count nm like os vm arm64; do
    # Those that are written last are not there yet while a run starts.
    if [[ -e $run_dir/$word ]]; then read -r "${word?}" <"$run_dir/$word" || :; else printf -v "$word" ''; fi
  done
  if [[ -n $vm ]]; then machines_are_virtual; fi
}

# Nodes are made, plugged, started and stopped in another way than containers.
machines_are_virtual() {
  # shellcheck source-path=SCRIPTDIR source=vm_machine.bash
  . "$lab_dir/lib/vm_machine.bash"
}

need_node() {
  [[ $1 =~ ^[1-8]$ && $1 -le $count ]] || die "wanted a node of run $run (1..$count), found '$1'"
}

# Process numbers come back; number and start time (clock ticks since boot) together do not.
process_start() {
  local stat='' fields
  { read -r -d '' stat <"/proc/$1/stat" || [[ -n $stat ]]; } 2>/dev/null || return 1
  # The name in field 2 may hold spaces: count from behind it. Start time is field 22.
  read -r -a fields <<<"${stat##*) }"
  echo "${fields[19]}"
}

# The process that requested the run, seen from the parent of `lab`. Two kinds of parent end with `lab up` itself and are passed
# over: sudo, and the subshell of run=$(lab up 2), which is known by having its parent's very command line.
caller_of() {
  local pid=$1 above
  while [[ $pid -gt 1 ]]; do
    above=$(process_parent "$pid")
    [[ $(cat "/proc/$pid/comm" 2>/dev/null) == sudo ]] || cmp -s "/proc/$pid/cmdline" "/proc/$above/cmdline" || break
    pid=$above
  done
  echo "$pid"
}

process_parent() { sed -n 's/^PPid:\t//p' "/proc/$1/status"; }

owner_alive() {
  local pid start
  read -r pid start <"$1/owner" 2>/dev/null || return 1
  [[ $pid == none || $(process_start "$pid") == "$start" ]]
}

run_claim() {
  local owner=$1 start=-
  if [[ $owner != none ]]; then
    start=$(process_start "$owner") || die "wanted a living process as owner, found no process $owner"
  fi
  mkdir "$run_dir" 2>/dev/null || die "wanted a new run '$run', found one of that name in $state_root"
  echo "$owner $start" >"$run_dir/owner"
}

# The controller's side: a HOME with key, known hosts and config. OpenSSH finds its home by the user's entry in passwd and
# ignores $HOME; it wants -F.
run_home() {
  local id home=$run_dir/home
  install -d -m 0700 "$home" "$home/.ssh"
  cat "$run_dir"/nodes/*/known-* >"$run_dir/known_hosts"
  cp "$run_dir/known_hosts" "$home/.ssh/known_hosts"
  cp -p "$run_dir/id_ed25519" "$run_dir/id_ed25519.pub" "$home/.ssh/"
  {
    for ((id = 1; id <= count; id++)); do printf 'Host spark-%d\n  HostName %s\n' "$id" "$(node_address "$id")"; done
    printf 'Host *\n  User nvidia\n  IdentityFile %s\n  IdentitiesOnly yes\n  UserKnownHostsFile %s\n' \
      "$home/.ssh/id_ed25519" "$home/.ssh/known_hosts"
    printf '  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n  BatchMode yes\n  ConnectTimeout 5\n'
  } >"$home/.ssh/config"
}

# Creates and starts nodes FIRST..count, all at once, and waits for them.
run_grow() {
  local id first=$1
  for ((id = first; id <= count; id++)); do node_create "$id"; done
  run_home
  net_sync
  if [[ $like == dgx-os ]]; then dhcp_start; fi  # their management addresses are leases
  for ((id = first; id <= count; id++)); do node_start "$id"; done
  for ((id = first; id <= count; id++)); do node_wait "$id"; done
}

# Takes away everything of one run; safe at any stage of its making and when it is gone already.
run_remove() {
  local gone=$1 dir=$state_root/$1 name pid ancestors=' '
  name=$(outer "$gone")
  cgroup_kill "$(cgroup_root)/$gone"
  rmdir "$(cgroup_root)" 2>/dev/null || :
  if [[ -e /run/netns/$name ]]; then
    # What `lab exec` left running would keep the namespace; a caller from inside it must live on.
    pid=$BASHPID
    while [[ $pid -gt 1 ]]; do
      ancestors+="$pid "
      pid=$(process_parent "$pid")
    done
    for pid in $(ip netns pids "$name"); do
      [[ $ancestors == *" $pid "* ]] || kill -KILL "$pid" 2>/dev/null || :
    done
    ip netns del "$name"
  fi
  rm -rf "$dir"
}

run_collect() {
  local one
  for one in $(all_runs); do
    if ! owner_alive "$state_root/$one"; then
      note "removing run $one: its owner is gone"
      run_remove "$one"
    fi
  done
}

run_list() {
  local one id states owner
  for one in $(all_runs); do
    run=$one
    owner=$(cut -d' ' -f1 "$state_root/$one/owner" 2>/dev/null) || owner='?'
    if [[ ! -e $state_root/$one/topology ]]; then
      echo "$one starting owner=$owner"
      continue
    fi
    (
      run_load
      states=
      for ((id = 1; id <= count; id++)); do
        states+=" spark-$id=$(node_leader "$id" >/dev/null && echo on || echo off)"
      done
      echo "$one $topology owner=$owner$(owner_alive "$run_dir" || echo ' (gone)')$states"
    )
  done
}
