// What a node answers to the plugins' probes, up to the plan. The input overrides the answers of a
// bare node: frames of the nonce "N" with the labels "command ID", "exit NUMBER" (of the command
// before it), "file PATH" and "value PATH".
#include "plugins/registry.h"
#include "reconciler/base/number.h"
#include "reconciler/node/frames.h"
#include "reconciler/verify/diagnosis/diagnose.h"
#include "reconciler/verify/links/kernel_log.h"
#include "reconciler/verify/links/static_facts.h"
#include "reconciler/verify/report/render.h"
#include "tests/fuzz/pair.h"
#include "tests/fuzz/target.h"

namespace reconciler::fuzz {
namespace {

void Override(std::string_view input, ProbeReply& reply) {
  std::string command;
  for (const Frame& frame : ParseFrames({.out = std::string(input)}, "N")) {
    std::string_view path = frame.label;
    const std::string_view what = TakePart(path, " ");
    if (what == "command") {
      command = path;
      reply.commands[command] = {.out = frame.out};
    } else if (what == "exit") {
      reply.commands[command].exit_code = ParseNumber<int>(path).value_or(-1);
      reply.commands[command].err = frame.out;
    } else if (what == "file") {
      reply.files[std::string(path)] = FileState{.content = frame.out};
    } else if (what == "value") {
      reply.values[std::string(path)] = frame.out;
    }
  }
}

// What plugins derive from facts besides the plan.
void QueryPlugins(const ClusterFacts& all) {
  const Cluster& pair = GetPair();
  const NodeSpec& node = pair.spec.nodes.front();
  const PluginInput input{pair.spec, pair.fabric, node, all.nodes.at(node.name), all};
  for (const Plugin& plugin : plugins::GetAll()) {
    if (plugin.adoptable != nullptr) plugin.adoptable(pair.spec, pair.fabric, all);
    if (plugin.find_setting != nullptr) plugin.find_setting(input);
    if (plugin.needs_spark_verify != nullptr) plugin.needs_spark_verify(pair.spec, input.facts);
    if (plugin.environment == nullptr) continue;
    const auto environment = plugin.environment(input);
    if (!environment) CheckError(environment.error());
  }
}

void CheckReport(const ClusterFacts& all) {
  const Cluster& pair = GetPair();
  Report report{.cluster = pair.spec.name, .level = VerifyLevel::kFacts};
  report.checks = CheckFacts(pair.spec, pair.fabric, all, VerifyLevel::kNccl);
  for (const auto& [name, facts] : all.nodes) {
    for (Check& check : CheckKernelLog(pair.fabric, all, facts)) report.checks.push_back(check);
  }
  report.findings = Diagnose(pair.spec, pair.fabric, all, report.checks, {});
  Must(IsPlainText(RenderReport(report)), "a report is plain text");
}

}  // namespace

void Run(std::string_view input) {
  static const ProbeReply bare = AnswerBare(0);
  ProbeReply reply = bare;
  Override(input, reply);
  const NodeFacts facts = ParseReply(0, reply);
  PlanPair(facts);
  ClusterFacts all;
  all.nodes[facts.node] = facts;
  QueryPlugins(all);
  CheckReport(all);
}

}  // namespace reconciler::fuzz
