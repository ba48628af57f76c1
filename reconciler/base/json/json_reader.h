#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reconciler/base/result.h"

namespace reconciler {

// Text of any bytes as a JSON string and back: what is not UTF-8, and what begins with "base64:",
// is written as "base64:" and the encoded bytes.
nlohmann::ordered_json EncodeText(std::string_view bytes);
std::string DecodeText(const std::string& text);

// A walk through a document that knows where it is. A missing or ill-typed member throws
// JsonReader::Mismatch, caught in ReadDocument: nothing else sees it.
class JsonReader {
 public:
  struct Mismatch {
    std::string path;
    std::string message;
    std::string hint = {};
  };

  JsonReader(const nlohmann::ordered_json& json, std::string path)
      : json_(json), path_(std::move(path)) {}

  bool Has(const std::string& key) const { return json_.is_object() && json_.contains(key); }
  JsonReader At(const std::string& key) const;
  std::string Text() const;
  std::string PlainText() const;  // as it stands: "base64:" means nothing in it
  std::int64_t Integer() const;
  double Number() const;
  bool Bool() const;
  bool IsText() const { return json_.is_string(); }

  template <class Function>  // void(const std::string& key, const JsonReader& value)
  void ForEachMember(Function function) const {
    Require(json_.is_object(), "an object");
    for (const auto& [key, value] : json_.items()) {
      function(DecodeText(key), JsonReader(value, path_ + "/" + key));
    }
  }

  template <class Function>  // void(const JsonReader& item)
  void ForEachItem(Function function) const {
    Require(json_.is_array(), "a list");
    for (std::size_t i = 0; i < json_.size(); ++i) {
      function(JsonReader(json_[i], path_ + "/" + std::to_string(i)));
    }
  }

  [[noreturn]] void Fail(const std::string& message, const std::string& hint = {}) const {
    throw Mismatch{path_, message, hint};
  }

 private:
  void Require(bool holds, std::string_view wanted) const;

  const nlohmann::ordered_json& json_;
  std::string path_;
};

// kInput. What the JSON library and the document say may hold any byte; the error can be shown.
Error MakeDocumentError(const std::string& message, const std::string& hint = "");

// Where and how, in the library's words, without its own number.
std::string DescribeFault(const nlohmann::json::exception& exception);

// Parses `text` and hands a reader to `function`; every problem comes back as a kInput error.
template <class T, class Function>
Result<T> ReadDocument(std::string_view text, Function function) {
  nlohmann::ordered_json json;
  try {
    json = nlohmann::ordered_json::parse(text);
    return function(JsonReader(json, ""));
  } catch (const nlohmann::json::exception& exception) {
    return reconciler::Fail(MakeDocumentError("not valid JSON: " + DescribeFault(exception)));
  } catch (const JsonReader::Mismatch& mismatch) {
    return reconciler::Fail(MakeDocumentError(
        (mismatch.path.empty() ? "/" : mismatch.path) + ": " + mismatch.message, mismatch.hint));
  }
}

}  // namespace reconciler
