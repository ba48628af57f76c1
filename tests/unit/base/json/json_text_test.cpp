#include "reconciler/base/json/json_text.h"

#include <gtest/gtest.h>

#include <random>

#include "reconciler/base/json/json_reader.h"

namespace reconciler {
namespace {

std::string Write(std::string_view bytes) {
  JsonText json;
  json.Text(bytes);
  return json.Take();
}

TEST(JsonText, TextsOfAnyBytesAreWrittenAsTheLibraryDumpsThem) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    EXPECT_EQ(Write(one), EncodeText(one).dump()) << byte;
    if (byte < 128) all += one;
  }
  EXPECT_EQ(Write(all), EncodeText(all).dump());
  for (const std::string text : {"", "base64:", "§ 1 → 2", "a\"b\\c\n", "eight by", "nine bytes",
                                 "12345678\xC2", "1234567\xE2\x86\x92"}) {
    EXPECT_EQ(Write(text), EncodeText(text).dump());
  }
}

TEST(JsonText, SoAreRandomBytes) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes;
    const bool ascii = i % 2 == 0;
    for (unsigned n = random() % 40; n > 0; --n) {
      bytes += static_cast<char>(random() % (ascii ? 128 : 256));
    }
    EXPECT_EQ(Write(bytes), EncodeText(bytes).dump());
  }
}

TEST(JsonText, ObjectsAndListsAreSeparatedAsTheLibraryDoes) {
  JsonText json;
  json.BeginObject();
  json.Text("one", "1");
  json.Key("empty");
  json.BeginObject();
  json.EndObject();
  json.Texts("none", {});
  json.Texts("two", {"a", "b"});
  json.Key("list");
  json.BeginList();
  json.Number(-3);
  json.BeginObject();
  json.Bool("yes", true);
  json.Word("word", "base64:");
  json.EndObject();
  json.BeginList();
  json.EndList();
  json.EndList();
  json.Number("last", 4);
  json.EndObject();
  const std::string text = json.Take();
  EXPECT_EQ(text, nlohmann::ordered_json::parse(text).dump());
  EXPECT_EQ(
      text,
      R"({"one":"1","empty":{},"none":[],"two":["a","b"],"list":[-3,{"yes":true,"word":"base64:"},[]],"last":4})");
}

}  // namespace
}  // namespace reconciler
