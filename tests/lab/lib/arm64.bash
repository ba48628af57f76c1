# shellcheck shell=bash disable=SC2154
# Sourced by `lab`, over root.bash and vm_image.bash, whose steps it takes for another type of machine.
# Virtual machines of arm64, as Sparks are, on a machine of another type: qemu-user runs the programs of their root file system while
# that is made, qemu-system computes every instruction of the machine.

# From here on this kernel runs programs for arm64. They find their emulator by F: it is opened here, outside their root file
# system. POC: they see their own name and set-user-id bits. The mount ends with the mount namespace of the caller; the entry does not, and
# is removed by arm64_programs_end. An entry of this machine's own stays.
arm64_programs_begin() {
  local at=/proc/sys/fs/binfmt_misc emulator header
  [[ $(uname -m) != aarch64 ]] || return 0
  [[ -e $at/register ]] || mount -t binfmt_misc binfmt_misc "$at"
  if grep -qs -e '^enabled' "$at/qemu-aarch64" "$at/lab-arm64"; then return; fi
  emulator=$(command -v qemu-aarch64-static) || die 'wanted qemu-aarch64-static (package qemu-user-static), found none'
  # ELF, 64 bits, little-endian; any system; a program or a shared object (2 or 3); machine 183.
  header='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
  trap arm64_programs_end EXIT
  printf '%s' ":lab-arm64:M::$header:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:$emulator:POCF" \
    >"$at/register"
}
arm64_programs_end() { [[ ! -e /proc/sys/fs/binfmt_misc/lab-arm64 ]] || echo -1 >/proc/sys/fs/binfmt_misc/lab-arm64; }

# Both run in a mount namespace of their own, as image_build does.
arm64_build_root() {
  local target=$1
  arm64_programs_begin
  # Not checked: what this kernel runs, since mmdebstrap looks for the name of an entry of the package qemu-user-static.
  http_proxy=$(root_proxy) mmdebstrap --arch=arm64 --skip=check/qemu --variant=minbase "--include=${root_packages[*]}" \
    "$os" "$target" "deb $(root_source)"
  root_dress "$target"
}

arm64_build_image() {
  vm_packages=("${vm_packages[@]/linux-image-amd64/linux-image-arm64}")
  arm64_programs_begin
  image_build "$@"
}

# Builds what is missing and prints the directory with root.ext4, kernel and initrd.
arm64_image_ensure() {
  local base image
  [[ $os == bookworm ]] || die "wanted virtual machines with bookworm, found $os; only containers have another"
  base=$cache/base-$os-arm64-$(root_digest)
  image=$cache/vm-$os-arm64-$(cat "$lab_dir"/lib/{root,vm_image,arm64}.bash | sha256sum | cut -c1-12)
  mkdir -p "$cache"
  (
    # A lock of its own: minutes, in which others build what they need.
    flock 8
    if [[ ! -d $image ]]; then
      note 'building the root file system, kernel and image for arm64 (minutes, once)'
      if [[ ! -d $base ]]; then
        rm -rf "$base.new"
        arm64_step _build_arm64_root "$base.new" || die "wanted $base; the build failed (its output is in $cache/build-arm64.log)"
        mv "$base.new" "$base"
      fi
      rm -rf "$image.new"
      arm64_step _build_arm64_image "$base" "$image.new" || die "wanted $image; the build failed (its output is in $cache/build-arm64.log)"
      mv "$image.new" "$image"
    fi
  ) 8>"$cache/lock-arm64"
  echo "$image"
}
arm64_step() { unshare --mount --propagation private "$lab_dir/lab" "$1" --os "$os" "${@:2}" >>"$cache/build-arm64.log" 2>&1; }
