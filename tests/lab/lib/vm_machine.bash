# shellcheck shell=bash disable=SC2154,SC2034
# Sourced over net.bash and node.bash where nodes are virtual machines; reads what run_load sets.
# One machine: a directory nodes/ID (disk, initrd, console.log, monitor), a cgroup with qemu alone, taps where containers have veths.

vm_memory_mib=1024
vm_common=(-m "$vm_memory_mib" -nodefaults -no-user-config -display none -serial stdio)
# Of what later processors can do, an emulator computes the least with this one: a boot takes it a quarter less than with `max`.
vm_machine=(-cpu qemu64 "${vm_common[@]}")
# Without pointer authentication, which costs an emulator more than all else, and with the atomic instructions of a Spark's processor.
vm_machine_arm64=(-machine "virt,gic-version=3" -accel tcg -cpu cortex-a76 "${vm_common[@]}")
# Bytes; what virtio offers the guest as the largest.
vm_host_mtu=9000

vm_mac() { printf '02:53:50:00:%02x:%02x' "$1" "$2"; }

# Hardware where it runs this very kernel, which a device /dev/kvm does not prove; otherwise qemu computes every instruction.
# Checked once per boot of the machine under the lab.
vm_accel() {
  local answer=$state_root/accel image
  if [[ ! -e $answer ]]; then
    image=$(image_ensure)
    if [[ -w /dev/kvm ]] && timeout 10 qemu-system-x86_64 -accel kvm "${vm_machine[@]}" -kernel "$image/kernel" \
      -append 'console=ttyS0 panic=-1' -no-reboot </dev/null 2>/dev/null | grep -q -m 1 '^\[.*Kernel panic'; then
      echo kvm >"$answer"
    else
      echo tcg >"$answer"
    fi
  fi
  cat "$answer"
}

machine_is_arm64() { case ,$arm64, in *,all,* | *,"$1",*) return 0 ;; *) return 1 ;; esac; }
machine_image() { if machine_is_arm64 "$1"; then arm64_image_ensure; else image_ensure; fi; }

# Every process in a machine's own cgroup is qemu; its number stands for the leader of a container.
node_leader() {
  local pid
  read -r pid 2>/dev/null <"$(node_cgroup "$1")/cgroup.procs" && echo "$pid"
}

# A login takes such a machine seconds, so that root's commands share one; `lab ssh` and the program log in on their own.
# It lives in the machine's cgroup, and ends with it.
machine_login() {
  local id=$1 cgroup
  cgroup=$(node_cgroup "$id")/shell
  rm -f "$run_dir/nodes/$id/login"
  mkdir -p "$cgroup"
  (
    echo "$BASHPID" >"$cgroup/cgroup.procs"
    close_inherited
    exec nsenter "--net=/run/netns/$(outer "$run")" -- ssh -F "$run_dir/home/.ssh/config" -o ServerAliveInterval=15 \
      -M -N -f -S "$run_dir/nodes/$id/login" "spark-$id"
  ) </dev/null >/dev/null 2>&1
}

node_enter() {
  local id=$1 words
  shift
  printf -v words '%q ' "$@"
  exec nsenter "--net=/run/netns/$(outer "$run")" -- ssh -F "$run_dir/home/.ssh/config" -o LogLevel=ERROR \
    -S "$run_dir/nodes/$id/login" "spark-$id" sudo env HOME=/root USER=root LOGNAME=root "$words"
}

eval "container_$(declare -f node_create)"
node_create() {
  local id=$1 dir=$run_dir/nodes/$1 image n=0 port
  container_node_create "$id"
  image=$(machine_image "$id")
  machine_is_arm64 "$id" || vm_accel >/dev/null
  mkdir -p "$dir/upper/etc/systemd/network"
  for port in "${ports[@]}"; do
    n=$((n + 1))
    # Before netplan's 10-netplan-*.link, which match by the name that these give.
    printf '[Match]\nMACAddress=%s\n[Link]\nName=%s\nMTUBytes=1500\n' "$(vm_mac "$id" "$n")" "${port_iface[$port]}" \
      >"$dir/upper/etc/systemd/network/05-lab-$port.link"
  done
  # What it writes and no more, for /run is often a small tmpfs.
  qemu-img create -q -f qcow2 -b "$image/root.ext4" -F raw "$dir/disk"
  mv "$dir/upper" "$dir/identity"
  { cat "$image/initrd" && (cd "$dir" && find identity | cpio --quiet -o -H newc | gzip -1); } >"$dir/initrd"
}

net_plug() {
  local id=$1 port
  for port in "${ports[@]}"; do
    in_outer ip tuntap add "n$id-$port" mode tap
    printf 'link set n%d-%s mtu %d addrgenmode none\n' "$id" "$port" "$lab_mtu"
  done | in_outer ip -batch -
}

# Runs as the supervisor and becomes qemu, in which a reboot of the machine stays.
node_supervise() {
  local id=$1 dir=$run_dir/nodes/$1 image port n=0 nics=() machine console=ttyS0
  close_inherited
  image=$(machine_image "$id")
  net_unplug "$id"
  net_plug "$id"
  net_sync
  for port in "${ports[@]}"; do
    n=$((n + 1))
    nics+=(-netdev "tap,id=$port,ifname=n$id-$port,script=no,downscript=no"
      -device "virtio-net-pci,netdev=$port,mac=$(vm_mac "$id" "$n"),host_mtu=$vm_host_mtu,romfile=")
  done
  if machine_is_arm64 "$id"; then
    machine=(qemu-system-aarch64 "${vm_machine_arm64[@]}")
    console=ttyAMA0
  else
    machine=(qemu-system-x86_64 -accel "$(vm_accel)" "${vm_machine[@]}")
  fi
  # norandmaps: an emulator uses what it translated again where a program lies at the same address; to start one takes a quarter of the time.
  exec nsenter "--net=/run/netns/$(outer "$run")" -- "${machine[@]}" -kernel "$image/kernel" -initrd "$dir/initrd" \
    -append "console=$console quiet net.ifnames=1 mitigations=off norandmaps" \
    -drive "file=$dir/disk,format=qcow2,if=virtio,cache=unsafe" -device virtio-rng-pci "${nics[@]}" </dev/null
}

# Far above a boot on a busy 2-core machine without KVM; that of arm64 never has one.
node_wait() {
  local id=$1 limit=300 state
  if machine_is_arm64 "$id"; then limit=900; fi
  limit=$(scaled "$limit")
  local deadline=$((SECONDS + limit))
  while ((SECONDS < deadline)); do
    state=$( (node_enter "$id" systemctl is-system-running --wait) 2>/dev/null) || :
    if [[ $state == running || $state == degraded ]]; then
      machine_login "$id" || : # each command logs in on its own then
      return
    fi
    node_leader "$id" >/dev/null || { state='no qemu'; break; }
    sleep 0.3
  done
  tail -n 20 "$run_dir/nodes/$id/console.log" >&2
  die "wanted spark-$id of run $run booted and its sshd answering within $limit s$(slowness), found: ${state:-no answer}"
}

node_stop() {
  local id=$1 how=${2:-} cgroup deadline
  deadline=$((SECONDS + $(scaled 60)))
  cgroup=$(node_cgroup "$id")
  if [[ $how != hard ]]; then
    (node_enter "$id" systemctl poweroff) >/dev/null 2>&1 || :
    while ((SECONDS < deadline)) && node_leader "$id" >/dev/null; do sleep 0.1; done
  fi
  cgroup_kill "$cgroup"
  net_unplug "$id"
  net_sync
}
