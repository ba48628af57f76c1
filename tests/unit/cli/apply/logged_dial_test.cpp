#include "reconciler/cli/apply/logged_dial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace reconciler::cli {
namespace {

using testing::ElementsAre;

class WithoutShell : public Transport {
 public:
  Result<std::unique_ptr<Channel>> OpenShell() override {
    return Fail({.kind = ErrorKind::kTransport, .message = "no channel\x1b is left"});
  }
};

// The lines of -vv, with N.NNN for each time in seconds.
class LogConnectionsTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Transport>> Connect(Dial dial) {
    const Dial logged = LogConnections(std::move(dial), [&](const LogLine& line) {
      EXPECT_EQ(line.level, LogLevel::kTransport);
      lines_.push_back(
          std::regex_replace(line.text, std::regex("in [0-9]+\\.[0-9]{3} s"), "in N.NNN s"));
    });
    return logged({.name = "spark-1", .address = "192.168.1.21"});
  }

  std::vector<std::string> lines_;
};

TEST_F(LogConnectionsTest, EachConnectionAndEachShellIsALineWithItsTime) {
  const auto transport = Connect([](const NodeSpec&) { return std::make_unique<WithoutShell>(); });
  ASSERT_TRUE(transport);
  EXPECT_THAT(lines_, ElementsAre("spark-1: connection to 192.168.1.21 in N.NNN s"));
  EXPECT_FALSE((*transport)->OpenShell());
  EXPECT_THAT(lines_, ElementsAre("spark-1: connection to 192.168.1.21 in N.NNN s",
                                  "spark-1: shell in N.NNN s: failed: no channel\\x1b is left"));
}

TEST_F(LogConnectionsTest, AConnectionThatFailsIsALineToo) {
  const auto transport = Connect([](const NodeSpec&) -> Result<std::unique_ptr<Transport>> {
    return Fail({.kind = ErrorKind::kTransport, .message = "connection refused"});
  });
  ASSERT_FALSE(transport);
  EXPECT_EQ(transport.error().message, "connection refused");
  EXPECT_THAT(lines_, ElementsAre("spark-1: connection to 192.168.1.21 in N.NNN s: failed: "
                                  "connection refused"));
}

}  // namespace
}  // namespace reconciler::cli
