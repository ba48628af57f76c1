#include "reconciler/transport/revoked_keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "reconciler/base/base64.h"
#include "tests/support/temporary_folder.h"

namespace reconciler {
namespace {

// A public key whose bytes end with `end`.
std::string MakeKey(const std::string& kind, const std::string& end) {
  std::string bytes(3, '\0');
  bytes += static_cast<char>(kind.size());
  return fmt::format("{} {}", kind, EncodeBase64(bytes + kind + end));
}

class RevokedKeys : public testing::Test {
 protected:
  RevokedKeys() : file_((folder_.Path() / "revoked").string()) {}

  Result<std::optional<SourceMark>> Find(const std::string& text) const {
    std::ofstream(file_, std::ios::binary) << text;
    return FindRevokedKey(file_, key_, std::chrono::steady_clock::now());
  }
  std::string FindError(const std::string& text) const {
    const auto found = Find(text);
    return found ? "none" : found.error().message;
  }

  test::TemporaryFolder folder_;
  std::string file_;
  std::string key_ = MakeKey("ssh-ed25519", "1");
  std::string other_ = MakeKey("ecdsa-sha2-nistp256", "2");
};

TEST_F(RevokedKeys, AKeyIsFoundWithItsLine) {
  const auto found = Find("# lost\n\n" + other_ + " of a\n \t" + key_ + "\ton a USB stick\r\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, (SourceMark{file_, {4, 0}}));
}

TEST_F(RevokedKeys, OtherKeysRevokeNone) {
  for (const std::string& text : {std::string(), std::string("# none\n"), other_ + "\n",
                                  MakeKey("ssh-ed25519", "3"), "# " + key_ + "\n"}) {
    const auto found = Find(text);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_FALSE(*found) << text;
  }
}

// As with OpenSSH: who lists keys with the names of hosts does not learn otherwise that it refuses
// none of them.
TEST_F(RevokedKeys, ALineThatIsNoPublicKeyIsAnError) {
  const std::string wanted = file_ + ": line 2: wanted a public key, found ";
  EXPECT_EQ(FindError(other_ + "\nspark-1 " + key_ + "\n"), wanted + "'spark-1'");
  EXPECT_EQ(FindError("\n@revoked * " + key_), wanted + "'@revoked'");
  EXPECT_EQ(FindError("\nssh-ed25519\n"), wanted + "'ssh-ed25519'");
  EXPECT_EQ(FindError("\nssh-ed2" + key_.substr(key_.find(' '))), wanted + "'ssh-ed2'");
  EXPECT_EQ(FindError("\nssh-ed25519 AAAA?\n"), wanted + "'ssh-ed25519'");
  EXPECT_EQ(FindError("\n\x1b[1m\n"), wanted + "'\\x1b[1m'");
}

TEST_F(RevokedKeys, AFileThatCannotBeReadIsAnError) {
  const auto found = FindRevokedKey(file_, key_, std::chrono::steady_clock::now());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, file_ + ": cannot be read: No such file or directory");
}

}  // namespace
}  // namespace reconciler
