# shellcheck shell=bash disable=SC2154
# Sourced by `lab`, which sets $lab_dir and $os.
# The root file systems that nodes share read-only: `base` (networkd), and `nm`, a layer over it with NetworkManager.
# Their directories carry the Debian suite and the digest of this file, so that an edit here makes new ones.

cache=${SPARK_LAB_CACHE:-/var/cache/spark-reconcile-lab}
root_packages=(systemd systemd-sysv dbus dbus-user-session libpam-systemd udev openssh-server openssh-client
  netplan.io iproute2 iputils-ping rdma-core sudo ethtool e2fsprogs python3-minimal kmod procps lldpd apt)

root_digest() { sha256sum "$lab_dir/lib/root.bash" | cut -c1-12; }

# What this machine's apt uses, or else its environment.
root_proxy() {
  local proxy=''
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  echo "${proxy:-${http_proxy:-}}"
}

is_ubuntu() { [[ $os == noble ]]; }

# A mirror near this machine, from its own apt where that speaks of the nodes' distribution; for a suite that apt does not use,
# only one that has it.
root_mirror() {
  local origin=Debian other=http://deb.debian.org/debian uri='' release=''
  if is_ubuntu; then
    origin=Ubuntu other=http://archive.ubuntu.com/ubuntu
    [[ $(dpkg --print-architecture) == amd64 ]] || other=http://ports.ubuntu.com/ubuntu-ports
  fi
  # shellcheck disable=SC2016
  read -r release uri < <(apt-get indextargets --format '$(ORIGIN) $(RELEASE) $(REPO_URI)' 2>/dev/null |
    awk -v origin="$origin" -v suite="$os" '$1 == origin && $3 ~ /^https?:/ && $2 !~ /security/ {
      if ($2 == suite) { best = $2 " " $3; exit } if (any == "") any = $2 " " $3 }
      END { print best != "" ? best : any }') || :
  if [[ -n $uri && $release != "$os" ]]; then
    http_proxy=$(root_proxy) wget -q --spider --timeout=10 --tries=1 "${uri%/}/dists/$os/Release" || uri=
  fi
  echo "${uri:-$other}"
}

# Whether there is an answer within seconds; apt would try for minutes. Only where a test is skipped without one.
root_mirror_answers() {
  local mirror
  mirror=$(root_mirror)
  http_proxy=$(root_proxy) wget -q --spider --timeout=10 --tries=1 "${mirror%/}/dists/$os/Release"
}

# Turns the tree of the packages into something like a Spark as it leaves its first boot.
root_dress() {
  local root=$1 unit generator
  chroot "$root" useradd -m -u 1000 -s /bin/bash -G sudo,adm -p '*' nvidia
  chmod 0750 "$root/home/nvidia"
  install -m 0440 /dev/stdin "$root/etc/sudoers.d/nvidia" <<<'nvidia ALL=(ALL) NOPASSWD: ALL'

  # Ubuntu's, which has the sbin directories for everyone; pam_env reads it.
  echo 'PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games:/usr/local/games:/snap/bin"' \
    >"$root/etc/environment"
  echo LANG=C.UTF-8 >"$root/etc/default/locale"

  # What the packages made once must differ per node, or speaks of the building machine.
  rm -f "$root"/etc/ssh/ssh_host_* "$root"/etc/{machine-id,hostname,resolv.conf} "$root"/var/lib/dbus/machine-id
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/log/*.log

  # Timers, consoles and file systems that nothing here uses only take the two cores away from the tests; each path unit takes one
  # of the machine's 128 inotify instances.
  for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer \
    e2scrub_reap.service systemd-pstore.service console-getty.service proc-sys-fs-binfmt_misc.automount \
    systemd-ask-password-console.path systemd-ask-password-wall.path \
    {dev-hugepages,dev-mqueue,sys-fs-fuse-connections,sys-kernel-debug,sys-kernel-tracing}.mount \
    modprobe@{dm_mod,drm,efi_pstore,fuse,loop}.service; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
  done
  chroot "$root" systemctl -q disable lldpd.service getty@.service
  # Started at each boot and each reload of systemd, and none has anything to generate here. Ubuntu itself leaves one of them out.
  mkdir -p "$root"/etc/systemd/{system,user}-generators
  for generator in "$root"/usr/lib/systemd/{system,user}-generators/systemd-*; do
    [[ $generator == */systemd-fstab-generator ]] || ln -sf /dev/null "$root/etc${generator#"$root/usr/lib"}"
  done

  # Otherwise each node does at its first boot what the packages did already: the linker's cache, the journal's catalog, netplan's Python.
  touch "$root/etc/.updated" "$root/var/.updated"
  chroot "$root" python3 -m compileall -q /usr/share/netplan

  # udev marks veths as not for NetworkManager; here they stand for real cards.
  ln -sf /dev/null "$root/etc/udev/rules.d/85-nm-unmanaged.rules"

  # /sys shows the machine's other devices too, and the kernel sends their uevents to every namespace:
  # a whole coldplug per node would cost (nodes)^2 events.
  install -D -m 0644 /dev/stdin "$root/etc/systemd/system/systemd-udev-trigger.service.d/lab.conf" <<'UNIT'
