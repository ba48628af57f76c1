#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include "tests/support/shell_fixture.h"

namespace reconciler {

// A user who is not root and owns a folder of the test as home. Needs root, which becomes that
// user. The account is the machine's "daemon", with another home.
class HomeTest : public ShellTest {
 protected:
  static constexpr const char* kUser = "daemon";

  HomeTest() {
    const passwd* account = getpwnam(kUser);
    if (geteuid() != 0 || account == nullptr) return;
    uid_ = account->pw_uid;
    gid_ = account->pw_gid;
    std::filesystem::permissions(directory_, std::filesystem::perms(0711));
    MakeFolder("home");
    root_folder_ = Path("root-only");
    std::filesystem::create_directory(root_folder_);
    std::filesystem::permissions(root_folder_, std::filesystem::perms(0700));
    Put("root-only/secret", "of root alone\n");
    std::filesystem::permissions(Path("root-only/secret"), std::filesystem::perms(0600));
  }
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "becoming another user needs root";
    ASSERT_NE(uid_, 0u) << "this machine has no user " << kUser;
  }

  // A folder of the user's.
  void MakeFolder(const std::string& name) {
    std::filesystem::create_directories(Path(name));
    ASSERT_EQ(chown(Path(name).c_str(), uid_, gid_), 0);
  }
  // A file of the user's.
  void PutOwn(const std::string& name, const std::string& content) {
    Put(name, content);
    ASSERT_EQ(chown(Path(name).c_str(), uid_, gid_), 0);
    std::filesystem::permissions(Path(name), std::filesystem::perms(0600));
  }
  void Link(const std::string& to, const std::string& name) {
    std::filesystem::create_symlink(to, Path(name));
    ASSERT_EQ(lchown(Path(name).c_str(), uid_, gid_), 0);
  }

  // Stands before a script and makes the node's user database. `root`: what the script puts before
  // every path.
  std::string UserDatabase(const std::string& root = "") const {
    return fmt::format("getent() {{ echo '{}:x:{}:{}::{}:/bin/sh'; }}\n", kUser, uid_, gid_,
                       Path("home").substr(root.size()));
  }

  // Names below the root-only folder.
  std::size_t CountRootFiles() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(root_folder_), {}));
  }

  uid_t uid_ = 0;
  gid_t gid_ = 0;
  std::string root_folder_ = {};
};

}  // namespace reconciler
