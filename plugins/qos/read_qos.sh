# shellcheck shell=dash
# How ports treat traffic classes. Arguments: the unit's name, then the netdevs. Lines:
#   dcb yes|no   cma_roce_tos yes|no   unit TEXT   hca NETDEV ok NAME   pfc|dscp|tos NETDEV ok TEXT   pfc|dscp|tos NETDEV failed TEXT
export LC_ALL=C PATH="$PATH:/usr/sbin:/sbin:/usr/local/sbin"
unit=$1
shift
has() { if command -v "$1" >/dev/null 2>&1; then echo "$1 yes"; else echo "$1 no"; return 1; fi; }
show() { # WHAT NETDEV COMMAND…
  what=$1 netdev=$2
  shift 2
  if said=$("$@" 2>&1 </dev/null); then word=ok; else word=failed; fi
  printf '%s %s %s %s\n' "$what" "$netdev" "$word" "$(printf '%s' "$said" | tr '\n' ' ')"
}
printf 'unit %s\n' "$(systemctl is-enabled "$unit" 2>/dev/null | sed -n 1p)"
dcb=no tos=no
if has dcb; then dcb=yes; fi
if has cma_roce_tos; then tos=yes; fi
find_hca() { # NETDEV; sets `hca`, the name that the node gives to its RDMA device
  hca=
  for path in "/sys/class/net/$1/device/infiniband"/*; do
    [ ! -e "$path" ] || hca=${path##*/}
  done
}
for port do
  if [ "$dcb" = yes ]; then
    show pfc "$port" timeout 5 dcb pfc show dev "$port" prio-pfc
    show dscp "$port" timeout 5 dcb -N app show dev "$port" dscp-prio
  fi
  find_hca "$port"
  [ -z "$hca" ] || echo "hca $port ok $hca"
  [ "$tos" = yes ] || continue
  if [ -n "$hca" ]; then show tos "$port" timeout 5 cma_roce_tos -d "$hca"
  else echo "tos $port failed the interface has no RDMA device"; fi
done
exit 0