[Service]
ExecStart=
ExecStart=udevadm trigger --type=devices --subsystem-match=net --action=add
UNIT

  # Outside /proc/sys/net a sysctl belongs to the machine that runs the tests, which a node must not change.
  install -D -m 0644 /dev/stdin "$root/etc/systemd/system/lab-proc-sys.service" <<'UNIT'
[Unit]
Description=Keep the sysctls of the machine under the lab read-only
DefaultDependencies=no
Before=systemd-sysctl.service systemd-udevd.service sysinit.target
[Service]
Type=oneshot
RemainAfterExit=yes
# rbind: nspawn has mounted a boot_id of the node's own in there.
ExecStart=mount --rbind /proc/sys /proc/sys
ExecStart=mount --bind /proc/sys/net /proc/sys/net
ExecStart=mount -o remount,bind,ro /proc/sys
[Install]
WantedBy=sysinit.target
UNIT
  chroot "$root" systemctl -q enable lab-proc-sys.service
  is_ubuntu || chroot "$root" systemctl -q enable ssh.service # Ubuntu's starts with the first connection, by ssh.socket
}

# "[OPTIONS] MIRROR SUITE COMPONENT…", as in apt's sources. Without the distribution's keys on this machine nothing can be checked.
root_source() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg components=main trust=trusted=yes
  if is_ubuntu; then keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg components='main universe'; fi
  [[ ! -e $keyring ]] || trust=signed-by=$keyring
  echo "[$trust] $(root_mirror) $os $components"
}

root_build_base() {
  local target=$1
  http_proxy=$(root_proxy) mmdebstrap --variant=minbase "--include=${root_packages[*]}" "$os" "$target" "deb $(root_source)"
  root_dress "$target"
}

# Runs in a mount namespace of its own, so that nothing stays mounted however it ends.
root_build_nm() {
  local base=$1 target=$2 merged=$2/merged
  mkdir -p "$target"/{layer,work,merged}
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$target/layer,workdir=$target/work" "$merged"
  mount -t proc proc "$merged/proc"
  cp -L /etc/resolv.conf "$merged/etc/resolv.conf"
  printf '#!/bin/sh\nexit 101\n' | install -m 0755 /dev/stdin "$merged/usr/sbin/policy-rc.d"
  http_proxy=$(root_proxy) DEBIAN_FRONTEND=noninteractive \
    chroot "$merged" sh -euc 'apt-get -qq update
      apt-get -qq -y --no-install-recommends install network-manager
      apt-get clean'
  rm -f "$merged/etc/resolv.conf" "$merged/usr/sbin/policy-rc.d"
}

# root_ensure networkd|nm: builds what is missing and prints overlayfs' lowerdir for that flavour. Labs with another OS do not wait
# for that.
root_ensure() {
  local flavour=$1 digest base nm
  digest=$(root_digest)
  base=$cache/base-$os-$digest
  nm=$cache/nm-$os-$digest
  mkdir -p "$cache"
  (
    flock 8
    if [[ ! -d $base ]]; then
      ! is_ubuntu || root_mirror_answers || die "wanted the packages of $os for $base, found no answer from $(root_mirror)"
      note "building the nodes' root file system with $os from $(root_mirror) (half a minute, once)"
      rm -rf "$base.new"
      "$lab_dir/lab" _build_base --os "$os" "$base.new" >>"$cache/build-$os.log" 2>&1 ||
        die "wanted $base; the build failed (its output is in $cache/build-$os.log)"
      mv "$base.new" "$base"
    fi
    if [[ $flavour == nm && ! -d $nm ]]; then
      note 'adding the layer with NetworkManager (about 20 s, once)'
      rm -rf "$nm.new"
      unshare --mount --propagation private "$lab_dir/lab" _build_nm --os "$os" "$base" "$nm.new" >>"$cache/build-$os.log" 2>&1 ||
        die "wanted $nm; the build failed (its output is in $cache/build-$os.log)"
      mv "$nm.new/layer" "$nm"
      rm -rf "$nm.new"
    fi
  ) 8>"$cache/lock-$os"
  if [[ $flavour == nm ]]; then echo "$nm:$base"; else echo "$base"; fi
}
