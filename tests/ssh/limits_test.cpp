#include <fmt/format.h>
#include <signal.h>

#include <thread>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/dial.h"
#include "tests/ssh/sshd_fixture.h"
#include "tests/support/limits.h"

namespace reconciler {
namespace {

using SshLimits = SshTest;

// The last numbers in `out`, one per line.
bool AllGoneSoon(const std::string& out) {
  for (int i = 0; i < 500; ++i) {
    bool gone = true;
    for (const std::string& pid : SplitLines(out)) {
      const std::string stat = ReadText("/proc/" + pid + "/stat");
      gone = gone && (stat.empty() || stat.find(") Z ") != std::string::npos);
    }
    if (gone) return true;
    std::this_thread::sleep_for(Milliseconds(10));
  }
  return false;
}

TEST_F(SshLimits, FloodBeyondTheMaximumIsAnError) {
  StartSshd();
  const auto reply = RunOnNode("yes\n", Milliseconds(30000), 1u << 20);
  ASSERT_FALSE(reply);
  EXPECT_EQ(FormatError(reply.error()),
            "more than 1 MiB of output arrived; the rest was not read\n");
}

TEST_F(SshLimits, FloodBeforeTheScriptIsReadIsAnError) {
  StartSshd();
  const auto reply = RunOnNode("yes\n" + std::string(8000000, '#') + "\n");
  ASSERT_FALSE(reply);
  EXPECT_EQ(FormatError(reply.error()),
            Place() + ": more than 64 MiB of output before the script was read\n");
}

// A node that froze: the connection stands, and no one answers.
class FrozenNode : public SshTest {
 protected:
  void Freeze() {
    StartSshd();
    node_.access.connect_timeout_s = 1;
    auto transport = DialNode(node_);
    ASSERT_TRUE(transport) << FormatError(transport.error());
    transport_ = std::move(*transport);
    auto shell = transport_->OpenShell();
    ASSERT_TRUE(shell) << FormatError(shell.error());
    shell_ = std::move(*shell);
    const Deadline deadline = std::chrono::steady_clock::now() + Milliseconds(10000);
    ASSERT_TRUE(shell_->Write("echo $PPID\n", deadline));
    const auto output = shell_->Read(deadline);
    ASSERT_TRUE(output) << FormatError(output.error());
    sshd_session_ = std::stoi(output->out);
    ASSERT_EQ(kill(sshd_session_, SIGSTOP), 0);
  }
  void TearDown() override {
    shell_.reset();
    transport_.reset();
    if (sshd_session_ > 0) kill(sshd_session_, SIGKILL);
    SshTest::TearDown();
  }

  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Channel> shell_;
  pid_t sshd_session_ = 0;
};

TEST_F(FrozenNode, WritingIsGivenUpInTime) {
  Freeze();
  const auto begin = std::chrono::steady_clock::now();
  std::string much;
  much.resize(30000000, '#');
  const auto written = shell_->Write(much, begin + Milliseconds(500));
  ASSERT_FALSE(written);
  EXPECT_EQ(FormatError(written.error()), Place() + ": the time limit passed\n");
  shell_.reset();
  test::ExpectWithin(std::chrono::seconds(20), begin);
}

TEST_F(FrozenNode, OpeningAShellIsGivenUpInTime) {
  Freeze();
  const auto begin = std::chrono::steady_clock::now();
  const auto another = transport_->OpenShell();
  ASSERT_FALSE(another);
  EXPECT_EQ(FormatError(another.error()), Place() +
                                              ": the time limit passed\n"
                                              "  hint: the limit was 1 s (connect_timeout_s)\n");
  test::ExpectWithin(std::chrono::seconds(15), begin);
}

TEST_F(SshLimits, PassedLimitNamesTheNodeAndTheLimit) {
  StartSshd();
  const auto begin = std::chrono::steady_clock::now();
  const auto reply = RunOnNode("sleep 300\n", Milliseconds(500));
  ASSERT_FALSE(reply);
  EXPECT_EQ(FormatError(reply.error()),
            Place() + ": the time limit passed\n  hint: the limit was 0.5 s\n");
  test::ExpectWithin(std::chrono::seconds(15), begin);
}

// Runs a script that outlives its limit; the processes that it started, one on each line.
std::string StartProcesses(Channel& shell) {
  const Deadline soon = std::chrono::steady_clock::now() + Milliseconds(1000);
  EXPECT_TRUE(
      shell.Write("sleep 300 & echo $!; timeout 300 sleep 300 & echo $!; echo $$; wait\n", soon));
  std::string out;
  for (auto output = shell.Read(soon); output; output = shell.Read(soon)) out += output->out;
  return out;
}

// A shell that has started them, and is closed as where a limit passed. Returns the processes.
std::string StartProcessesAndClose(Transport& transport) {
  auto shell = transport.OpenShell();
  EXPECT_TRUE(shell) << FormatError(shell.error());
  if (!shell) return {};
  std::string out = StartProcesses(**shell);
  const std::vector<std::string> processes = SplitLines(out);
  EXPECT_EQ(processes.size(), 3u) << out;
  if (processes.size() == 3) {
    EXPECT_FALSE(ReadText("/proc/" + processes[1] + "/stat").empty());
  }
  shell->reset();
  return out;
}

// The session that runs the script is the only one that sshd allows, and it stays taken.
TEST_F(SshLimits, PassedLimitEndsEverythingAlsoWhereOneSessionIsAllowed) {
  StartSshd("MaxSessions 1");
  const auto transport = DialNode(node_);
  ASSERT_TRUE(transport) << FormatError(transport.error());
  EXPECT_TRUE(AllGoneSoon(StartProcessesAndClose(**transport)));
}

TEST_F(SshLimits, PassedLimitEndsEverythingTheScriptStarted) {
  StartSshd();
  const auto transport = DialNode(node_);
  ASSERT_TRUE(transport) << FormatError(transport.error());
  EXPECT_TRUE(AllGoneSoon(StartProcessesAndClose(**transport)));
  const auto after = RunScript(**transport, "echo still here\n", Milliseconds(10000));
  ASSERT_TRUE(after) << FormatError(after.error());
  EXPECT_EQ(after->out, "still here\n");
}

}  // namespace
}  // namespace reconciler
