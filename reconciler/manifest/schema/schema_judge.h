#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace reconciler {

// valijson's verdict on documents and on their parts, with draft-07 and strong types. Its file is
// the one that includes valijson.
class SchemaJudge {
 public:
  SchemaJudge();
  ~SchemaJudge();
  SchemaJudge(const SchemaJudge&) = delete;
  SchemaJudge& operator=(const SchemaJudge&) = delete;

  // Whether `document` is valid. `schema` is parsed once: it must outlive the judge unchanged.
  // Stops at the first fault and looks at lengths before patterns, because std::regex recurses
  // once per byte. Precondition: no text holds a NUL, where valijson would stop to count.
  bool Accepts(const nlohmann::json& document, const nlohmann::json& schema);
  // Whether `document` is refused for this keyword of `schema` alone; false where it has none.
  bool Breaks(const nlohmann::json& document, const nlohmann::json& schema, const char* keyword);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Nothing when the document is valid, else how valijson describes the deepest fault.
std::optional<std::string> JudgeBySchema(const nlohmann::json& document,
                                         const nlohmann::json& schema);

}  // namespace reconciler
