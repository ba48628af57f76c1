#include "plugins/facts/host/ports.h"

#include "plugins/facts/host/ports.sh.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::host {

RunProbe MakePortsProbe(const ClusterSpec& cluster, const NodeSpec& node) {
  RunProbe probe{.id = "host.ports", .argv = {"sh", "-c", std::string(kPortsSh), "sh"}};
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
