# shellcheck shell=bash disable=SC2154,SC2034
# Sourced by `lab`; reads $run, $run_dir, $nm, $like and $lab_dir, which run_load sets.
# One node: a directory nodes/ID (overlay, console.log), a cgroup, and a supervisor that boots it again when it reboots.

# Sets REPLY.
find_cgroup_root() {
  local at type
  while read -r _ at type _; do
    [[ $type != cgroup2 ]] || { REPLY=$at/spark-reconcile-lab; return 0; }
  done </proc/mounts
  die 'wanted a cgroup2 mount on this machine, found none'
}
cgroup_root() {
  find_cgroup_root
  echo "$REPLY"
}
node_cgroup() { echo "$(cgroup_root)/$run/$1"; }

# cgroup_kill DIR: ends every process below it, waits for that, and removes it.
cgroup_kill() {
  local at=$1 tries
  [[ -d $at ]] || return 0
  for ((tries = 0; tries < 100; tries++)); do
    echo 1 >"$at/cgroup.kill"
    if cgroup_is_empty "$at"; then
      cgroup_remove "$at"
      [[ -d $at ]] || return 0
    fi
    sleep 0.05
  done
  die "wanted no process in $at, found $(find "$at" -name cgroup.procs -exec cat {} + | tr '\n' ' ')"
}
cgroup_is_empty() {
  local key value
  while read -r key value; do
    [[ $key != populated ]] || break
  done <"$1/cgroup.events"
  [[ $value == 0 ]]
}
cgroup_remove() { find "$1" -depth -type d -exec rmdir {} + 2>/dev/null || :; }

# The node's PID 1 as this machine numbers it; fails while there is none.
node_leader() { find_leader "$1" && echo "$REPLY"; }
find_leader() { # Sets REPLY.
  find_cgroup_root
  read -r REPLY _ 2>/dev/null <"$REPLY/$run/$1/payload/init.scope/cgroup.procs" && [[ -n $REPLY ]]
}

node_enter() {
  local id=$1 leader cgroup
  shift
  find_leader "$id" || die "wanted spark-$id of run $run running, found it off"
  leader=$REPLY
  # In the node's cgroup, so that `down` ends it with the node.
  find_cgroup_root
  cgroup=$REPLY/$run/$id/shell
  [[ -d $cgroup ]] || mkdir -p "$cgroup"
  echo "$BASHPID" >"$cgroup/cgroup.procs"
  exec nsenter -t "$leader" -m -u -i -n -p -C -- env -i "TERM=${TERM:-dumb}" HOME=/root USER=root LOGNAME=root LC_ALL=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# The lowest layer, which has all that no layer above it changes.
root_of_lower() {
  local lower
  read -r lower <"$1/lower"
  echo "${lower##*:}"
}

# Writes what differs between nodes into the overlay, before the first boot.
node_create() {
  local id=$1 dir=$run_dir/nodes/$1 flavour=networkd address type
  address=$(node_address "$id")
  case ,$nm, in *,all,* | *,"$id",*) flavour='nm' ;; esac
  umask 022
  local upper=$dir/upper
  mkdir -p "$dir"/{work,root} "$upper/etc/"{ssh,netplan,pam.d} "$upper/home/nvidia/.ssh"
  if [[ $like == dgx-os ]]; then dgx_os_ensure >"$dir/lower"; else root_ensure "$flavour" >"$dir/lower"; fi

  # Each login would start the scripts of the message of the day, for no one.
  grep -v pam_motd "$(root_of_lower "$dir")/etc/pam.d/sshd" >"$upper/etc/pam.d/sshd"
  # Newer than DGX OS's OpenSSH: a source that failed to log in is refused for some seconds.
  if [[ $os == trixie ]]; then install -D -m 0644 /dev/stdin "$upper/etc/ssh/sshd_config.d/lab.conf" <<<'PerSourcePenalties no'; fi
  echo "spark-$id" >"$upper/etc/hostname"
  printf '127.0.0.1 localhost\n127.0.1.1 spark-%s\n::1 ip6-localhost ip6-loopback\n' "$id" >"$upper/etc/hosts"
  tr -d - </proc/sys/kernel/random/uuid >"$upper/etc/machine-id"
  install -m 0600 /dev/stdin "$upper/etc/netplan/01-management.yaml" <<YAML
network:
  version: 2
  renderer: $([[ $flavour == nm ]] && echo NetworkManager || echo networkd)
  ethernets:
    enP7s7:
      addresses: [$address/24]
YAML
  if [[ $like == dgx-os ]]; then dgx_os_node "$id"; fi
  for type in ed25519 ecdsa; do
    ssh-keygen -q -t "$type" -N '' -C "root@spark-$id" -f "$upper/etc/ssh/ssh_host_${type}_key"
    echo "$address,spark-$id $(cut -d' ' -f1,2 "$upper/etc/ssh/ssh_host_${type}_key.pub")" >"$dir/known-$type"
  done
  cp "$run_dir/id_ed25519.pub" "$upper/home/nvidia/.ssh/authorized_keys"
  chown -R 1000:1000 "$upper/home/nvidia"
  chmod 0750 "$upper/home/nvidia"
  chmod 0700 "$upper/home/nvidia/.ssh"
  chmod 0600 "$upper/home/nvidia/.ssh/authorized_keys"
}

