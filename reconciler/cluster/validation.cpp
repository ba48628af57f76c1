#include "reconciler/cluster/validation.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

using Json = nlohmann::ordered_json;

struct Found {
  std::string_view severity;
  const std::string& code;
  const std::string& message;
  const std::string& next_step;
  SourceMark where;
};

Json FoundToJson(const Found& found) {
  return {{"severity", found.severity},
          {"code", found.code},
          {"message", MakePrintable(found.message)},
          {"next_step", MakePrintable(found.next_step)},
          {"where",
           {{"file", MakePrintable(found.where.file)},
            {"line", found.where.position.line},
            {"column", found.where.position.column}}}};
}

std::string_view FormatSeverity(Severity severity) {
  switch (severity) {
    case Severity::kBlocks:
      return "blocks";
    case Severity::kWarns:
      return "warns";
    case Severity::kInforms:
      return "informs";
  }
  return {};
}

}  // namespace

Json ToJson(const std::string& manifest, const tl::expected<Cluster, Errors>& cluster) {
  Json findings = Json::array();
  if (cluster) {
    for (const Diagnostic& one : cluster->fabric.diagnostics) {
      findings.push_back(FoundToJson(
          {FormatSeverity(one.severity), one.code, one.message, one.next_step, one.where}));
    }
  } else {
    for (const Error& one : cluster.error()) {
      findings.push_back(FoundToJson(
          {"blocks", one.code, one.message, one.hint, one.where.value_or(SourceMark{})}));
    }
  }
  return {{"format", "spark-reconcile/validation/1"},
          {"manifest", MakePrintable(manifest)},
          {"valid", cluster.has_value()},
          {"cluster", cluster ? cluster->spec.name : ""},
          {"summary", cluster ? cluster->fabric.summary : ""},
          {"findings", std::move(findings)}};
}

}  // namespace reconciler
