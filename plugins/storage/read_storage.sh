# shellcheck shell=dash
# What the node has of volumes. Arguments: -p MOUNT, -d DEVICE and -u UNIT, as often as needed. Lines:
#   nvme_cli yes|no      module yes|no      subsystem STATE NQN      device LINK TARGET      unit STATE ACTIVE NAME
#   mount PATH SOURCE TYPE OPTIONS      writable LINK PATH, of a device that is mounted for writing anywhere
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin"
if command -v nvme >/dev/null 2>&1; then echo 'nvme_cli yes'; else echo 'nvme_cli no'; fi
if [ -d /sys/module/nvme_tcp ] || modprobe -n -q nvme-tcp 2>/dev/null; then echo 'module yes'; else echo 'module no'; fi
for subsystem in /sys/class/nvme-subsystem/nvme-subsys*; do
  [ -r "$subsystem/subsysnqn" ] || continue
  state=$(cat "$subsystem"/nvme*/state 2>/dev/null | sed -n 1p)
  printf 'subsystem %s %s\n' "${state:-none}" "$(sed -n 1p "$subsystem/subsysnqn")"
done
# The kernel lists a device of LVM as it was mounted, as /dev/mapper/vg-lv, which is a link to the device that it is.
mounts=$(awk '{ print $1, $2, $3, $4 }' /proc/self/mounts | while read -r source rest; do
  case $source in
    /dev/*) if [ -L "$source" ] && target=$(readlink -f "$source"); then source=$target; fi ;;
  esac
  printf '%s %s\n' "$source" "$rest"
done)
while [ $# -gt 1 ]; do
  case $1 in
    -p)
      # The last one is what programs see.
      printf '%s\n' "$mounts" |
        awk -v path="$2" '$2 == path { line = "mount " $2 " " $1 " " $3 " " $4 } END { if (line != "") print line }'
      ;;
    -d)
      if [ -e "$2" ]; then
        target=$(readlink -f "$2")
        printf 'device %s %s\n' "$2" "$target"
        printf '%s\n' "$mounts" |
          awk -v link="$2" -v device="$target" '$1 == device && ("," $4 ",") ~ /,rw,/ && !said++ { print "writable " link " " $2 }'
      fi
      ;;
    -u)
      printf 'unit %s %s %s\n' "$(systemctl is-enabled -- "$2" 2>/dev/null | sed -n 1p | grep . || echo not-found)" \
        "$(systemctl is-active -- "$2" 2>/dev/null | sed -n 1p | grep . || echo unknown)" "$2"
      ;;
  esac
  shift 2
done
exit 0
