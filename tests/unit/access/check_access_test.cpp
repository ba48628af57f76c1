#include "reconciler/access/check_access.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/overlap.h"
#include "tests/unit/access/fake_logins.h"

namespace reconciler {
namespace {

class CheckAccessTest : public testing::Test {
 protected:
  AccessReport Check() { return CheckAccess(logins_.Nodes(), logins_.Functions()); }

  FakeLogins logins_;
  FakeLogins::Machine& second_ = logins_.At("spark-2");
};

TEST_F(CheckAccessTest, ANodeThatLacksNothingHasAllSteps) {
  const AccessReport report = Check();
  EXPECT_TRUE(report.errors.empty()) << FormatErrors(report.errors);
  const NodeAccess& access = report.nodes.at("spark-2");
  EXPECT_EQ(access.host_key, HostKeyState::kKnown);
  EXPECT_EQ(access.login, AccessStep::kDone);
  EXPECT_EQ(access.root, AccessStep::kDone);
  EXPECT_FALSE(LacksLogin(access) || LacksSudo(access));
}

TEST_F(CheckAccessTest, WithoutAHostKeyNothingFurtherIsTried) {
  second_.no_host_key = "connection refused";
  const AccessReport report = Check();
  const NodeAccess& access = report.nodes.at("spark-2");
  EXPECT_EQ(access.host_key, HostKeyState::kUnread);
  EXPECT_EQ(access.login, AccessStep::kNotTried);
  EXPECT_EQ(access.root, AccessStep::kNotTried);
  EXPECT_FALSE(LacksLogin(access));
  EXPECT_EQ(FormatErrors(report.errors), "spark-2: connection refused\n");
}

TEST_F(CheckAccessTest, ANewHostKeyIsNoMissingLogin) {
  second_.host_key.known = false;
  second_.spec.access.host_keys = HostKeys::kAcceptNew;
  LoginFunctions login = logins_.Functions();
  login.dial = [dial = login.dial](const NodeSpec& node) {
    EXPECT_EQ(node.access.host_keys, HostKeys::kStrict);
    return dial(node);
  };
  const AccessReport report = CheckAccess(logins_.Nodes(), login);
  const NodeAccess& access = report.nodes.at("spark-2");
  EXPECT_EQ(access.host_key, HostKeyState::kNew);
  EXPECT_EQ(access.login, AccessStep::kNotTried);
  EXPECT_EQ(FormatErrors(report.errors), "spark-2: the host key is new\n");
}

TEST_F(CheckAccessTest, ALoginThatIsRefusedIsMissing) {
  second_.has_key = false;
  const AccessReport report = Check();
  const NodeAccess& access = report.nodes.at("spark-2");
  EXPECT_EQ(access.host_key, HostKeyState::kKnown);
  EXPECT_TRUE(LacksLogin(access));
  EXPECT_EQ(access.root, AccessStep::kNotTried);
  EXPECT_FALSE(LacksLogin(report.nodes.at("spark-1")));
  EXPECT_EQ(FormatErrors(report.errors), "spark-2: permission denied\n");
}

TEST_F(CheckAccessTest, ASudoThatWantsAPasswordIsMissing) {
  second_.wants_sudo_password = true;
  const AccessReport report = Check();
  const NodeAccess& access = report.nodes.at("spark-2");
  EXPECT_EQ(access.login, AccessStep::kDone);
  EXPECT_EQ(access.root, AccessStep::kFailed);
  EXPECT_TRUE(LacksSudo(access));
  EXPECT_EQ(FormatErrors(report.errors),
            "spark-2: sudo wants a password for user 'ada'\n"
            "  hint: give --prompt-sudo-password, or put 'ada ALL=(ALL) NOPASSWD: ALL' into "
            "/etc/sudoers.d/spark-reconcile on spark-2 (with visudo -f)\n");
}

// `echo hello` in ~/.bashrc, above the line that ends it for shells without a terminal.
TEST_F(CheckAccessTest, WhatStartupFilesPrintHidesNoRefusalOfSudo) {
  second_.startup = "hello\n";
  EXPECT_TRUE(Check().errors.empty());
  second_.wants_sudo_password = true;
  const AccessReport report = Check();
  EXPECT_TRUE(LacksSudo(report.nodes.at("spark-2")));
  EXPECT_EQ(report.errors.at(0).message, "spark-2: sudo wants a password for user 'ada'");
}

TEST_F(CheckAccessTest, AShellOfAnotherUserIsNoRootAndNoMissingPassword) {
  second_.startup = "Welcome!\n";
  second_.root_id = "1000";
  const AccessReport report = Check();
  EXPECT_FALSE(LacksSudo(report.nodes.at("spark-2")));
  EXPECT_EQ(FormatErrors(report.errors),
            "spark-2: wanted a root shell (user id 0), found '1000'\n"
            "  hint: log in as root, or as a user with sudo and `become: sudo` in `access`\n");
}

TEST_F(CheckAccessTest, ThisMachineHasNoHostKey) {
  second_.spec.access.transport = TransportKind::kLocal;
  second_.no_host_key = "must not be read";
  const AccessReport report = Check();
  EXPECT_EQ(report.nodes.at("spark-2").host_key, HostKeyState::kUnread);
  EXPECT_EQ(report.nodes.at("spark-2").root, AccessStep::kDone);
  EXPECT_TRUE(report.errors.empty());
}

TEST_F(CheckAccessTest, WhatOneNodeLacksHidesNothingOfTheOthers) {
  logins_.At("spark-1").has_key = false;
  second_.no_host_key = "no route";
  EXPECT_EQ(FormatErrors(Check().errors), "spark-1: permission denied\nspark-2: no route\n");
}

TEST_F(CheckAccessTest, ANodeWhoseCheckThrowsIsAnErrorAndInNoRow) {
  LoginFunctions login = logins_.Functions();
  login.read_host_key = [read = login.read_host_key](const NodeSpec& node) {
    if (node.name == "spark-1") throw std::runtime_error("out of memory");
    return read(node);
  };
  const AccessReport report = CheckAccess(logins_.Nodes(), login);
  EXPECT_EQ(report.nodes.count("spark-1"), 0u);
  EXPECT_EQ(report.nodes.count("spark-2"), 1u);
  ASSERT_EQ(report.errors.size(), 1u);
  EXPECT_NE(FormatErrors(report.errors).find("out of memory"), std::string::npos);
}

TEST_F(CheckAccessTest, OneNodeAtATimeWaitsForTheOneBefore) {
  test::Overlap dials;
  LoginFunctions login = logins_.Functions();
  login.at_once = 1;
  login.dial = [&, dial = login.dial](const NodeSpec& node) {
    dials.Pass();
    return dial(node);
  };
  EXPECT_TRUE(CheckAccess(logins_.Nodes(), login).errors.empty());
  EXPECT_EQ(dials.most(), 1);
}

}  // namespace
}  // namespace reconciler
