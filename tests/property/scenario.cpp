#include "tests/property/scenario.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <algorithm>

#include "plugins/registry.h"
#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"
#include "reconciler/planning/plan_maker.h"
#include "tests/property/hostile_text.h"

namespace reconciler::test {
namespace {

// Text that a unit may have: a section, and hostile bytes in a comment of one line.
std::string HostileSection() {
  std::string text = HostileUtf8();
  std::replace_if(
      text.begin(), text.end(), [](char one) { return one == '\n' || one == '\r'; }, ' ');
  return "[Service]\n# " + text + ".";
}

std::string AnyUnit(int number) {
  std::string unit = fmt::format("{{name: u{}.service", number);
  const bool enabled = *rc::gen::arbitrary<bool>();
  const std::string install = enabled ? "\n[Install]\nWantedBy=multi-user.target" : "";
  if (*rc::gen::arbitrary<bool>()) unit += ", content: " + Quoted(HostileSection() + install);
  if (*rc::gen::arbitrary<bool>()) {
    unit += fmt::format(", drop_ins: {{10-a.conf: {}, 20-b.conf: {}}}", Quoted(HostileSection()),
                        Quoted(HostileSection()));
  }
  if (*rc::gen::arbitrary<bool>()) {
    unit += fmt::format(", active: {}", *rc::gen::arbitrary<bool>());
  }
  return unit + fmt::format(", enabled: {}}}", enabled);
}

}  // namespace

std::string ManifestParts::Yaml() const {
  std::string yaml = "api_version: spark-reconcile/v1\ncluster: lab\nnodes:\n";
  for (const std::string& node : nodes) yaml += "  - " + node + "\n";
  yaml +=
      "fabric: {topology: switch, subnets: [192.168.177.0/24, 192.168.178.0/24]}\n"
      "memlock: unlimited\n";
  yaml += fmt::format("ssh: {{mesh: true, user: {}}}\n", Quoted(user));
  if (!sysctl.empty()) yaml += "sysctl:\n";
  for (const std::string& setting : sysctl) yaml += "  " + setting + "\n";
  if (!units.empty()) yaml += "units:\n";
  for (const std::string& unit : units) yaml += "  - " + unit + "\n";
  return yaml;
}

ManifestParts AnyManifest(std::size_t least_nodes, std::size_t most_nodes) {
  ManifestParts parts;
  parts.user = *rc::gen::element<std::string>("nvidia", "_a.-b", "A-", "x--", "root");
  const auto count = *rc::gen::inRange<std::size_t>(least_nodes, most_nodes + 1);
  for (const int id : *rc::gen::unique<std::vector<int>>(count, rc::gen::inRange(1, 255))) {
    const auto prefix = *rc::gen::element<std::string>("spark-", "a--b", "0");
    const auto address = *rc::gen::element<std::string>("192.168.1.{}", "h{}.local", "10-0_{}");
    parts.nodes.push_back(fmt::format("{{name: \"{}{}\", id: {}, address: \"{}\"}}", prefix, id, id,
                                      fmt::format(fmt::runtime(address), id)));
  }
  const int units = *rc::gen::inRange(0, 4);
  for (int i = 0; i < units; ++i) parts.units.push_back(AnyUnit(i));
  // Values of keys that the plugin does not know go to the node as they are.
  for (const char* key : {"net.core.odd", "kernel/odd-key_1", "net.ipv4.conf.eth0/5.odd"}) {
    if (!*rc::gen::arbitrary<bool>()) continue;
    std::string value = HostileLine();
    if (value.find_first_not_of(' ') == std::string::npos) value = "x";
    parts.sysctl.push_back(fmt::format("{}: {}", key, Quoted(value)));
  }
  if (*rc::gen::arbitrary<bool>()) {
    const auto value = *rc::gen::element<std::string>("4096 131072 67108864", "1  1 1");
    parts.sysctl.push_back("net.ipv4.tcp_rmem: " + Quoted(value));
  }
  return parts;
}

ClusterFacts Scenario::Facts() const {
  ClusterFacts facts;
  for (const NodeSpec& spec : cluster.nodes) {
    facts.nodes[spec.name] = MakeFacts(nodes.at(spec.name), cluster, fabric, spec);
  }
  return facts;
}

Plan Scenario::MakePlan() const { return MakePlanFrom(*this, Facts()); }

Plan MakePlanFrom(const Scenario& scenario, const ClusterFacts& facts) {
  auto plan = reconciler::MakePlan(scenario.cluster, scenario.fabric, facts, plugins::GetAll());
  if (!plan) RC_FAIL(FormatError(plan.error()));
  return std::move(*plan);
}

Scenario MakeScenario(const ManifestParts& manifest) {
  auto cluster = LoadClusterSpec(manifest.Yaml(), "cluster.yaml");
  if (!cluster) RC_FAIL(FormatErrors(cluster.error()));
  auto fabric = ExpandFabric(*cluster);
  if (!fabric) RC_FAIL(FormatErrors(fabric.error()));
  Scenario scenario{.cluster = std::move(*cluster), .fabric = std::move(*fabric)};
  for (const Plugin& plugin : plugins::GetAll()) {
    if (plugin.check == nullptr) continue;
    const Errors errors = plugin.check(scenario.cluster, scenario.fabric);
    if (!errors.empty()) RC_FAIL(FormatErrors(errors));
  }
  for (const NodeSpec& node : scenario.cluster.nodes) {
    scenario.nodes[node.name] = BareNode(node.name, node.id, manifest.user);
  }
  return scenario;
}

}  // namespace reconciler::test
