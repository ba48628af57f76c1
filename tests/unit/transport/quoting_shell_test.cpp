#include <gtest/gtest.h>

#include "reconciler/base/text.h"
#include "reconciler/transport/local_transport.h"
#include "tests/support/limits.h"
#include "tests/unit/transport/hostile_text.h"

namespace reconciler {
namespace {

std::string Echo(Transport& transport, const std::vector<std::string>& words,
                 std::string& expected) {
  EchoScript echo;
  for (const std::string& word : words) echo.Add(QuoteForShell(word), word);
  expected = echo.expected;
  const auto reply =
      RunScript(transport, echo.script + "\n", test::ScaleLimit(Milliseconds(10000)));
  return reply ? reply->out : "error: " + reply.error().message;
}

TEST(LocalQuoting, EveryByteButNulComesBack) {
  const auto transport = DialLocal(NodeSpec{.name = "here"});
  std::string expected;
  const std::string got = Echo(**transport, {EveryByteButNul()}, expected);
  EXPECT_EQ(got, expected);
}

TEST(LocalQuoting, HostileWordsComeBackByteForByte) {
  const auto transport = DialLocal(NodeSpec{.name = "here"});
  EXPECT_TRUE(rc::check("quoted words are not read by the shell", [&] {
    const auto words = *rc::gen::resize(
        20, rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(HostileWord())));
    std::string expected;
    const std::string got = Echo(**transport, words, expected);
    RC_ASSERT(got == expected);
  }));
}

}  // namespace
}  // namespace reconciler
