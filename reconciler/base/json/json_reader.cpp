#include "reconciler/base/json/json_reader.h"

#include <openssl/evp.h>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::string_view kBase64 = "base64:";

}  // namespace

nlohmann::ordered_json EncodeText(std::string_view bytes) {
  if (IsValidUtf8(bytes) && !bytes.starts_with(kBase64)) return std::string(bytes);
  std::string encoded((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  encoded.resize(static_cast<std::size_t>(length));
  return std::string(kBase64) + encoded;
}

std::string DecodeText(const std::string& text) {
  if (!text.starts_with(kBase64)) return text;
  const std::string_view encoded = std::string_view(text).substr(kBase64.size());
  std::string bytes(encoded.size() / 4 * 3 + 3, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(encoded.data()),
                                     static_cast<int>(encoded.size()));
  if (length < 0) throw JsonReader::Problem{text, "wanted base64 after 'base64:'"};
  bytes.resize(static_cast<std::size_t>(length));
  // EVP_DecodeBlock counts the padding as bytes.
  for (std::size_t i = encoded.size(); i-- > 0 && encoded[i] == '=';) bytes.pop_back();
  return bytes;
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

std::int64_t JsonReader::Integer() const {
  Require(json_.is_number_integer(), "an integer");
  return json_.get<std::int64_t>();
}

bool JsonReader::Bool() const {
  Require(json_.is_boolean(), "true or false");
  return json_.get<bool>();
}

}  // namespace reconciler
