#include "reconciler/cabling/observe/cabling_script.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::string_view kHead =
    R"sh(LC_ALL=C PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH
cd /
run() { timeout -k 1 "$@" </dev/null 2>/dev/null; }
state() { # IFACE: missing, down, no-carrier or link
  [ -e "/sys/class/net/$1" ] || { echo missing; return; }
  flags=0; read -r flags <"/sys/class/net/$1/flags"
  [ $((flags & 1)) = 1 ] || { echo down; return; }
  carrier=0; read -r carrier 2>/dev/null <"/sys/class/net/$1/carrier"
  [ "$carrier" = 1 ] || { echo no-carrier; return; }
  echo link
}
own() { run 5 ip -6 -o address show dev "$1" scope link $2 | awk '{ sub("/.*", "", $4); print $4 }'; }
derived() { # IFACE: the link-local address that its MAC makes
  mac=$(cat "/sys/class/net/$1/address") || return 1
  old=$IFS; IFS=:; set -- $mac; IFS=$old
  [ $# = 6 ] || return 1
  printf 'fe80::%x:%x:%x:%x' $((((0x$1 ^ 2) << 8) + 0x$2)) $(((0x$3 << 8) + 255)) $((0xfe00 + 0x$4)) $(((0x$5 << 8) + 0x$6))
}
)sh";

// "$session" is our own address in the session. An address that the kernel still tests for being
// unique answers nobody: that takes a second.
constexpr std::string_view kLend = R"sh(
session=$(echo "$1" | awk '{ print $3 }')
carries_session() { [ -n "$session" ] && run 5 ip -o address show dev "$1" | grep -qF " $session/"; }
lend() {
  [ "$(state "$1")" = link ] && [ -z "$(own "$1")" ] && ! carries_session "$1" || return 0
  address=$(derived "$1") &&
    run 5 ip -6 address replace "$address/64" dev "$1" scope link nodad valid_lft @LENT@ preferred_lft @LENT@
}
tell() {
  state=$(state "$1")
  echo "port $1 $state $(cat "/sys/class/net/$1/address" 2>/dev/null)"
  [ "$state" != link ] || for address in $(own "$1" -tentative); do echo "own $1 $address"; done
}
echo "host $(hostname)"
for iface in $ports; do lend "$iface"; done
for round in 1 2 3 4; do
  tentative=
  for iface in $ports; do [ "$(state "$iface")" != link ] || tentative=$tentative$(own "$iface" tentative); done
  [ -n "$tentative" ] || break
  sleep 0.5
done
for iface in $ports; do tell "$iface"; done
)sh";

// -L: no answer from this host itself. Three requests 0.3 s apart, ended 2 s after the first: the
// answers of all hosts to the first two are in before those to the third end it. One line is one
// write, so that ports do not mix.
constexpr std::string_view kAsk = R"sh(
ask() {
  for address in $(run 6 ping -n -L -c 3 -i 0.3 -w 2 -I "$1" "ff02::1%$1" |
      sed -n 's/.* from \([0-9a-f:]*\)\(%[^:]*\)\{0,1\}: icmp_seq=.*/\1/p' | sort -u); do
    echo "heard $1 $address"
  done
  run 5 ip -6 neigh show dev "$1" |
    awk -v iface="$1" '$2 == "lladdr" { print "neighbour", iface, $1, $3; fflush() }'
}
for iface in $ports; do
  [ "$(state "$iface")" != link ] || [ -z "$(own "$iface" -tentative)" ] || ask "$iface" &
done
wait
)sh";

constexpr std::string_view kRemoveAddresses = R"sh(
for iface in $ports; do
  address=$(derived "$iface") || continue
  # Those that the kernel, networkd and NetworkManager make have no end.
  [ -n "$(run 5 ip -6 -o address show dev "$iface" to "$address" dynamic)" ] || continue
  run 5 ip -6 address del "$address/64" dev "$iface"
  [ -n "$(own "$iface")" ] || run 5 ip -6 route del fe80::/64 dev "$iface" proto kernel
done
true
)sh";

std::string BuildScript(const std::vector<CagePort>& ports, std::string_view body) {
  std::vector<std::string> netdevs;
  for (const CagePort& port : ports) netdevs.push_back(port.netdev);
  return std::string(kHead) + "ports=" + QuoteForShell(Join(netdevs, " ")) + "\n" +
         std::string(body);
}

constexpr int kLentS = 60;  // s; three requests to the slowest node, each within its limit

}  // namespace

std::string BuildAddAddressesScript(const std::vector<CagePort>& ports) {
  std::string body(kLend);
  for (std::size_t at; (at = body.find("@LENT@")) != std::string::npos;) {
    body.replace(at, 6, std::to_string(kLentS));
  }
  return BuildScript(ports, body);
}

std::string BuildDiscoverScript(const std::vector<CagePort>& ports) {
  return BuildScript(ports, kAsk);
}

std::string BuildLldpScript() {
  return std::string(kHead) + "run 5 lldpcli -f json show neighbors\ntrue\n";
}

std::string BuildRemoveAddressesScript(const std::vector<CagePort>& ports) {
  return BuildScript(ports, kRemoveAddresses);
}

}  // namespace reconciler
