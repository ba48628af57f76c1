#include "reconciler/manifest/schema/schema_judge.h"

#include <map>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace reconciler {
namespace {

using Adapter = valijson::adapters::NlohmannJsonAdapter;

void ParseSchema(const nlohmann::json& schema, valijson::Schema& parsed) {
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(schema), parsed);
}

}  // namespace

struct SchemaJudge::State {
  valijson::Validator validator{valijson::Validator::kStrongTypes};
  std::map<const nlohmann::json*, valijson::Schema> parsed = {};
};

SchemaJudge::SchemaJudge() : state_(std::make_unique<State>()) {}
SchemaJudge::~SchemaJudge() = default;

bool SchemaJudge::Accepts(const nlohmann::json& document, const nlohmann::json& schema) {
  const auto [found, fresh] = state_->parsed.try_emplace(&schema);
  if (fresh) ParseSchema(schema, found->second);
  return state_->validator.validate(found->second, Adapter(document), nullptr);
}

bool SchemaJudge::Breaks(const nlohmann::json& document, const nlohmann::json& schema,
                         const char* keyword) {
  const auto found = schema.find(keyword);
  if (found == schema.end()) return false;
  valijson::Schema parsed;
  ParseSchema({{keyword, *found}}, parsed);
  return !state_->validator.validate(parsed, Adapter(document), nullptr);
}

std::optional<std::string> JudgeBySchema(const nlohmann::json& document,
                                         const nlohmann::json& schema) {
  valijson::Schema parsed;
  ParseSchema(schema, parsed);
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  if (validator.validate(parsed, Adapter(document), &results)) return std::nullopt;
  // Every parent of a problem repeats it; the longest path is the problem itself.
  std::optional<std::string> words;
  std::size_t depth = 0;
  valijson::ValidationResults::Error error;
  while (results.popError(error)) {
    if (words && error.context.size() <= depth) continue;
    depth = error.context.size();
    std::string path;  // "[nodes][0]"; the document itself is the first part
    for (std::size_t i = 1; i < error.context.size(); ++i) path += error.context[i];
    words = error.description + (path.empty() ? "" : " at " + path);
  }
  return words.value_or("it gives no reason");
}

}  // namespace reconciler
