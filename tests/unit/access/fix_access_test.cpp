#include "reconciler/access/fix_access.h"

#include <gmock/gmock.h>

#include "tests/unit/access/fake_logins.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FixAccessTest : public testing::Test {
 protected:
  Result<AccessReport> Fix(bool sudoers = false) {
    const LoginFunctions login = logins_.Functions();
    return FixAccess(logins_.Nodes(), CheckAccess(logins_.Nodes(), login), sudoers, login, Hooks());
  }

  FixAccessHooks Hooks() {
    return {.prompt_password = [this](const NodeSpec& node,
                                      const std::string& user) -> Result<std::string> {
              events_.push_back("password of " + user + " on " + node.name);
              if (typed_.empty()) {
                return Fail({.kind = ErrorKind::kUsage, .message = "no password was typed"});
              }
              return typed_;
            },
            .on_key =
                [this](const NodeSpec& node, const Result<InstalledKey>& key) {
                  events_.push_back(
                      node.name + ": " +
                      (key ? key->user + (key->added ? " added " : " found ") + key->key.fingerprint
                           : FormatError(key.error())));
                },
            .on_sudo =
                [this](const NodeSpec& node, const Result<void>& granted) {
                  events_.push_back(node.name + ": " +
                                    (granted ? "sudo" : FormatError(granted.error())));
                }};
  }

  FakeLogins logins_;
  FakeLogins::Machine& first_ = logins_.At("spark-1");
  FakeLogins::Machine& second_ = logins_.At("spark-2");
  std::string typed_ = FakeLogins::kPassword;
  std::vector<std::string> events_;
};

TEST_F(FixAccessTest, AKeyIsAddedOnlyWhereTheLoginIsMissing) {
  second_.has_key = false;
  const auto report = Fix();
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->errors.empty()) << FormatErrors(report->errors);
  EXPECT_THAT(events_, ElementsAre("password of ada on spark-2", "spark-2: ada added SHA256:own"));
  EXPECT_EQ(first_.dials, 0);
}

TEST_F(FixAccessTest, SudoIsLeftAloneUnlessItIsWanted) {
  second_.wants_sudo_password = true;
  const auto report = Fix();
  ASSERT_TRUE(report);
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_TRUE(LacksSudo(report->nodes.at("spark-2")));
}

TEST_F(FixAccessTest, APasswordIsPromptedForOnceForKeyAndSudo) {
  second_.has_key = false;
  second_.wants_sudo_password = true;
  first_.wants_sudo_password = true;
  const auto report = Fix(true);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->errors.empty()) << FormatErrors(report->errors);
  EXPECT_THAT(events_, ElementsAre("password of ada on spark-2", "spark-2: ada added SHA256:own",
                                   "password of ada on spark-1", "spark-1: sudo", "spark-2: sudo"));
}

TEST_F(FixAccessTest, AWrongPasswordIsThatNodesResultAndTheOthersAreTried) {
  first_.has_key = false;
  second_.has_key = false;
  typed_ = "wrong";
  const auto report = Fix();
  ASSERT_TRUE(report);
  EXPECT_THAT(
      events_,
      ElementsAre("password of ada on spark-1", "spark-1: spark-1: the password is wrong\n",
                  "password of ada on spark-2", "spark-2: spark-2: the password is wrong\n"));
  EXPECT_EQ(FormatErrors(report->errors),
            "spark-1: permission denied\nspark-2: permission denied\n");
}

TEST_F(FixAccessTest, WithoutAPasswordTheWholeEnds) {
  first_.has_key = false;
  second_.has_key = false;
  typed_ = "";
  const auto report = Fix(true);
  ASSERT_FALSE(report);
  EXPECT_EQ(FormatError(report.error()), "no password was typed\n");
  EXPECT_THAT(events_, ElementsAre("password of ada on spark-1"));
}

TEST_F(FixAccessTest, AnUnknownUserIsThatNodesResultAndNoPrompt) {
  first_.has_key = false;
  first_.knows_user = false;
  second_.wants_sudo_password = true;
  second_.knows_user = false;
  ASSERT_TRUE(Fix(true));
  EXPECT_THAT(events_, ElementsAre("spark-1: spark-1: no user is known\n",
                                   "spark-2: spark-2: no user is known\n"));
}

TEST_F(FixAccessTest, WhereAKeyCannotBeAddedThatIsSaidAndNothingIsPromptedFor) {
  first_.has_key = false;
  first_.takes_passwords = false;
  second_.has_key = false;
  ASSERT_TRUE(Fix(true));
  EXPECT_THAT(events_, ElementsAre("spark-1: spark-1: no passwords are taken\n",
                                   "password of ada on spark-2", "spark-2: ada added SHA256:own"));
}

TEST_F(FixAccessTest, TheKeyIsAddedInAShellOfTheUser) {
  second_.has_key = false;
  LoginFunctions login = logins_.Functions();
  login.dial_with_password = [dial = login.dial_with_password](const NodeSpec& node,
                                                               const std::string& password) {
    EXPECT_EQ(node.access.become, Become::kNone);
    return dial(node, password);
  };
  const AccessReport before = CheckAccess(logins_.Nodes(), login);
  ASSERT_TRUE(FixAccess(logins_.Nodes(), before, false, login, Hooks()));
  EXPECT_EQ(second_.dials, 1);
}

TEST_F(FixAccessTest, SudoersMayBeWrittenWhereALoginOrAPasswordOfSudoIsMissing) {
  const auto may = [&] {
    return MayWriteSudoers(CheckAccess(logins_.Nodes(), logins_.Functions()));
  };
  EXPECT_FALSE(may());
  first_.host_key.known = false;
  EXPECT_FALSE(may());
  second_.has_key = false;
  EXPECT_TRUE(may());
  second_.has_key = true;
  second_.wants_sudo_password = true;
  EXPECT_TRUE(may());
}

}  // namespace
}  // namespace reconciler