node_start() {
  local id=$1 cgroup
  cgroup=$(node_cgroup "$id")
  mkdir -p "$cgroup"
  # The supervisor is born in the cgroup: one that entered it later could outlive a `lab up` that was interrupted meanwhile.
  (
    echo "$BASHPID" >"$cgroup/cgroup.procs"
    setsid "$lab_dir/lab" _supervise "$run" "$id" </dev/null >>"$run_dir/nodes/$id/console.log" 2>&1 &
  )
}

# A caller's pipe or lock that stays open in a process that stays would keep that caller waiting for its end.
close_inherited() {
  local fd
  for fd in /proc/self/fd/*; do
    fd=${fd##*/}
    # 255 is bash's own, for this script.
    [[ $fd -le 2 || $fd == 255 ]] || eval "exec $fd>&-"
  done
}

# Runs as the supervisor. Every boot gets new network and mount namespaces, as a real boot starts with bare cards:
# with --keep-unit, nspawn leaves a reboot to its caller and says so by status 133.
node_supervise() {
  local id=$1 status=133
  close_inherited
  while [[ $status == 133 ]]; do
    status=0
    net_unplug "$id"
    # slave: an `ip netns del` on the machine must reach these namespaces, or they would keep the deleted one alive.
    unshare --net --mount --propagation slave "$lab_dir/lab" _boot "$run" "$id" || status=$?
  done
  net_unplug "$id"
  net_sync
  # A process must not remove the cgroup that it is in; `start` and `down` do.
}

# Runs in the node's network namespace and a mount namespace of its own.
node_boot() {
  local id=$1 dir=$run_dir/nodes/$1 cgroup
  cgroup=$(node_cgroup "$id")
  [[ ! -d $cgroup/payload ]] || cgroup_remove "$cgroup/payload"
  net_plug "$id" "$$"
  net_sync
  # /sys must be this network namespace's, and writable: udevd wants it, and netplan apply triggers udev.
  mount -t sysfs sysfs /sys
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  mount -t overlay overlay -o "lowerdir=$(<"$dir/lower"),upperdir=$dir/upper,workdir=$dir/work" "$dir/root"
  export SYSTEMD_NSPAWN_API_VFS_WRITABLE=yes SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
  # The limits of a booted Spark rather than those of whoever started the lab: files, and bytes of locked memory.
  exec systemd-nspawn --rlimit=NOFILE=1024:1048576 --rlimit=MEMLOCK=8388608 --quiet --boot --directory="$dir/root" --machine="$run-$id" --hostname="spark-$id" \
    --uuid="$(<"$dir/upper/etc/machine-id")" --register=no --keep-unit --capability=all --settings=no \
    --resolv-conf=off --timezone=off --link-journal=no --console=read-only
}

# Waits until the node has booted and its sshd answers; 60 s, far above a boot on a busy 2-core machine.
node_wait() {
  local id=$1 limit state='no systemd that answers' banner
  limit=$(scaled 60)
  local deadline=$((SECONDS + limit))
  while ((SECONDS < deadline)); do
    if find_leader "$id" && [[ -S /proc/$REPLY/root/run/systemd/private ]]; then
      # A boot that never ends must not wait for ever either.
      state=$( (node_enter "$id" timeout $((deadline - SECONDS)) systemctl is-system-running --wait) 2>/dev/null) || :
      if [[ $state == running || $state == degraded ]]; then
        banner=$(in_outer timeout 2 bash -c "exec 3<>/dev/tcp/$(node_address "$id")/22 && read -r -u3 line && echo \"\$line\"" 2>/dev/null) || :
        [[ $banner != SSH-* ]] || return 0
        state="$state, no sshd"
      fi
    fi
    sleep 0.1
  done
  tail -n 20 "$run_dir/nodes/$id/console.log" >&2
  die "wanted spark-$id of run $run booted and its sshd answering within $limit s$(slowness), found: ${state:-no answer}"
}

# scaled SECONDS: the limit on this machine. SPARK_LAB_SLOWNESS is per cent of what the reference machine takes; tests set it.
scaled() { echo $(($1 * ${SPARK_LAB_SLOWNESS:-100} / 100)); }
slowness() {
  [[ ${SPARK_LAB_SLOWNESS:-100} == 100 ]] ||
    printf ' (this machine is %d.%d times slower than the reference)' $((SPARK_LAB_SLOWNESS / 100)) $((SPARK_LAB_SLOWNESS % 100 / 10))
}

# Off in an orderly way; `hard` is the plug pulled. 30 s for units that will not stop, then the plug.
node_stop() {
  local id=$1 how=${2:-} cgroup leader deadline
  deadline=$((SECONDS + $(scaled 30)))
  cgroup=$(node_cgroup "$id")
  if [[ $how != hard ]] && leader=$(node_leader "$id"); then
    # RTMIN+4 requests poweroff.target of systemd.
    kill -s RTMIN+4 "$leader" || :
    while ((SECONDS < deadline)) && ! cgroup_is_empty "$cgroup"; do sleep 0.05; done
  fi
  cgroup_kill "$cgroup"
  net_unplug "$id"
  net_sync
}
