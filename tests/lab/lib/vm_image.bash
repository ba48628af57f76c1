# shellcheck shell=bash disable=SC2154
# Sourced by `lab`, which sets $lab_dir and $cache.
# What virtual machines start from: the lab's root file system with a kernel as an ext4 image, that kernel and its initrd.

vm_packages=(busybox-static linux-image-amd64 ibverbs-utils nftables nvme-cli perftest)
# Bytes of the disk; the image is sparse.
vm_disk=3G

image_digest() { cat "$lab_dir/lib/root.bash" "$lab_dir/lib/vm_image.bash" | sha256sum | cut -c1-12; }

# image_early_boot ROOT VERSION FILE: an initrd whose first program mounts the disk, and puts a node's own files (keys, host name,
# addresses), which come behind the initrd, into a disk that has none yet. It looks for no devices, as the usual one does for some
# seconds of an emulated processor.
image_early_boot() {
  local root=$1 version=$2 file=$3 at=$3.d name
  mkdir -p "$at"/{bin,dev,modules,root}
  cp "$root/bin/busybox" "$at/bin/busybox"
  for name in cp insmod mount sh switch_root; do ln -s busybox "$at/bin/$name"; done
  # Each after those that it needs; the emulated processor has not what crc32c-intel is for.
  for name in virtio_pci virtio_blk ext4 crc32c_generic; do
    chroot "$root" modprobe -S "$version" --show-depends "$name"
  done | awk '$1 == "insmod" && !/crc32c-intel/ && !seen[$2]++ { print $2 }' | while read -r name; do
    cp "$root$name" "$at/modules/"
    echo "insmod /modules/${name##*/}"
  done >"$at/load"
  install -m 0755 /dev/stdin "$at/init" <<'SCRIPT'
#!/bin/sh
export PATH=/bin
mount -t devtmpfs devtmpfs /dev
. /load
until [ -b /dev/vda ]; do :; done
mount -t ext4 /dev/vda /root
if [ -d /identity ] && [ ! -e /root/etc/lab-identity ]; then
  cp -a /identity/. /root/
  : >/root/etc/lab-identity
fi
mount -o move /dev /root/dev
exec switch_root /root /sbin/init <"/root/dev/console" >"/root/dev/console" 2>&1
SCRIPT
  (cd "$at" && find . | cpio --quiet -o -H newc) >"$file"
  rm -rf "$at"
}

# extract_kernel VMLINUZ FILE: what qemu starts. Of Debian's kernel for amd64 that is what it unpacks with xz, for which more bytes
# follow the end; qemu starts it without the code that unpacks it (PVH). The one for arm64 is not packed.
extract_kernel() {
  local at
  if [[ $1 != *-amd64 ]]; then
    cp "$1" "$2"
    return
  fi
  at=$(LC_ALL=C grep -obUaP -m 1 '\xfd7zXZ\x00' "$1" | head -n 1 | cut -d: -f1)
  tail -c "+$((at + 1))" "$1" | xz -dc >"$2" 2>/dev/null || [[ $(head -c 4 "$2") == $'\x7fELF' ]]
}

# The modules that two machines with virtio, soft-RoCE and NVMe over TCP can want.
image_prune_modules() {
  local drivers=$1/kernel/drivers
  rm -rf "$1"/kernel/{sound,net/{wireless,mac80211,bluetooth},fs/{ocfs2,xfs,btrfs,nfs,nfsd,smb,ceph,f2fs,gfs2,jfs,reiserfs}}
  find "$drivers" -mindepth 1 -maxdepth 1 ! -name infiniband ! -name net ! -name block ! -name nvme ! -name virtio ! -name char -exec rm -rf {} +
  rm -rf "$drivers"/net/{ethernet,wireless,wan,usb,can,fddi,hamradio,arcnet,ppp,slip,plip}
}

# Leaves out of a boot what nothing here uses; each program that does not start saves an emulated processor a tenth of a second.
image_trim_boot() {
  local root=$1
  # Of 290 devices these have rules that count here. What appears later has its own events.
  cat >"$root/etc/systemd/system/systemd-udev-trigger.service.d/lab.conf" <<'UNIT'
[Service]
ExecStart=
ExecStart=udevadm trigger --type=devices --action=add --subsystem-match=virtio --subsystem-match=net --subsystem-match=block
ExecStart=udevadm trigger --type=devices --action=add --sysname-match=ttyS0 --sysname-match=ttyAMA0
UNIT
  # The modules of iSCSI and NFS over RDMA, which need others that image_prune_modules removes.
  sed -i '/^ib_iser$/d; /^xprtrdma$/d; /^svcrdma$/d' "$root/etc/rdma/modules/rdma.conf"
}

