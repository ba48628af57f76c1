#include "reconciler/base/json/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// What is printed of the error; empty: there is none.
template <class Function>
std::string PrintErrorOf(std::string_view json, Function function) {
  const auto read = ReadDocument<int>(json, [&](const JsonReader& reader) {
    function(reader);
    return 0;
  });
  if (read) return {};
  EXPECT_EQ(read.error().kind, ErrorKind::kInput);
  return FormatError(read.error());
}

TEST(JsonReader, AnErrorHasThePathOfItsPlace) {
  const std::string_view json =
      R"({"nodes": {"spark-1": {"ports": [{"mtu": 9000}, {"mtu": "x"}]}}})";
  EXPECT_EQ(PrintErrorOf(json,
                         [](const JsonReader& reader) {
                           reader.At("nodes").ForEachMember(
                               [](const std::string&, const JsonReader& node) {
                                 node.At("ports").ForEachItem(
                                     [](const JsonReader& port) { port.At("mtu").Integer(); });
                               });
                         }),
            "/nodes/spark-1/ports/1/mtu: wanted an integer, found string\n");
}

TEST(JsonReader, PlainTextIsNotDecodedAndAnyNumberIsOne) {
  const std::string_view json = R"({"text": "base64:%", "whole": 3, "decimal": 1.5, "no": "1"})";
  EXPECT_EQ(PrintErrorOf(json,
                         [](const JsonReader& reader) {
                           EXPECT_EQ(reader.At("text").PlainText(), "base64:%");
                           EXPECT_EQ(reader.At("whole").Number(), 3);
                           EXPECT_EQ(reader.At("decimal").Number(), 1.5);
                           reader.At("no").Number();
                         }),
            "/no: wanted a number, found string\n");
  EXPECT_EQ(PrintErrorOf(json, [](const JsonReader& reader) { reader.At("whole").PlainText(); }),
            "/whole: wanted a string, found number\n");
}

TEST(JsonReader, AMissingMemberIsAnErrorOfTheObject) {
  EXPECT_EQ(PrintErrorOf("{}", [](const JsonReader& reader) { reader.At("format"); }),
            "/: 'format' is missing\n");
  EXPECT_EQ(PrintErrorOf(R"({"a": {}})", [](const JsonReader& reader) { reader.At("a").At("b"); }),
            "/a: 'b' is missing\n");
}

TEST(JsonReader, AnotherTypeIsNamedWithTheOneThatIsWanted) {
  const auto print = [](std::string_view value, auto function) {
    return PrintErrorOf("{\"a\": " + std::string(value) + "}",
                        [&](const JsonReader& reader) { function(reader.At("a")); });
  };
  const auto read_text = [](const JsonReader& reader) { reader.Text(); };
  const auto read_integer = [](const JsonReader& reader) { reader.Integer(); };
  const auto read_bool = [](const JsonReader& reader) { reader.Bool(); };
  const auto read_items = [](const JsonReader& reader) {
    reader.ForEachItem([](const JsonReader&) {});
  };
  const auto read_members = [](const JsonReader& reader) {
    reader.ForEachMember([](const std::string&, const JsonReader&) {});
  };
  EXPECT_EQ(print("7", read_text), "/a: wanted a string, found number\n");
  EXPECT_EQ(print("null", read_text), "/a: wanted a string, found null\n");
  EXPECT_EQ(print("1.5", read_integer), "/a: wanted an integer, found number\n");
  EXPECT_EQ(print("1e300", read_integer), "/a: wanted an integer, found number\n");
  EXPECT_EQ(print("\"true\"", read_bool), "/a: wanted true or false, found string\n");
  EXPECT_EQ(print("{}", read_items), "/a: wanted a list, found object\n");
  EXPECT_EQ(print("[]", read_members), "/a: wanted an object, found array\n");
  EXPECT_EQ(print("[]", [](const JsonReader& reader) { reader.At("b"); }),
            "/a: wanted an object, found array\n");
}

TEST(JsonReader, ANumberThatIsTooLargeIsNotReadAsAnother) {
  const auto read = [](std::string_view json) {
    return ReadDocument<std::int64_t>(json,
                                      [](const JsonReader& reader) { return reader.Integer(); });
  };
  EXPECT_EQ(read("9223372036854775807").value_or(0), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(read("-9223372036854775808").value_or(0), std::numeric_limits<std::int64_t>::min());
  const auto above = read("9223372036854775808");
  ASSERT_FALSE(above);
  EXPECT_EQ(FormatError(above.error()), "/: 9223372036854775808 is too large\n");
  const auto far_above = read("18446744073709551616");  // a number with a fraction to the library
  ASSERT_FALSE(far_above);
  EXPECT_EQ(FormatError(far_above.error()), "/: wanted an integer, found number\n");
}

TEST(JsonReader, TextAndKeysAreOfAnyBytes) {
  const auto read =
      ReadDocument<std::string>(R"({"base64:/w==": "base64:AAE="})", [](const JsonReader& reader) {
        std::string all;
        reader.ForEachMember(
            [&](const std::string& key, const JsonReader& value) { all += key + value.Text(); });
        return all;
      });
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, std::string("\xff\0\x01", 3));
}

TEST(JsonReader, TextThatIsNoBase64IsAnError) {
  EXPECT_EQ(
      PrintErrorOf(R"({"a": "base64:?"})", [](const JsonReader& reader) { reader.At("a").Text(); }),
      "base64:?: wanted base64 after 'base64:'\n");
}

TEST(JsonReader, WhatIsNoJsonIsAnErrorAndNotAnException) {
  for (const std::string_view json : {"", "{", "{\"a\": \"\xff\"}", "[1,]", "{}}"}) {
    EXPECT_THAT(PrintErrorOf(json, [](const JsonReader&) {}),
                testing::StartsWith("not valid JSON: "))
        << json;
  }
}

TEST(JsonReader, NoByteOfTheDocumentReachesTheTerminalRaw) {
  for (const std::string_view json :
       {"\xff", "{\"\xff", "{\"a\": \"\x7f\xff\"}", "{\"a\": \xc3\x28"}) {
    const std::string printed = PrintErrorOf(json, [](const JsonReader&) {});
    EXPECT_TRUE(IsValidUtf8(printed)) << json;
    EXPECT_EQ(printed.find('\x7f'), std::string::npos) << json;
  }
  EXPECT_EQ(PrintErrorOf(R"({"a\u001b": 1})",
                         [](const JsonReader& reader) {
                           reader.ForEachMember(
                               [](const std::string&, const JsonReader& value) { value.Text(); });
                         }),
            "/a\\x1b: wanted a string, found number\n");
}

TEST(JsonReader, OnlyAnObjectHasMembers) {
  const auto has = [](std::string_view json) {
    return ReadDocument<bool>(json, [](const JsonReader& reader) { return reader.Has("a"); });
  };
  EXPECT_TRUE(has(R"({"a": null})").value_or(false));
  EXPECT_FALSE(has(R"({"b": 1})").value_or(true));
  EXPECT_FALSE(has(R"(["a"])").value_or(true));
}

}  // namespace
}  // namespace reconciler
