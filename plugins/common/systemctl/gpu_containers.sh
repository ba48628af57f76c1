# shellcheck shell=dash
# The scope of each container whose first process has the NVIDIA driver's files mounted, one per line. Arguments: the
# folder of the control groups, and that of the processes.
[ -r "$1" ] && command -v find >/dev/null || { echo "wanted the folders of $1" >&2; return 1; }
[ -e "$2/driver/nvidia" ] || return 0 # without the driver no container has a GPU that it could lose
scopes=$(find "$1" -type d '(' -name 'docker-*.scope' -o -name 'libpod-*.scope' -o -name 'cri-containerd-*.scope' -o \
  -name 'crio-*.scope' ')' 2>/dev/null)
[ -n "$scopes" ] || return 0
while IFS= read -r folder; do
  pid=''
  for file in "$folder"/cgroup.procs "$folder"/*/cgroup.procs "$folder"/*/*/cgroup.procs; do
    [ ! -r "$file" ] || read -r pid <"$file" || continue
    [ -z "$pid" ] || break
  done
  [ -z "$pid" ] || ! grep -qs nvidia "$2/$pid/mountinfo" || printf '%s\n' "${folder##*/}"
done <<END
$scopes
END
return 0
