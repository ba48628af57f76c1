#include "reconciler/access/sudo_password.h"

#include <gtest/gtest.h>

#include "tests/support/fake_transport.h"

namespace reconciler {
namespace {

// spark-1, whose sudo wants "secret", or nothing.
class SudoPassword : public testing::Test {
 protected:
  SudoPassword() {
    node_.access.user = "ada";
    network_.SetNode("spark-1", {.shell = [this](const std::string& script) -> ScriptReply {
                       if (script.find("PASSWORD=") == std::string::npos) return {.out = "ran\n"};
                       ++tries_;
                       if (!wants_password_) return {.out = "none\n"};
                       if (script.find("'secret'") != std::string::npos) return {.out = "taken\n"};
                       return {.exit_code = 1, .err = "sudo: 1 incorrect password attempt\n"};
                     }});
  }

  // How `dial` connects, which records what each connection was to be.
  Dial MakeDial() {
    return [this, dial = network_.Dialer()](const NodeSpec& node) {
      dialed_.push_back(node.access);
      return dial(node);
    };
  }

  FakeNetwork network_{std::map<NodeName, FakeNode>{}};
  NodeSpec node_{.name = "spark-1"};
  std::vector<Access> dialed_ = {};
  bool wants_password_ = true;
  int tries_ = 0;
};

TEST_F(SudoPassword, IsTriedOnceByTheUserAndThenGivenToEveryShell) {
  const Dial dial = UseSudoPassword(MakeDial(), "secret");
  ASSERT_TRUE(dial(node_));
  ASSERT_TRUE(dial(node_));
  EXPECT_EQ(tries_, 1);
  ASSERT_EQ(dialed_.size(), 3u);
  EXPECT_EQ(dialed_[0].become, Become::kNone);
  EXPECT_EQ(dialed_[0].sudo_password, nullptr);
  for (const std::size_t i : {1u, 2u}) {
    EXPECT_EQ(dialed_[i].become, Become::kSudo);
    ASSERT_NE(dialed_[i].sudo_password, nullptr);
    EXPECT_EQ(*dialed_[i].sudo_password, "secret");
  }
}

TEST_F(SudoPassword, ThatIsRefusedFailsEveryConnectionAndIsNotTriedAgain) {
  const Dial dial = UseSudoPassword(MakeDial(), "other");
  for (int i = 0; i < 2; ++i) {
    const auto refused = dial(node_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(FormatError(refused.error()),
              "spark-1: sudo refused the password for user 'ada'\n"
              "  hint: type it with care; one password is used on all nodes\n");
  }
  EXPECT_EQ(tries_, 1);
  EXPECT_EQ(dialed_.size(), 1u);
}

TEST_F(SudoPassword, GoesToNoShellWhereSudoWantsNone) {
  wants_password_ = false;
  ASSERT_TRUE(UseSudoPassword(MakeDial(), "secret")(node_));
  ASSERT_EQ(dialed_.size(), 2u);
  EXPECT_EQ(dialed_[1].become, Become::kSudo);
  EXPECT_EQ(dialed_[1].sudo_password, nullptr);
}

TEST_F(SudoPassword, AConnectionThatFailedSaysNothingOfThePassword) {
  network_.SetNode("spark-1", {.refuse_dial = "no route"});
  const Dial dial = UseSudoPassword(MakeDial(), "secret");
  EXPECT_FALSE(dial(node_));
  network_.SetNode("spark-1",
                   {.shell = [](const std::string&) -> ScriptReply { return {.out = "taken\n"}; }});
  EXPECT_TRUE(dial(node_));
}

TEST_F(SudoPassword, ATryThatWasCutOffIsMadeAgain) {
  const auto take = [](const std::string&) -> ScriptReply { return {.out = "taken\n"}; };
  network_.SetNode("spark-1", {.shell = take, .drop_after = 0});
  const Dial dial = UseSudoPassword(MakeDial(), "secret");
  EXPECT_FALSE(dial(node_));
  network_.SetNode("spark-1", {.shell = take});
  EXPECT_TRUE(dial(node_));
}

TEST_F(SudoPassword, IsNotUsedWhereTheLoginIsRoot) {
  node_.access.become = Become::kNone;
  ASSERT_TRUE(UseSudoPassword(MakeDial(), "other")(node_));
  EXPECT_EQ(tries_, 0);
  ASSERT_EQ(dialed_.size(), 1u);
  EXPECT_EQ(dialed_[0].sudo_password, nullptr);
}

TEST_F(SudoPassword, SudoThatFailsForAnotherReasonSaysWhich) {
  network_.SetNode("spark-1", {.shell = [](const std::string&) -> ScriptReply {
                     return {.exit_code = 1, .err = "sudo: unable to open /etc/sudoers\n"};
                   }});
  const auto failed = UseSudoPassword(MakeDial(), "secret")(node_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(FormatError(failed.error()),
            "spark-1: sudo could not be tried: exit 1: sudo: unable to open /etc/sudoers\n");
}

}  // namespace
}  // namespace reconciler
