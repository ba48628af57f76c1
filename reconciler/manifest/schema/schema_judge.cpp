#include "reconciler/manifest/schema/schema_judge.h"

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace reconciler {

std::optional<std::string> JudgeBySchema(const nlohmann::json& document,
                                         const nlohmann::json& schema) {
  using Adapter = valijson::adapters::NlohmannJsonAdapter;
  valijson::Schema parsed;
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(schema), parsed);
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
    std::string path;
    for (const std::string& part : error.context) path += part;
    words = error.description + " at " + path;
  }
  return words.value_or("it gives no reason");
}

}  // namespace reconciler