# Makes the tree a machine's again where root.bash made it a namespace's, and adds soft-RoCE with the Spark's names.
image_dress() {
  local root=$1
  rm -rf "$root"/etc/systemd/system/{lab-proc-sys.service,sysinit.target.wants/lab-proc-sys.service}
  echo '/dev/vda / ext4 rw,relatime 0 1' >"$root/etc/fstab"
  echo 'blacklist mlx5_core' >"$root/etc/modprobe.d/lab.conf"
  # A login of one node to another one takes an emulated processor half the time of what OpenSSH prefers.
  echo 'KexAlgorithms curve25519-sha256' >"$root/etc/ssh/sshd_config.d/lab.conf"
  install -D -m 0755 /dev/stdin "$root/usr/local/sbin/lab-rxe" <<'SCRIPT'
#!/bin/sh
# crc32_generic: rxe computes its checksum with it, and says ENOENT without.
modprobe -a crc32_generic rdma_rxe
for pair in enp1s0f0np0:rocep1s0f0 enP2p1s0f0np0:roceP2p1s0f0 enp1s0f1np1:rocep1s0f1 enP2p1s0f1np1:roceP2p1s0f1; do
  [ -e "/sys/class/infiniband/${pair#*:}" ] || rdma link add "${pair#*:}" type rxe netdev "${pair%:*}"
done
SCRIPT
  install -D -m 0644 /dev/stdin "$root/etc/systemd/system/lab-rxe.service" <<'UNIT'
[Unit]
Description=Soft-RoCE devices with the names of a Spark's
DefaultDependencies=no
After=systemd-udev-settle.service systemd-sysusers.service
Wants=systemd-udev-settle.service
Before=network.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/lab-rxe
[Install]
WantedBy=multi-user.target
UNIT
  chroot "$root" systemctl -q enable lab-rxe.service
}

# Runs in a mount namespace of its own, so that nothing stays mounted however it ends.
image_build() {
  local base=$1 target=$2 merged=$2/merged version
  mkdir -p "$target"/{layer,work,merged}
  mount -t overlay overlay -o "lowerdir=$base,upperdir=$target/layer,workdir=$target/work" "$merged"
  mount -t proc proc "$merged/proc"
  cp -L /etc/resolv.conf "$merged/etc/resolv.conf"
  printf '#!/bin/sh\nexit 101\n' | install -m 0755 /dev/stdin "$merged/usr/sbin/policy-rc.d"
  # No initrd of the usual kind: it would be made twice, each time by 10,000 programs.
  http_proxy=$(root_proxy) DEBIAN_FRONTEND=noninteractive INITRD=No \
    chroot "$merged" sh -euc "apt-get -qq update
      apt-get -qq -y --no-install-recommends install ${vm_packages[*]}
      apt-get clean"
  rm -rf "$merged"/{etc/resolv.conf,usr/sbin/policy-rc.d} "$merged"/var/lib/apt/lists/*
  version=$(basename "$merged"/lib/modules/*)
  image_prune_modules "$merged/lib/modules/$version"
  image_dress "$merged"
  image_trim_boot "$merged"
  chroot "$merged" depmod "$version"
  extract_kernel "$merged/boot/vmlinuz-$version" "$target/kernel"
  image_early_boot "$merged" "$version" "$target/initrd"
  umount "$merged/proc"
  rm -rf "${merged:?}"/boot/*
  mke2fs -q -t ext4 -L lab -E lazy_itable_init=1,lazy_journal_init=1 -d "$merged" "$target/root.ext4" "$vm_disk"
  umount "$merged"
  rm -rf "${target:?}"/{layer,work,merged}
}

# Builds what is missing and prints the directory with root.ext4, kernel and initrd.
image_ensure() {
  local base image
  [[ $os == bookworm ]] || die "wanted virtual machines with bookworm, found $os; only containers have another"
  base=$(root_ensure networkd)
  image=$cache/vm-$os-$(image_digest)
  (
    flock 8
    if [[ ! -d $image ]]; then
      note 'building the virtual machines'\'' image with its kernel (about a minute, once)'
      rm -rf "$image.new"
      unshare --mount --propagation private "$lab_dir/lab" _build_image "$base" "$image.new" >>"$cache/build-$os.log" 2>&1 ||
        die "wanted $image; the build failed (its output is in $cache/build-$os.log)"
      mv "$image.new" "$image"
    fi
  ) 8>"$cache/lock-$os"
  echo "$image"
}
