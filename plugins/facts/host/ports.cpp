#include "plugins/facts/host/ports.h"

#include "reconciler/base/text.h"

namespace reconciler::plugins::host {
namespace {

// A constant: each argument is NETDEV=ADDRESS.
constexpr std::string_view kScript = R"sh(
for path in /sys/class/net/*/device; do
  [ -e "$path" ] || continue
  real=$(readlink -f "$path")
  net=${path%/device}
  printf 'pci %s %s\n' "${real##*/}" "${net##*/}"
done
for port do
  net=${port%%=*}
  [ ! -e "/sys/bus/pci/devices/${port#*=}" ] || printf 'function %s\n' "${port#*=}"
  [ -e "/sys/class/net/$net" ] || continue
  command -v ethtool >/dev/null || continue
  { ethtool --show-fec "$net"; ethtool "$net"; ethtool -S "$net"; } 2>/dev/null | awk -v net="$net" '
    /^Active FEC encodings?: / { sub(/^[^:]*: */, ""); print "fec", net, $0 }
    $1 == "Lanes:" { print "lanes", net, $2 }
    $1 ~ /^(rx_crc_errors_phy|link_down_events_phy):$/ { sub(":", "", $1); print "errors", net, $2, $1 }'
done
exit 0
)sh";

}  // namespace

RunProbe MakePortsProbe(const ClusterSpec& cluster, const NodeSpec& node) {
  RunProbe probe{.id = "host.ports", .argv = {"sh", "-c", std::string(kScript), "sh"}};
  const Hardware* hardware = cluster.FindHardware(node.hardware);
  if (hardware == nullptr) return probe;
  for (const Cage& cage : hardware->cages) {
    for (const Twin& twin : cage.twins) probe.argv.push_back(twin.netdev + "=" + twin.pci);
  }
  return probe;
}

void StorePorts(const CommandReply& reply, NodeFacts& facts) {
  for (const std::string& line : SplitLines(reply.out)) {
    const std::size_t first = line.find(' ');
    if (first == std::string::npos) continue;
    const std::string kind = line.substr(0, first);
    const std::size_t second = line.find(' ', first + 1);
    const std::string subject = MakePrintable(line.substr(first + 1, second - first - 1));
    if (kind == "function") {
      facts.values.try_emplace("host.pci." + subject, std::string());
      continue;
    }
    if (second == std::string::npos) continue;
    const std::string text = MakePrintable(Trim(line.substr(second + 1)));
    if (kind == "errors") {
      Observed<std::string>& all =
          facts.values.try_emplace("host.errors." + subject, std::string()).first->second;
      const std::string& before = *Known(all);
      all = before.empty() ? text : before + ", " + text;
    } else if (kind == "pci" || kind == "fec" || kind == "lanes") {
      facts.values["host." + kind + "." + subject] = text;
    }
  }
}

}  // namespace reconciler::plugins::host
