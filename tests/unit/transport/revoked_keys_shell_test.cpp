// A KRL, which the real ssh-keygen reads.
#include "reconciler/transport/revoked_keys.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

class RevocationList : public ShellTest {
 protected:
  void SetUp() override {
    EXPECT_EQ(Run("cd " + directory_ +
                  " && for name in one two; do ssh-keygen -q -t ed25519 -N '' -f $name; done\n"
                  "ssh-keygen -q -k -f list one.pub\n")
                  .exit_code,
              0);
  }
  std::string Key(const std::string& name) const {
    const std::string line = Get(Path(name + ".pub"));
    return line.substr(0, line.rfind(' '));
  }
  Result<std::optional<SourceMark>> Find(const std::string& name,
                                         std::chrono::milliseconds limit) const {
    return FindRevokedKey(Path("list"), Key(name),
                          std::chrono::steady_clock::now() + test::ScaleLimit(limit));
  }
  std::string FindError(std::chrono::milliseconds limit = std::chrono::seconds(20)) const {
    const auto found = Find("two", limit);
    return found ? "none" : found.error().message;
  }
  // `does`: what ssh-keygen is meanwhile.
  std::string FindErrorWith(const std::string& does, std::chrono::milliseconds limit) {
    Put("bin/ssh-keygen", "#!/bin/sh\n" + does + "\n");
    std::filesystem::permissions(Path("bin/ssh-keygen"), std::filesystem::perms::owner_all);
    const std::string path = std::getenv("PATH");
    setenv("PATH", (Path("bin") + ":" + path).c_str(), 1);
    std::string error = FindError(limit);
    setenv("PATH", path.c_str(), 1);
    return error;
  }
};

TEST_F(RevocationList, HasAKeyOrNot) {
  const auto listed = Find("one", std::chrono::seconds(20));
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_EQ(*listed, (SourceMark{Path("list"), {}}));
  const auto other = Find("two", std::chrono::seconds(20));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_FALSE(*other);
}

TEST_F(RevocationList, OneThatIsBrokenIsAnError) {
  Put("list", std::string("SSHKRL\n\0and no more", 20));
  EXPECT_THAT(FindError(),
              testing::StartsWith(Path("list") + ": ssh-keygen cannot read it: Invalid KRL file "));
}

TEST_F(RevocationList, WithoutAnAnswerOfSshKeygenNothingIsKnown) {
  constexpr std::chrono::seconds kEnough{20};
  EXPECT_EQ(FindErrorWith("echo 'usage: ssh-keygen' >&2; exit 1", kEnough),
            Path("list") + ": ssh-keygen cannot read it: usage: ssh-keygen");
  EXPECT_EQ(FindErrorWith("exit 9", kEnough), Path("list") + ": ssh-keygen cannot read it: exit 9");
  EXPECT_EQ(FindErrorWith("sleep 300", std::chrono::milliseconds(100)),
            Path("list") + ": ssh-keygen did not read it in time");
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const std::string error = FindError();
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(error, Path("list") +
                       ": it is a KRL, which ssh-keygen has to read: cannot run "
                       "'ssh-keygen': No such file or directory");
}

}  // namespace
}  // namespace reconciler
