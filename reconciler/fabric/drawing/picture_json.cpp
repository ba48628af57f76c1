#include <cmath>
#include <nlohmann/json.hpp>

#include "reconciler/base/text.h"
#include "reconciler/fabric/analysis.h"
#include "reconciler/fabric/drawing/picture.h"
#include "reconciler/fabric/link_local.h"
#include "reconciler/fabric/switch_advice.h"

namespace reconciler {
namespace {

using Json = nlohmann::ordered_json;

// What is computed is no more exact than that.
double Round(double gbps) { return std::round(gbps * 10) / 10; }

Json PortToJson(const RailPort& port) {
  Json json = {{"cage", port.cage}, {"rail", port.rail}};
  if (!IsLinkLocal(port)) json["address"] = ToString(port.address);
  json["netdev"] = port.netdev;
  json["hca"] = port.hca;
  return json;
}

Json NodesToJson(const ClusterSpec& cluster, const Fabric& fabric) {
  Json nodes = Json::array();
  for (const NodeSpec& node : cluster.nodes) {
    Json ports = Json::array();
    if (const auto found = fabric.ports.find(node.name); found != fabric.ports.end()) {
      for (const RailPort& port : found->second) ports.push_back(PortToJson(port));
    }
    nodes.push_back({{"name", node.name}, {"address", node.address}, {"ports", std::move(ports)}});
  }
  return nodes;
}

Json SwitchesToJson(const ClusterSpec& cluster) {
  Json switches = Json::array();
  for (const SwitchSpec& one : cluster.switches) {
    switches.push_back({{"name", one.name},
                        {"model", MakePrintable(one.model)},
                        {"address", one.address},
                        {"commands", ListSwitchCommands(cluster, one)}});
  }
  return switches;
}

Json CablesToJson(const Drawing& drawing, const CableRates& rates) {
  Json cables = Json::array();
  for (std::size_t i = 0; i < drawing.cables.size(); ++i) {
    const Drawing::Cable& cable = drawing.cables[i];
    Json json = {{"ends",
                  {{{"device", drawing.devices.at(cable.from).name}, {"port", cable.from_port}},
                   {{"device", drawing.devices.at(cable.to).name}, {"port", cable.to_port}}}},
                 {"gbps", cable.gbps}};
    if (i < rates.size() && rates[i].gbps) json["measured_gbps"] = Round(*rates[i].gbps);
    if (i < rates.size() && rates[i].share) {
      json["measured_percent"] = Round(*rates[i].share * 100);
    }
    cables.push_back(std::move(json));
  }
  return cables;
}

Json PairsToJson(const std::vector<PairReach>& reach) {
  Json pairs = Json::array();
  for (const PairReach& pair : reach) {
    pairs.push_back(
        {{"ends", {pair.a, pair.b}}, {"rails", pair.rails}, {"gbps", Round(pair.gbps)}});
  }
  return pairs;
}

Json SwitchLoadsToJson(const std::vector<SwitchLoad>& loads) {
  Json json = Json::array();
  for (const SwitchLoad& load : loads) {
    json.push_back({{"switch", load.name},
                    {"wanted_gbps", Round(load.wanted_gbps)},
                    {"carried_gbps", Round(load.carried_gbps)},
                    {"oversubscribed", load.Oversubscribed()}});
  }
  return json;
}

Json WeakPointsToJson(const std::vector<WeakPoint>& points) {
  Json json = Json::array();
  for (const WeakPoint& point : points) {
    json.push_back({{"what", point.what}, {"cut_off", point.cut_off}});
  }
  return json;
}

}  // namespace

Json DrawJson(const ClusterSpec& cluster, const Fabric& fabric, const Drawing& drawing,
              const CableRates& rates) {
  const std::vector<PairReach> reach = ComputeReach(cluster, fabric);
  const std::vector<NodeName> order = OrderRing(cluster, fabric);
  return {{"format", "spark-reconcile/graph/1"},
          {"cluster", cluster.name},
          {"summary", fabric.summary},
          {"mtu", cluster.fabric.mtu},
          {"nodes", NodesToJson(cluster, fabric)},
          {"switches", SwitchesToJson(cluster)},
          {"cables", CablesToJson(drawing, rates)},
          {"pairs", PairsToJson(reach)},
          {"ring", {{"order", order}, {"gbps", Round(ComputeRingPayload(order, reach))}}},
          {"uplinks", SwitchLoadsToJson(ComputeSwitchLoads(cluster, fabric))},
          {"single_failures", WeakPointsToJson(FindWeakPoints(cluster, fabric))}};
}

}  // namespace reconciler
