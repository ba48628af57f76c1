#include "plugins/nccl/leftovers/settings.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins::nccl {
namespace {

class SettingsScript : public reconciler::test::ScriptTree {
 protected:
  SettingsScript() {
    PutProgram("getent", R"([ "$*" = 'passwd -- nvidia' ] || exit 2
      echo "nvidia:x:1000:1000::)" +
                             Place("/home/nvidia").string() + ":/bin/bash\"");
    PutProgram("id", "echo 0");
    PutProgram("setpriv",
               R"([ "$1 $2 $3 $4 $5 $6" = '--reuid 1000 --regid 1000 --init-groups --' ] || exit 2
      shift 6
      exec "$@")");
  }
  std::string RunFor(const std::string& user, const std::string& before = {}) const {
    return RunForAll({user}, before);
  }
  std::string RunForAll(const std::vector<std::string>& users,
                        const std::string& before = {}) const {
    const CommandReply reply = Run(MakeSettingsProbe(users).argv, before);
    EXPECT_EQ(reply.exit_code, 0);
    return reply.out;
  }
};

TEST_F(SettingsScript, LinesThatNameAVariableArePrintedWithFileAndNumber) {
  Put("/etc/nccl.conf", "# mine\nNCCL_DEBUG=INFO\n");
  Put("/etc/profile.d/gpu.sh", "export PATH\nexport NCCL_IB_HCA=mlx5_0\n");
  Put("/etc/profile.d/gpu.csh", "setenv NCCL_IB_HCA mlx5_0\n");
  Put("/etc/systemd/system/llm.service.d/env.conf", "[Service]\nEnvironment=NCCL_DEBUG=WARN\n");
  Put("/root/.bashrc", "NCCL_ALGO=Ring");
  Put("/home/nvidia/.bashrc", "export NCCL_PROTO=LL\n");
  Put("/home/other/.bashrc", "export NCCL_PROTO=LL128\n");
  EXPECT_EQ(RunFor("nvidia"),
            "/etc/nccl.conf|2:NCCL_DEBUG=INFO\n"
            "/etc/profile.d/gpu.sh|2:export NCCL_IB_HCA=mlx5_0\n"
            "/etc/systemd/system/llm.service.d/env.conf|2:Environment=NCCL_DEBUG=WARN\n"
            "/root/.bashrc|1:NCCL_ALGO=Ring\n"
            "/home/nvidia/.bashrc|1:export NCCL_PROTO=LL\n");
}

TEST_F(SettingsScript, WithoutAUserItIsTheOneWhoLoggedIn) {
  Put("/home/nvidia/.profile", "NCCL_PROTO=LL\n");
  EXPECT_EQ(RunFor("", "SUDO_USER=nvidia"), "/home/nvidia/.profile|1:NCCL_PROTO=LL\n");
  EXPECT_EQ(RunFor("", "unset SUDO_USER"), "");
}

// Jobs may run as another user than the one of access.
TEST_F(SettingsScript, FilesOfBothUsersAreReadWithOneLookUp) {
  const std::string nvidia = "nvidia:x:1000:1000::" + Place("/home/nvidia").string() + ":/bin/bash";
  PutProgram("getent", "[ \"$*\" = 'passwd -- nvidia mpi' ] || exit 2\necho '" + nvidia +
                           "'\necho 'mpi:x:1001:1001::" + Place("/home/mpi").string() +
                           ":/bin/sh'");
  PutProgram("setpriv", R"(case "$2 $4" in '1000 1000' | '1001 1001') shift 6; exec "$@" ;; esac
      exit 2)");
  Put("/home/nvidia/.bashrc", "export NCCL_PROTO=LL\n");
  Put("/home/mpi/.nccl.conf", "NCCL_ALGO=Ring\n");
  EXPECT_EQ(RunForAll({"nvidia", "mpi"}),
            "/home/nvidia/.bashrc|1:export NCCL_PROTO=LL\n/home/mpi/.nccl.conf|1:NCCL_ALGO=Ring\n");
  PutProgram("getent", "echo '" + nvidia + "'\necho '" + nvidia + "'");
  EXPECT_EQ(RunForAll({"", "nvidia"}), "/home/nvidia/.bashrc|1:export NCCL_PROTO=LL\n");
}

TEST_F(SettingsScript, FilesOfEveryShellAndOfUserServicesAreRead) {
  Put("/etc/zsh/zshenv", "NCCL_NET=IB\n");
  for (const char* file : {".bash_login", ".zshenv", ".zprofile", ".zshrc"}) {
    Put(std::string("/home/nvidia/") + file, "export UCX_NET_DEVICES=all\n");
  }
  Put("/home/nvidia/.config/environment.d/gpu.conf", "NCCL_PROTO=LL\n");
  Put("/home/nvidia/.config/environment.d/gpu.bak", "NCCL_PROTO=LL128\n");
  EXPECT_EQ(RunFor("nvidia"),
            "/etc/zsh/zshenv|1:NCCL_NET=IB\n"
            "/home/nvidia/.bash_login|1:export UCX_NET_DEVICES=all\n"
            "/home/nvidia/.zshenv|1:export UCX_NET_DEVICES=all\n"
            "/home/nvidia/.zprofile|1:export UCX_NET_DEVICES=all\n"
            "/home/nvidia/.zshrc|1:export UCX_NET_DEVICES=all\n"
            "/home/nvidia/.config/environment.d/gpu.conf|1:NCCL_PROTO=LL\n");
}

// A link there could lead root anywhere.
TEST_F(SettingsScript, FilesOfAHomeAreReadByItsUserOnly) {
  Put("/etc/nccl.conf", "NCCL_DEBUG=INFO\n");
  Put("/home/nvidia/.profile", "NCCL_PROTO=LL\n");
  PutProgram("setpriv", "exit 1");
  EXPECT_EQ(RunFor("nvidia"), "/etc/nccl.conf|1:NCCL_DEBUG=INFO\n");
}

TEST_F(SettingsScript, NoFileAtAllIsNoError) { EXPECT_EQ(RunFor("nvidia"), ""); }

TEST_F(SettingsScript, WhatIsPrintedHasABound) {
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += "NCCL_DEBUG=INFO\n";
  Put("/etc/nccl.conf", lines);
  const std::size_t size = RunFor("nvidia").size();
  EXPECT_GT(size, 16384u);
  EXPECT_LE(size, 65536u);
}

}  // namespace
}  // namespace reconciler::plugins::nccl
