#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reconciler {

// A JSON document without blanks, written from front to back: byte for byte what nlohmann-json
// dumps of the same values, without a value in memory. For what is digested in large numbers.
class JsonText {
 public:
  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginList() { Open('['); }
  void EndList() { Close(']'); }
  void Key(std::string_view key);

  void Text(std::string_view bytes);  // of any bytes: see EncodeText
  void Word(std::string_view word);   // as it stands
  void Number(std::int64_t number);
  void Bool(bool value);
  void Texts(const std::vector<std::string>& texts);

  // A member of the object that is open.
  void Text(std::string_view key, std::string_view bytes) { Key(key), Text(bytes); }
  void Word(std::string_view key, std::string_view word) { Key(key), Word(word); }
  void Number(std::string_view key, std::int64_t number) { Key(key), Number(number); }
  void Bool(std::string_view key, bool value) { Key(key), Bool(value); }
  void Texts(std::string_view key, const std::vector<std::string>& texts) {
    Key(key), Texts(texts);
  }

  std::string Take() { return std::move(text_); }

 private:
  void Open(char bracket);
  void Close(char bracket);
  void Separate();
  void Quote(std::string_view text);

  std::string text_;
  bool follows_ = false;  // a value stands before, in the same object or list
};

}  // namespace reconciler
