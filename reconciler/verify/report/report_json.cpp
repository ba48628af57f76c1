#include <nlohmann/json.hpp>

#include "reconciler/model/fabric.h"
#include "reconciler/verify/report/report.h"
#include "reconciler/verify/report/report_nccl.h"

namespace reconciler {
namespace {

using Json = nlohmann::ordered_json;

Json CheckToJson(const Check& check) {
  Json json = {{"level", ToString(check.level)}, {"what", check.what}, {"from", check.from}};
  if (!check.to.empty()) json["to"] = check.to;
  if (check.rail) json["rail"] = FormatRailName(*check.rail);
  if (!check.subject.empty()) json["subject"] = check.subject;
  json["outcome"] = ToString(check.outcome);
  if (check.symptom != Symptom::kNone) json["symptom"] = ToString(check.symptom);
  if (!check.expected.empty()) json["expected"] = check.expected;
  if (!check.measured.empty()) json["measured"] = check.measured;
  if (check.gbps) json["gbps"] = *check.gbps;
  if (check.roofline_gbps) json["roofline_gbps"] = *check.roofline_gbps;
  if (check.latency_us) json["latency_us"] = *check.latency_us;
  if (!check.why.empty()) json["why"] = check.why;
  if (!check.evidence.empty()) json["evidence"] = check.evidence;
  return json;
}

Json FindingToJson(const Finding& finding) {
  Json rails = Json::array();
  for (const int rail : finding.rails) rails.push_back(FormatRailName(rail));
  return {{"code", finding.code},
          {"outcome", ToString(finding.outcome)},
          {"level", ToString(finding.level)},
          {"nodes", finding.nodes},
          {"rails", std::move(rails)},
          {"expected", finding.expected},
          {"measured", finding.measured},
          {"evidence", finding.evidence},
          {"cause", finding.cause},
          {"next_step", finding.next_step},
          {"explains", finding.explains}};
}

Json DeviceToJson(const Drawing::Device& device) {
  Json ports = Json::array();
  for (const Drawing::Port& port : device.ports) {
    ports.push_back({{"cage", port.cage},
                     {"rail", FormatRailName(port.rail)},
                     {"address", port.address},
                     {"netdev", port.netdev}});
  }
  return {{"name", device.name},
          {"model", device.model},
          {"switch", device.is_switch},
          {"level", device.level},
          {"ports", std::move(ports)}};
}

Json FabricToJson(const Drawing& drawing) {
  Json json = {{"title", drawing.title}, {"devices", Json::array()}, {"cables", Json::array()}};
  for (const Drawing::Device& device : drawing.devices) {
    json["devices"].push_back(DeviceToJson(device));
  }
  for (const Drawing::Cable& cable : drawing.cables) {
    json["cables"].push_back({{"from", cable.from},
                              {"from_port", cable.from_port},
                              {"to", cable.to},
                              {"to_port", cable.to_port},
                              {"gbps", cable.gbps}});
  }
  return json;
}

}  // namespace

Json ToJson(const Report& report) {
  Json summary = Json::object();
  for (const Outcome outcome : kOutcomes) {
    summary[std::string(ToString(outcome))] = report.Count(outcome);
  }
  Json json = {{"format", "spark-reconcile/report/1"},
               {"cluster", report.cluster},
               {"level", ToString(report.level)},
               {"exit_code", FindExitCode(report)},
               {"summary", std::move(summary)},
               {"unreachable", Json::array()},
               {"findings", Json::array()},
               {"checks", Json::array()}};
  if (report.run) {
    json["run"] = {{"began", report.run->began},
                   {"seconds", report.run->seconds},
                   {"program", report.run->program}};
  }
  if (!report.facts.empty()) json["facts"] = report.facts;
  if (report.fabric) json["fabric"] = FabricToJson(*report.fabric);
  for (const auto& [node, why] : report.unreachable) {
    json["unreachable"].push_back({{"node", node}, {"why", why}});
  }
  if (report.not_measured) {
    json["not_measured"] = {{"level", ToString(report.not_measured->level)},
                            {"why", report.not_measured->why}};
  }
  if (report.nccl) json["nccl"] = NcclToJson(*report.nccl);
  for (const Finding& finding : report.findings) json["findings"].push_back(FindingToJson(finding));
  for (const Check& check : report.checks) json["checks"].push_back(CheckToJson(check));
  return json;
}

}  // namespace reconciler
