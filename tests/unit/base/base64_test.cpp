#include "reconciler/base/base64.h"

#include <gtest/gtest.h>

#include <utility>

namespace reconciler {
namespace {

TEST(Base64, IsTheStandardsFormBothWays) {
  for (const auto& [bytes, text] : {std::pair<std::string, std::string>{"", ""},
                                    {"M", "TQ=="},
                                    {"Ma", "TWE="},
                                    {"Man", "TWFu"},
                                    {"\xff\xff\xff", "////"},
                                    {std::string("\0\xfb", 2), "APs="}}) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes);
  }
}

TEST(Base64, ComesBackForEveryLength) {
  std::string bytes;
  for (int length = 0; length < 300; ++length) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
    bytes += static_cast<char>(length * 7);
  }
}

TEST(EncodeBase64, EndsEachLineOfAWidthWithANewline) {
  EXPECT_EQ(EncodeBase64("", 76), "");
  EXPECT_EQ(EncodeBase64("M", 76), "TQ==\n");
  EXPECT_EQ(EncodeBase64("ManManM", 4), "TWFu\nTWFu\nTQ==\n");
  const std::string text = EncodeBase64(std::string(2 * 57, 'a'), 76);
  EXPECT_EQ(text.find('\n'), 76u);
  EXPECT_EQ(text.size(), 2u * 77);
}

TEST(DecodeBase64, RefusesWhateverIsNotExactlyThatForm) {
  for (const char* text : {"T", "TQ", "TQ=", "TQ===", "=", "==", "====", "T===", "TQ==TQ==",
                           "TQ= =", "TWF\n", "TWFu\n", " TWFu", "TWFuTWF", "TW-_", "TQ=x", "-"}) {
    EXPECT_FALSE(DecodeBase64(text)) << '\'' << text << '\'';
  }
}

}  // namespace
}  // namespace reconciler
