# shellcheck shell=bash disable=SC2154
# Sourced by `lab`; reads $run, $run_dir, $topology and $count, which run_load sets.
# What the run's switches say of themselves: one lldpd per switch that nodes stand before, in the outer network namespace.
# Names are those of the manifests in clusters/: switch-1 with swp1 and up; leaf-1 and up with four legs each.

leg_names=(qsfp56-dd-1-1 qsfp56-dd-1-5 qsfp56-dd-2-1 qsfp56-dd-2-5)

# switch_port ID PORT: the switch, and its name for the port, that the plug of this cage of a node is in; both rails of a cage
# are one port. Nothing for a cable between nodes. Sets REPLY.
switch_port() {
  plug_of "$1" "$2"
  local id=${REPLY% *} port=${REPLY#* }
  case $topology:$port in
    switch:?1) REPLY="switch-1 swp$id" ;;
    leaf-spine:?1) REPLY="leaf-$(((id + 3) / 4)) ${leg_names[(id + 3) % 4]}" ;;
    *) REPLY= ;;
  esac
}

switches_of_run() {
  local leaf
  case $topology in
    switch) echo switch-1 ;;
    leaf-spine) for ((leaf = 1; leaf <= (count + 3) / 4; leaf++)); do echo "leaf-$leaf"; done ;;
  esac
}

# switch_conf NAME: lldpcli's commands. A frame every second that counts for four: the last neighbour of a port expires
# soon, and a busy machine may be late.
switch_conf() {
  local id port faces=
  for ((id = 1; id <= count; id++)); do
    for port in a0 b0 a1 b1; do
      switch_port "$id" "$port"
      [[ ${REPLY% *} != "$1" ]] || faces+=,n$id-$port
    done
  done
  printf 'configure %s\n' "system hostname $1" "system chassisid $1" 'system ip management pattern !*' \
    'lldp tx-interval 1' 'lldp tx-hold 4' "system interface pattern ${faces#,}"
}

# Brings every switch's lldpd to the plugs' places. Runs under the lock of net_sync.
switches_sync() {
  local name at=$run_dir/switches
  for name in $(switches_of_run); do
    mkdir -p "$at"
    switch_conf "$name" >"$at/$name.new"
    if [[ ! -e $at/$name.conf ]]; then
      mv "$at/$name.new" "$at/$name.conf"
      switch_start "$name"
    elif ! cmp -s "$at/$name.new" "$at/$name.conf"; then
      mv "$at/$name.new" "$at/$name.conf"
      in_outer lldpcli -u "$at/$name.socket" -c "$at/$name.conf" >>"$at/$name.log" 2>&1 ||
        die "wanted $name of run $run to take its new ports, found lldpd's output in $at/$name.log"
    fi
  done
}

# In a cgroup of its own below the run's, so that `down` and `gc` end it with the run, its unprivileged half too.
switch_start() {
  local name=$1 at=$run_dir/switches cgroup tries
  cgroup=$(cgroup_root)/$run/switches
  mkdir -p "$cgroup"
  (
    echo "$BASHPID" >"$cgroup/cgroup.procs"
    exec </dev/null >>"$at/$name.log" 2>&1
    close_inherited
    exec setsid nsenter "--net=/run/netns/$(outer "$run")" -- lldpd -d -u "$at/$name.socket" -O "$at/$name.conf" -S "a switch of the lab"
  ) &
  # Until then it is paused, and a setting by lldpcli would carry the pause on.
  for ((tries = 0; tries < 100; tries++)); do
    ! grep -qs 'should resume' "$at/$name.log" || return 0
    sleep 0.05
  done
  die "wanted lldpd of $name up within 5 s, found its output in $at/$name.log"
}
