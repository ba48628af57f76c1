#include "reconciler/base/json/json_reader.h"

#include <utility>

#include "reconciler/base/base64.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::string_view kBase64 = "base64:";

}  // namespace

nlohmann::ordered_json EncodeText(std::string_view bytes) {
  if (IsValidUtf8(bytes) && !bytes.starts_with(kBase64)) return std::string(bytes);
  return std::string(kBase64) + EncodeBase64(bytes);
}

std::string DecodeText(const std::string& text) {
  if (!text.starts_with(kBase64)) return text;
  auto bytes = DecodeBase64(std::string_view(text).substr(kBase64.size()));
  if (!bytes) throw JsonReader::Mismatch{text, "wanted base64 after 'base64:'"};
  return *std::move(bytes);
}

void JsonReader::Require(bool holds, std::string_view wanted) const {
  if (!holds) Fail("wanted " + std::string(wanted) + ", found " + json_.type_name());
}

JsonReader JsonReader::At(const std::string& key) const {
  Require(json_.is_object(), "an object");
  const auto found = json_.find(key);
  if (found == json_.end()) Fail("'" + key + "' is missing");
  return JsonReader(*found, path_ + "/" + key);
}

std::string JsonReader::Text() const {
  Require(json_.is_string(), "a string");
  return DecodeText(json_.get<std::string>());
}

std::string JsonReader::PlainText() const {
  Require(json_.is_string(), "a string");
  return json_.get<std::string>();
}

double JsonReader::Number() const {
  Require(json_.is_number(), "a number");
  return json_.get<double>();
}

std::int64_t JsonReader::Integer() const {
  Require(json_.is_number_integer(), "an integer");
  // get() would wrap around.
  if (json_.is_number_unsigned() && !std::in_range<std::int64_t>(json_.get<std::uint64_t>())) {
    Fail(json_.dump() + " is too large");
  }
  return json_.get<std::int64_t>();
}

std::string DescribeFault(const nlohmann::json::exception& exception) {
  const std::string_view text = exception.what();
  const std::size_t end = text.starts_with('[') ? text.find("] ") : std::string_view::npos;
  return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

Error MakeDocumentError(const std::string& message, const std::string& hint) {
  return {
      .kind = ErrorKind::kInput, .message = MakePrintable(message), .hint = MakePrintable(hint)};
}

bool JsonReader::Bool() const {
  Require(json_.is_boolean(), "true or false");
  return json_.get<bool>();
}

}  // namespace reconciler
