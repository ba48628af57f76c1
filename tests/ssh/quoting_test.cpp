#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/dial.h"
#include "tests/ssh/sshd_fixture.h"
#include "tests/unit/transport/hostile_text.h"

namespace reconciler {
namespace {

using SshQuoting = SshTest;

TEST_F(SshQuoting, HostileWordsComeBackByteForByte) {
  StartSshd();
  const auto transport = DialNode(node_);
  ASSERT_TRUE(transport) << FormatError(transport.error());
  const auto shell = (*transport)->OpenShell();
  ASSERT_TRUE(shell) << FormatError(shell.error());
  EXPECT_TRUE(rc::check("quoted words are not read by the shell", [&] {
    const auto words =
        *rc::gen::resize(30, rc::gen::container<std::vector<std::string>>(HostileWord()));
    EchoScript echo;
    echo.Add(QuoteForShell(EveryByteButNul()), EveryByteButNul());
    for (const std::string& word : words) echo.Add(QuoteForShell(word), word);
    const Deadline deadline = std::chrono::steady_clock::now() + Milliseconds(30000);
    RC_ASSERT((*shell)->Write(echo.script + "\n", deadline).has_value());
    std::string out;
    while (out.size() < echo.expected.size()) {
      const auto output = (*shell)->Read(deadline);
      RC_ASSERT(output.has_value());
      RC_ASSERT(output->err.empty());
      out += output->out;
    }
    RC_ASSERT(out == echo.expected);
  }));
}

}  // namespace
}  // namespace reconciler
