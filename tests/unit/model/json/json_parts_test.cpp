#include "reconciler/model/json/json_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/model/json/fields_json.h"

namespace reconciler {
namespace {

template <class T>
Result<T> ReadField(std::string_view json) {
  return ReadDocument<T>(
      json, [](const JsonReader& reader) { return FieldCodec<T>::Read(reader.At("field")); });
}

template <class T>
std::string PrintFieldError(std::string_view json) {
  const auto read = ReadField<T>(json);
  return read ? "" : FormatError(read.error());
}

TEST(JsonParts, ANumberThatItsMemberCannotHoldIsTooLarge) {
  EXPECT_EQ(ReadField<int>(R"({"field": 2147483647})").value_or(0), 2147483647);
  EXPECT_EQ(PrintFieldError<int>(R"({"field": 2147483648})"), "/field: 2147483648 is too large\n");
  EXPECT_EQ(PrintFieldError<std::uint16_t>(R"({"field": 65536})"), "/field: 65536 is too large\n");
}

TEST(JsonParts, AWordThatAnEnumLacksIsPrintedWithThoseThatItHas) {
  EXPECT_EQ(PrintFieldError<LinkManager>(R"({"field": "ifupdown"})"),
            "/field: wanted none or networkd or NetworkManager, found \"ifupdown\"\n");
  EXPECT_EQ(PrintFieldError<LinkManager>(R"({"field": 1})"),
            "/field: wanted a string, found number\n");
}

enum class Side { kLeft, kRight };

TEST(JsonParts, AWordOfAListIsItsPlaceAndAnotherOneIsUnknown) {
  static constexpr std::string_view kSides[] = {"left", "right"};
  const auto read = [](std::string_view json) {
    return ReadDocument<Side>(
        json, [](const JsonReader& reader) { return ReadEnum<Side>(reader, kSides); });
  };
  EXPECT_EQ(read("\"right\"").value_or(Side::kLeft), Side::kRight);
  const auto unknown = read("\"middle\"");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(FormatError(unknown.error()), "/: unknown word \"middle\"\n");
}

TEST(JsonParts, AnObservationComesBackAsItWasWritten) {
  for (const Observed<int>& observed :
       {Observed<int>(7), Observed<int>(Absent{}), Observed<int>(Unknown{"\xff no answer"}),
        Observed<int>(Unsupported{"integrated GPU"})}) {
    const std::string json = FieldCodec<Observed<int>>::ToJson(observed).dump();
    const auto read = ReadDocument<Observed<int>>(
        json, [](const JsonReader& reader) { return FieldCodec<Observed<int>>::Read(reader); });
    ASSERT_TRUE(read) << json;
    EXPECT_EQ(*read, observed) << json;
  }
}

TEST(JsonParts, WhyAnObservationIsUnknownMustBeText) {
  EXPECT_EQ(PrintFieldError<Observed<int>>(R"({"field": {"unknown": 5}})"),
            "/field/unknown: wanted a string, found number\n");
}

TEST(JsonParts, ASessionHasBothItsMembers) {
  EXPECT_EQ(PrintFieldError<SessionFacts>(R"({"field": {"address": "192.168.1.21"}})"),
            "/field: 'interface' is missing\n");
  const SessionFacts session = {.address = "192.168.1.21", .interface = ""};
  EXPECT_EQ(FieldCodec<SessionFacts>::ToJson(session).dump(),
            R"({"address":"192.168.1.21","interface":""})");
}

}  // namespace
}  // namespace reconciler
