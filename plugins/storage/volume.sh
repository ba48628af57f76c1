# shellcheck shell=dash
# Connects a subsystem by NVMe over TCP, and disconnects one that this has connected. A connection that another made stays.
# Arguments: connect|disconnect NQN ADDRESS PORT. The kernel tries for ever to reach a target that went away.
made="$RUNTIME_DIRECTORY/made"
case $1 in
  connect)
    ! cat /sys/class/nvme-subsystem/nvme-subsys*/subsysnqn 2>/dev/null | grep -qxF -e "$2" || exit 0
    modprobe nvme-tcp
    nvme connect --transport=tcp --nqn="$2" --traddr="$3" --trsvcid="$4" --ctrl-loss-tmo=-1 || exit
    : >"$made"
    ;;
  disconnect)
    [ -e "$made" ] || exit 0
    # What `nvme disconnect` does: where `packages` brought nvme-cli, a prune may have removed it before.
    for subsystem in /sys/class/nvme-subsystem/nvme-subsys*; do
      [ "$(cat "$subsystem/subsysnqn" 2>/dev/null)" = "$2" ] || continue
      for controller in "$subsystem"/nvme*/delete_controller; do
        [ ! -e "$controller" ] || echo 1 >"$controller" || exit
      done
    done
    ;;
esac
