#include "reconciler/yaml/yaml_scalar.h"

#include <gtest/gtest.h>

#include <vector>

#include "reconciler/yaml/yaml_document.h"

namespace reconciler {
namespace {

template <class T>
void ExpectPlain(std::string_view text, T wanted) {
  const auto resolved = ResolvePlainScalar(text);
  ASSERT_TRUE(resolved) << text;
  ASSERT_TRUE(std::holds_alternative<T>(*resolved)) << text;
  EXPECT_EQ(std::get<T>(*resolved), wanted) << text;
}

TEST(ResolvePlainScalar, NothingTildeAndNullAreNull) {
  for (const auto* text : {"", "~", "null", "Null", "NULL"}) ExpectPlain(text, nullptr);
}

TEST(ResolvePlainScalar, OnlyTrueAndFalseAreBooleans) {
  for (const auto* text : {"true", "True", "TRUE"}) ExpectPlain(text, true);
  for (const auto* text : {"false", "False", "FALSE"}) ExpectPlain(text, false);
  for (const auto* text : {"yes", "no", "on", "off", "y", "tRUE"}) {
    ExpectPlain(text, std::string(text));
  }
}

TEST(ResolvePlainScalar, IntegersAreDecimalHexadecimalOrMarkedOctal) {
  ExpectPlain("9000", std::int64_t{9000});
  ExpectPlain("-7", std::int64_t{-7});
  ExpectPlain("+7", std::int64_t{7});
  ExpectPlain("0600", std::int64_t{600});  // decimal, unlike YAML 1.1
  ExpectPlain("0o17", std::int64_t{15});
  ExpectPlain("0x1F", std::int64_t{31});
  ExpectPlain("9223372036854775807", std::int64_t{9223372036854775807});
  ExpectPlain("-9223372036854775808", std::numeric_limits<std::int64_t>::min());
}

TEST(ResolvePlainScalar, FloatsHaveAPointOrAnExponent) {
  ExpectPlain("1.5", 1.5);
  ExpectPlain("-.5", -0.5);
  ExpectPlain("+2.", 2.0);
  ExpectPlain("1e3", 1000.0);
  ExpectPlain("1.5E-1", 0.15);
}

TEST(ResolvePlainScalar, EverythingElseIsText) {
  for (const auto* text :
       {"1GiB", "192.168.1.21", "192.168.177.0/24", "1:30", "1_000", ".", "-", "+", "0x", "0o8",
        "0b1", "1e", "1e+", "-0x1", "e5", "..5", "nan", "inf"}) {
    ExpectPlain(text, std::string(text));
  }
}

TEST(FormatScalar, WhatYamlReadsAsThisTextStaysAsItIs) {
  for (const auto* text : {"nvidia", "spark-c.lan", "192.168.1.21", "/etc/netplan/40-cx7.yaml",
                           "a@1.service", "yes", "_x", "1e", "12ab"}) {
    EXPECT_EQ(FormatScalar(text), text);
  }
}

TEST(FormatScalar, WhatYamlReadsAsSomethingElseIsInQuotes) {
  for (const auto* text : {"",
                           "null",
                           "~",
                           "true",
                           "False",
                           "12",
                           "0x1f",
                           "1e5",
                           ".5",
                           ".inf",
                           "99999999999999999999",
                           "a: b",
                           "fd00::",
                           "a b",
                           "-x",
                           "#x",
                           "&a",
                           "*a",
                           "x}, {y",
                           "a,b",
                           "'a'",
                           "é"}) {
    EXPECT_EQ(FormatScalar(text), '"' + std::string(text) + '"');
  }
  EXPECT_EQ(FormatScalar("a\"b\\\n"), "\"a\\\"b\\\\\\x0a\"");
}

TEST(FormatScalar, IsReadAsTheSameTextBetweenBracketsAndBraces) {
  std::vector<std::string> texts = {"null", "a: b", "x}, {y", "\"", "\\", "\\x41", "é"};
  for (int byte = 1; byte < 0x80; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    for (const std::string& text : {one, one + "a", "a" + one, "a" + one + "a", "a" + one + " "}) {
      texts.push_back(text);
    }
  }
  for (const std::string& text : texts) {
    const std::string scalar = FormatScalar(text);
    const auto value =
        ParseYaml("a: {b: [" + scalar + ", " + scalar + "]}\nc: " + scalar + "\n", "f");
    ASSERT_TRUE(value) << FormatError(value.error());
    for (const Value& entry : value->At({"a", "b"})->List()) {
      ASSERT_NE(entry.AsString(), nullptr) << scalar;
      EXPECT_EQ(*entry.AsString(), text);
    }
    EXPECT_EQ(value->GetText("c"), text);
  }
}

TEST(ResolvePlainScalar, NumbersThatCannotBeHeldAreErrors) {
  EXPECT_EQ(ResolvePlainScalar("9223372036854775808").error(), "does not fit into 64 bits");
  EXPECT_EQ(ResolvePlainScalar("0x10000000000000000").error(), "does not fit into 64 bits");
  EXPECT_EQ(ResolvePlainScalar("-.inf").error(), "is no finite number");
  EXPECT_EQ(ResolvePlainScalar(".nan").error(), "is no finite number");
  EXPECT_EQ(ResolvePlainScalar("1e999").error(), "is no number that a double can hold");
}

}  // namespace
}  // namespace reconciler
