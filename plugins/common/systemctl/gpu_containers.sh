# shellcheck shell=dash
# The scope of each container whose first process has the NVIDIA driver's files mounted, one per line. Arguments: the
# folder of the control groups, and that of the processes.
[ -r "$1" ] && command -v find >/dev/null || { echo "wanted the folders of $1" >&2; exit 1; }
find "$1" -type d '(' -name 'docker-*.scope' -o -name 'libpod-*.scope' -o -name 'cri-containerd-*.scope' -o \
  -name 'crio-*.scope' ')' 2>/dev/null | while read -r folder; do
  pid=$(find "$folder" -name cgroup.procs -exec cat {} + 2>/dev/null | head -n 1)
  [ -z "$pid" ] || ! grep -qs nvidia "$2/$pid/mountinfo" || printf '%s\n' "${folder##*/}"
done | sort -u
