# shellcheck shell=dash
# $1: the user that logs in (empty: the one who did). $2: a name to look for in a libnccl, beside its version (empty: none).
# A line per finding, "KIND TEXT"; "=" begins what grep prints. What is not there has no line.
user=${1:-${SUDO_USER:-root}} variable=$2
date '+clock %s'
show_sensor() { # NAME VALUE-FILE LIMIT-FILE…: the first limit that is a number
  name=$1 value=''
  read -r value <"$2" || return
  shift 2
  for file do
    limit=''
    read -r limit <"$file" || continue
    case $limit in '' | 0 | *[!0-9]*) continue ;; esac
    echo "sensor $value $limit $name"
    return
  done
}
# The lowest of the places where a zone begins to throttle, and of those where it gives up.
show_zone() { # FOLDER
  type='' lowest=''
  read -r type <"$1/type" || return
  for file in "$1"/trip_point_*_type; do
    read -r kind <"$file" || continue
    read -r limit <"${file%_type}_temp" || continue
    case $kind in passive | hot | critical) ;; *) continue ;; esac
    case $limit in '' | 0 | *[!0-9]*) continue ;; esac
    [ -n "$lowest" ] && [ "$lowest" -le "$limit" ] || lowest=$limit
  done
  read -r value <"$1/temp" && [ -z "$lowest" ] || echo "sensor $value $lowest $type"
}
{
  for folder in /sys/class/thermal/thermal_zone*; do [ ! -e "$folder/temp" ] || show_zone "$folder"; done
  for folder in /sys/class/hwmon/hwmon*; do
    read -r name <"$folder/name" || continue
    [ "$name" = mlx5 ] || continue
    for file in "$folder"/temp*_input; do
      show_sensor "mlx5 ${folder##*hwmon}" "$file" "${file%_input}_crit" "${file%_input}_max"
    done
  done
  for folder in /sys/class/thermal/cooling_device*; do
    read -r type <"$folder/type" || continue
    read -r state <"$folder/cur_state" || continue
    case $type in Processor | *cpufreq* | *devfreq*) [ "$state" = 0 ] || echo "throttled $type ${folder##*cooling_device}: $state" ;; esac
  done
} 2>/dev/null
set -- /dev/infiniband/uverbs*
[ -e "$1" ] || shift
[ ! -e /dev/infiniband/rdma_cm ] || set -- "$@" /dev/infiniband/rdma_cm
[ $# = 0 ] || stat -c 'device %a %U %G %n' "$@" 2>/dev/null
groups=$(id -Gn -- "$user" 2>/dev/null) && echo "groups $groups"
# Containers with a process that was given variables of NCCL that only several nodes need.
set --
for file in /sys/fs/cgroup/system.slice/docker-*.scope/cgroup.procs; do
  while read -r pid; do set -- "$@" /proc/"$pid"/environ; done <"$file"
done 2>/dev/null
# Its id: other lines of the file are there beside control groups of version 1.
find_container() { # FOLDER
  while read -r line; do
    case $line in */docker-*.scope*) id=${line##*/docker-} id=${id%%.scope*}; return 0 ;; esac
  done <"$1/cgroup"
  return 1
}
# The libnccl that such a process has loaded is read as it is mapped: its path is the container's, and may be another file by
# now. Each line of maps is "RANGE MODE OFFSET DEVICE INODE PATH".
show_loaded() { # MAPS…
  grep -HsE '/libnccl[.]so[.0-9]*( [(]deleted[)])?$' "$@" | {
    set --
    seen=' '
    while read -r place _ _ device inode path; do
      folder=${place%%/maps:*}
      find_container "$folder" || continue
      case $seen in *" $id:$device:$inode "*) continue ;; esac
      [ $# -lt 16 ] || continue # more are not of one job
      seen="$seen$id:$device:$inode "
      file=$folder/map_files/${place#*:}
      printf 'loaded %s %s %s\n' "$id" "$file" "$path"
      set -- "$@" "$file"
    done
    [ $# != 0 ] || return 0
    if [ -n "$variable" ]; then set -- -e "$variable" -- "$@"; else set -- -m1 -- "$@"; fi
    echo '= versions'
    grep -aoHsE -e 'NCCL version [0-9]+[.][0-9]+[.][0-9]+' "$@" </dev/null
  }
}
[ $# = 0 ] || grep -lzsE '^NCCL_(IB_HCA|SOCKET_IFNAME|COMM_ID)=' "$@" | {
  set --
  seen=' '
  while read -r file; do
    folder=${file%/environ} has=no memory=''
    find_container "$folder" || continue
    set -- "$@" "$folder/maps"
    case $seen in *" $id "*) continue ;; esac
    seen="$seen$id "
    for device in "$folder/root/dev/infiniband"/uverbs*; do [ ! -e "$device" ] || has=yes; done
    while read -r word second third soft _; do
      [ "$word $second $third" != 'Max locked memory' ] || memory=$soft
    done <"$folder/limits"
    echo "container $id $has $memory"
  done
  [ $# = 0 ] || show_loaded "$@"
} 2>/dev/null
echo '= files'
grep -HsE '^(interface-name=|(auto|allow-hotplug|iface) |(MemAvailable|SwapTotal|SwapFree):)' /proc/meminfo \
  /run/NetworkManager/system-connections/* /etc/network/interfaces /etc/network/interfaces.d/*
# The rules of IPv4; ufw writes the file whenever they change.
[ ! -e /etc/ufw/user.rules ] || stat -c '= rules
rules %Y' /etc/ufw/user.rules 2>/dev/null
{ read -r uptime _ <"/proc/uptime"; } 2>/dev/null || return 0
# awk starts dmesg, and learns by that whether it could read.
awk -v uptime="$uptime" '
  function print_last(line, count, most, i) { for (i = count > most ? count - most + 1 : 1; i <= count; i++) print line[i] }
  BEGIN {
    read_log = "dmesg 2>/dev/null"
    while ((read_log | getline) > 0) {
      if (/[[]UFW BLOCK[]].* PROTO=TCP .* SYN /) drop[++drops] = $0
      if (/AER: .*Uncorrect(ed|able)|NVRM: Xid|NV_ERR_NO_MEMORY|Out of memory: Killed process|soft lockup|hard LOCKUP/ ||
          /mlx5_core .*(compromised|Link down)/) event[++events] = $0
    }
    if (close(read_log) != 0) exit
    print "= log"
    print "uptime", uptime
    print_last(drop, drops, 50)
    print_last(event, events, 100)
  }'
return 0
