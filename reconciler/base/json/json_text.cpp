#include "reconciler/base/json/json_text.h"

#include "reconciler/base/json/json_reader.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// Without a copy; EncodeText decides about the others.
bool IsEncodedAsItIs(std::string_view bytes) {
  return !bytes.starts_with("base64:") && IsValidUtf8(bytes);
}

bool IsPlain(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; }

}  // namespace

void JsonText::Separate() {
  if (follows_) text_ += ',';
  follows_ = true;
}

void JsonText::Open(char bracket) {
  Separate();
  text_ += bracket;
  follows_ = false;
}

void JsonText::Close(char bracket) {
  text_ += bracket;
  follows_ = true;
}

void JsonText::Key(std::string_view key) {
  Separate();
  Quote(key);
  text_ += ':';
  follows_ = false;
}

void JsonText::Text(std::string_view bytes) {
  if (IsEncodedAsItIs(bytes)) return Word(bytes);
  Word(EncodeText(bytes).get_ref<const std::string&>());
}

void JsonText::Word(std::string_view word) {
  Separate();
  Quote(word);
}

void JsonText::Number(std::int64_t number) {
  Separate();
  text_ += std::to_string(number);
}

void JsonText::Bool(bool value) {
  Separate();
  text_ += value ? "true" : "false";
}

void JsonText::Texts(const std::vector<std::string>& texts) {
  BeginList();
  for (const std::string& text : texts) Text(text);
  EndList();
}

void JsonText::Quote(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  text_ += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && IsPlain(text[plain])) ++plain;
    text_ += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text.front();
    text.remove_prefix(1);
    text_ += '\\';
    switch (c) {
      case '"':
      case '\\':
        text_ += c;
        break;
      case '\b':
        text_ += 'b';
        break;
      case '\f':
        text_ += 'f';
        break;
      case '\n':
        text_ += 'n';
        break;
      case '\r':
        text_ += 'r';
        break;
      case '\t':
        text_ += 't';
        break;
      default:
        text_ += "u00";
        text_ += kHex[static_cast<unsigned char>(c) >> 4];
        text_ += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
  text_ += '"';
}

}  // namespace reconciler
