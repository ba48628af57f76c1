# shellcheck shell=dash
# What dpkg has of packages and, of those that are not there or too old, what apt would do. Nothing is changed or locked.
# Arguments: NAME LEAST for each, where LEAST is - for any version. Lines, each word without blanks but the last text:
#   apt yes|no      package NAME WANT STATUS VERSION|-      available NAME VERSION, newest first
#   step NAME PACKAGE FROM|- TO|-      simulated NAME      refused NAME TEXT      unreachable NAME SERVER
export LC_ALL=C
if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-query >/dev/null 2>&1; then
  echo 'apt no'
  exit 0
fi
echo 'apt yes'
arch=$(dpkg --print-architecture)

simulate() {
  apt-get -y -o Debug::NoLocking=1 -o APT::Get::Show-User-Simulation-Note=0 --no-install-recommends "$@" </dev/null 2>&1
}
# Servers that need no proxy and whose name has no address here, or whose address no route. Each is looked up once: without
# a name server that takes 5 s.
print_unreachable() { # NAME
  [ -z "${http_proxy-}${https_proxy-}" ] || return 0
  ! apt-config dump 2>/dev/null | grep -qi '^Acquire::https\{0,1\}::Proxy ' || return 0
  for server in $(simulate -qq --print-uris install "$1" | sed -n "s/^'https\{0,1\}:\/\/\([^/:']*\).*/\1/p" | sort -u); do
    case " $reached " in *" $server "*) continue ;; esac
    case " $lost " in
      *" $server "*)
        echo "unreachable $1 $server"
        continue
        ;;
    esac
    address=$(timeout 5 getent ahosts "$server" | sed -n '1s/ .*//p')
    if [ -n "$address" ] && ip route get "$address" >/dev/null 2>&1; then
      reached="$reached $server"
    else
      lost="$lost $server"
      echo "unreachable $1 $server"
    fi
  done
}
print_available() { # NAME
  apt-cache madison "$1" 2>/dev/null | awk -F'|' -v name="$1" '$3 ~ /Packages/ { gsub(/ /, "", $2); if (!said[$2]++) print "available", name, $2 }'
}

reached='' lost=''
while [ $# -gt 1 ]; do
  name=$1 least=$2
  shift 2
  # shellcheck disable=SC2016 # of dpkg-query
  found=$(dpkg-query -W -f '${Architecture} ${db:Status-Want} ${db:Status-Status} ${Version}\n' "$name" 2>/dev/null |
    awk -v arch="$arch" '$1 == arch || $1 == "all" || NF < 4 { print; exit }')
  case $found in
    *' '*' '*' '*) ;;
    *) found='- unknown not-installed -' ;;
  esac
  read -r _ want status version <<EOF
$found
EOF
  echo "package $name $want $status ${version:--}"
  case $status in
    installed | triggers-*)
      if [ "$least" = - ] || dpkg --compare-versions "$version" ge "$least"; then continue; fi
      ;;
  esac
  print_available "$name"
  [ "$want" != hold ] || continue
  if ! said=$(simulate -s -q install "$name"); then
    echo "refused $name $(printf '%s\n' "$said" | sed -n 's/^E: //p' | sed -n 1p)"
    continue
  fi
  steps=$(printf '%s\n' "$said" | awk -v name="$name" '
    $1 == "Inst" {
      from = "-"; at = 3
      if ($3 ~ /^\[/) { from = substr($3, 2, length($3) - 2); at = 4 }
      print "step", name, $2, from, substr($at, 2)
    }
    $1 == "Remv" { print "step", name, $2, substr($3, 2, length($3) - 2), "-" }')
  [ -z "$steps" ] || printf '%s\n' "$steps"
  echo "simulated $name"
  for upgraded in $(printf '%s\n' "$steps" | awk -v name="$name" '$4 != "-" && $3 != name { print $3 }'); do
    print_available "$upgraded"
  done
  print_unreachable "$name"
done
