#include "tests/fuzz/pair.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "plugins/registry.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/plan_maker.h"
#include "reconciler/planning/text/render.h"
#include "tests/fuzz/target.h"
#include "tests/support/paths.h"

namespace reconciler::fuzz {
namespace {

Cluster LoadPair() {
  std::ifstream file(test::SourceDir() + "/tests/fuzz/pair.yaml");
  std::ostringstream text;
  text << file.rdbuf();
  auto cluster = BuildCluster(text.str(), "pair.yaml", plugins::GetAll());
  if (!cluster) throw std::logic_error(FormatErrors(cluster.error()));
  return std::move(*cluster);
}

// Most inputs make the same plan as one before, whose check takes half of the time of a run.
bool IsNew(const std::string& value) {
  static std::set<std::size_t> known;
  return known.insert(std::hash<std::string>()(value)).second;
}

void CheckFactsJson(const ClusterFacts& facts) {
  const std::string json = Dump(ToJson(facts));
  if (!IsNew(json)) return;
  const auto back = ParseFacts(json);
  if (!back) throw std::logic_error(FormatError(back.error()));
  Must(Dump(ToJson(*back)) == json, "facts come back from their JSON");
}

}  // namespace

const Cluster& GetPair() {
  static const Cluster pair = LoadPair();
  return pair;
}

const std::vector<Read>& GetReads() {
  static const std::vector<Read> reads = [] {
    const Cluster& pair = GetPair();
    std::vector<Read> all;
    for (const Plugin& plugin : plugins::GetAll()) {
      if (plugin.probe == nullptr) continue;
      for (Read& read : plugin.probe(pair.spec, pair.fabric, pair.spec.nodes[0])) {
        all.push_back(std::move(read));
      }
    }
    return all;
  }();
  return reads;
}

ProbeReply AnswerBare(std::size_t node) {
  const NodeSpec& spec = GetPair().spec.nodes.at(node);
  return test::BareNode(spec.name, spec.id, spec.access.user).Answer(GetReads());
}

NodeFacts ParseReply(std::size_t node, const ProbeReply& reply) {
  NodeFacts facts{.node = GetPair().spec.nodes.at(node).name, .files = reply.files};
  for (const Plugin& plugin : plugins::GetAll()) {
    if (plugin.parse != nullptr) plugin.parse(reply, facts);
  }
  return facts;
}

void CheckPlan(const Plan& plan) {
  Must(IsPlainText(RenderText(plan)), "a plan is plain text");
  Must(IsPlainText(RenderMarkdown(plan)), "a plan is plain Markdown");
  const auto back = ParsePlan(Dump(ToJson(plan)));
  if (!back) throw std::logic_error(FormatError(back.error()));
  Must(*back == plan, "a plan comes back from its JSON");
}

Plan PlanPair(NodeFacts first) {
  static const NodeFacts second = ParseReply(1, AnswerBare(1));
  const Cluster& pair = GetPair();
  ClusterFacts facts;
  facts.nodes[first.node] = std::move(first);
  facts.nodes[second.node] = second;
  CheckFactsJson(facts);
  auto plan = MakePlan(pair.spec, pair.fabric, facts, plugins::GetAll());
  if (!plan) throw std::logic_error(FormatError(plan.error()));
  if (IsNew(plan->id)) CheckPlan(*plan);
  return std::move(*plan);
}

}  // namespace reconciler::fuzz
