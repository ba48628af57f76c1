"""The kernel of a virtual machine as a target of NVMe over TCP, which serves file systems that lie in files."""

TARGET = "/sys/kernel/config/nvmet"
FUNCTIONS = f"""set -e
modprobe -a nvmet nvmet-tcp
listen() {{ # ADDRESS
  ! [ -e {TARGET}/ports/1 ] || return 0
  mkdir {TARGET}/ports/1
  cd {TARGET}/ports/1
  echo ipv4 >addr_adrfam; echo tcp >addr_trtype; echo 4420 >addr_trsvcid; echo "$1" >addr_traddr
}}
serve() {{ # NQN LABEL
  # The kernel serves a file in blocks of 4096 bytes, and no file system with smaller ones can be mounted there.
  [ -e "/var/$2.img" ] || {{ truncate -s 64M "/var/$2.img"; mkfs.ext4 -q -b 4096 -L "$2" "/var/$2.img"; }}
  mkdir -p "{TARGET}/subsystems/$1/namespaces/1"
  cd "{TARGET}/subsystems/$1"
  echo 1 >attr_allow_any_host
  [ "$(cat namespaces/1/enable)" = 1 ] || {{ printf %s "/var/$2.img" >namespaces/1/device_path; echo 1 >namespaces/1/enable; }}
  ln -sfn "$PWD" "{TARGET}/ports/1/subsystems/$1"
}}
"""


def serve(address, volumes):
    """A script that serves an ext4 for each label, by the name of its subsystem (NQN). Each is made once; what is in configfs is gone after a
    restart."""
    return FUNCTIONS + f"listen {address}\n" + "".join(f"serve {nqn} {label}\n" for nqn, label in volumes.items())


def stop(nqn):
    return f"rm -f {TARGET}/ports/1/subsystems/{nqn}"
