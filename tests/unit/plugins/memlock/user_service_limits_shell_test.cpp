#include <fmt/format.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "plugins/memlock/user_service_limits.sh.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins::memlock {
namespace {

// The user who runs the test, and another one, whom only root may become: so setpriv only says what
// it was to run.
class UserServiceLimitsScript : public reconciler::test::ScriptTree {
 protected:
  UserServiceLimitsScript() {
    PutProgram("systemctl", "echo \"$XDG_RUNTIME_DIR systemctl $*\"");
    PutProgram("setpriv", "echo \"$XDG_RUNTIME_DIR setpriv $*\"");
    other_ = getpwnam(geteuid() == 1 ? "bin" : "daemon");
  }
  static std::string OwnName() { return getpwuid(geteuid())->pw_name; }

  // The socket that a manager of the user waits on.
  void StartManager(uid_t user) const {
    const std::string folder = fmt::format("/run/user/{}/systemd", user);
    PutFolder(folder);
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    const std::string path = Place(folder + "/private");
    ASSERT_LT(path.size(), sizeof address.sun_path);
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    close(socket_fd);
  }
  CommandReply RunFor(const std::string& user) const {
    return Run({"sh", "-c", std::string(kUserServiceLimitsSh), "sh", user});
  }
  const passwd* other_ = nullptr;
};

constexpr const char* kShow =
    "systemctl --user show --no-pager --property=DefaultLimitMEMLOCK,DefaultLimitMEMLOCKSoft";

TEST_F(UserServiceLimitsScript, TheOwnManagerIsQueriedAtOnce) {
  StartManager(geteuid());
  const CommandReply reply = RunFor(OwnName());
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, fmt::format("/run/user/{} {}\n", geteuid(), kShow));
}

TEST_F(UserServiceLimitsScript, AnothersManagerIsQueriedAsThatUser) {
  if (other_ == nullptr) GTEST_SKIP() << "no other user on this machine";
  StartManager(other_->pw_uid);
  const CommandReply reply = RunFor(other_->pw_name);
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out,
            fmt::format("/run/user/{0} setpriv --reuid {0} --regid {1} --init-groups {2}\n",
                        other_->pw_uid, other_->pw_gid, kShow));
}

TEST_F(UserServiceLimitsScript, WithoutAManagerItEndsWith3) {
  const CommandReply reply = RunFor(OwnName());
  EXPECT_EQ(reply.exit_code, 3);
  EXPECT_EQ(reply.out, "");
}

TEST_F(UserServiceLimitsScript, AUserWhoIsNotThereIsAnError) {
  EXPECT_EQ(RunFor("nobody-of-that-name").exit_code, 1);
}

}  // namespace
}  // namespace reconciler::plugins::memlock
