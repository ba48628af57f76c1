#pragma once

#include <gmock/gmock.h>

#include "plugins/gpudirect/gpudirect.h"
#include "plugins/gpudirect/loader.h"
#include "tests/unit/plugins/common/gpu/gpu_node.h"
#include "tests/unit/plugins/pair_scenario.h"

namespace reconciler::plugins::gpudirect {

inline constexpr const char* kFile = "/etc/modules-load.d/60-spark-reconcile.conf";
inline constexpr const char* kNoGdr =
    "GB10 has no GPUDirect RDMA: its memory is the machine's memory";

inline Value Section(const std::string& mode, const std::vector<std::string>& modules) {
  std::vector<Value> list;
  for (const std::string& module : modules) list.push_back(test::At(21, test::Text(module)));
  return test::Map({{"mode", test::Text(mode)}, {"modules", test::List(std::move(list))}});
}

inline Value NotRequired(const std::string& mode) {
  return test::Map({{"mode", test::Text(mode)}, {"required", test::Flag(false)}});
}

struct GpuScenario : test::PairScenario {
  GpuScenario(Value section, const NodeFacts& node) {
    cluster.settings = test::Map({{"gpudirect", std::move(section)}});
    facts.gpudirect = node.gpudirect;
    facts.files[kFile] = Absent{};
  }
  GpuScenario(const std::string& mode, const NodeFacts& node)
      : GpuScenario(test::Text(mode), node) {}

  PluginInput Input(const ClusterFacts& all) const {
    return {cluster, fabric, cluster.nodes.front(), facts, all};
  }
  // "message | next step" of those of one severity.
  std::vector<std::string> Diagnostics(Severity severity) const {
    std::vector<std::string> said;
    for (const Diagnostic& one : Get().diagnose(Input({}))) {
      if (one.severity != severity) continue;
      said.push_back(one.message + (one.next_step.empty() ? "" : " | " + one.next_step));
    }
    return said;
  }
  std::vector<std::string> Codes(Severity severity) const {
    std::vector<std::string> codes;
    for (const Diagnostic& one : Get().diagnose(Input({}))) {
      if (one.severity == severity) codes.push_back(one.code);
    }
    return codes;
  }
  std::vector<std::string> Notes() const { return Diagnostics(Severity::kInforms); }
  std::vector<std::string> Warnings() const { return Diagnostics(Severity::kWarns); }
  std::vector<std::string> Refusals() const { return Diagnostics(Severity::kBlocks); }
  std::vector<std::string> Checks() const {
    std::vector<std::string> said;
    for (const Error& error : Get().check(cluster, fabric)) {
      said.push_back(error.message + " | " + error.hint);
    }
    return said;
  }
  std::string Said(const std::string& name) const { return Detail(Get(), name); }
  void Loader(const std::string& out) {
    StoreLoader({.commands = {{"gpudirect.loader", {.out = out}}}}, facts);
  }
};

inline NodeFacts Loadable(const std::string& modules = test::kLoadable) {
  return test::GpuNode{.gpu = "NVIDIA A10", .symbol = "yes", .modules = modules}.Facts();
}

}  // namespace reconciler::plugins::gpudirect
