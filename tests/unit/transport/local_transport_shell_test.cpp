#include "reconciler/transport/local_transport.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "tests/support/limits.h"

namespace reconciler {
namespace {

const Milliseconds kLong = test::ScaleLimit(Milliseconds(30000));

NodeSpec Here() {
  NodeSpec node{.name = "spark-1"};
  node.access.transport = TransportKind::kLocal;
  node.access.become = Become::kNone;
  return node;
}

Result<ScriptReply> RunHere(const std::string& script, Milliseconds limit = kLong,
                            std::size_t max_output = 16u << 20) {
  const auto transport = DialLocal(Here());
  return RunScript(**transport, script, limit, max_output);
}

// A zombie, which waits for init to take note of it, counts as gone.
bool GoneSoon(pid_t pid) {
  const Deadline deadline = std::chrono::steady_clock::now() + test::ScaleLimit(Milliseconds(5000));
  while (std::chrono::steady_clock::now() < deadline) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string stat;
    if (!std::getline(file, stat) || stat.find(") Z ") != std::string::npos) return true;
    std::this_thread::sleep_for(Milliseconds(10));
  }
  return false;
}

int OpenDescriptors() {
  DIR* folder = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST(LocalTransport, StreamsAndExitCodeComeBackApart) {
  const auto reply = RunHere("echo out; echo err >&2; exit 3\n");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->out, "out\n");
  EXPECT_EQ(reply->err, "err\n");
  EXPECT_EQ(reply->exit_code, 3);
}

TEST(LocalTransport, EndBySignalIs128AndItsNumber) {
  EXPECT_EQ(RunHere("kill -KILL $$\n")->exit_code, 137);
  EXPECT_EQ(RunHere("kill -TERM $$\n")->exit_code, 143);
}

TEST(LocalTransport, FirstArgumentIsEmptyAndTheLocaleIsC) {
  EXPECT_EQ(RunHere("echo \"[$1] $LC_ALL\"\n")->out, "[] C\n");
}

TEST(LocalTransport, BinaryOutputIsUntouched) {
  EXPECT_EQ(RunHere("printf 'a\\0b\\377\\r\\n'\n")->out, std::string("a\0b\377\r\n", 6));
}

TEST(LocalTransport, TenMegabytesArriveWhole) {
  const auto reply = RunHere("head -c 10000000 /dev/zero | tr '\\0' x\n");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->out.size(), 10000000u);
  EXPECT_EQ(reply->out.find_first_not_of('x'), std::string::npos);
}

TEST(LocalTransport, ScriptAndOutputLongerThanThePipesDoNotBlockEachOther) {
  const std::string padding(3000000, '#');
  const auto reply = RunHere("head -c 3000000 /dev/zero | tr '\\0' x\n" + padding +
                             "\nhead -c 5 /dev/zero >&2\nexit 7\n");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->out.size(), 3000000u);
  EXPECT_EQ(reply->err.size(), 5u);
  EXPECT_EQ(reply->exit_code, 7);
}

TEST(LocalTransport, ScriptThatEndsBeforeItWasReadIsAReply) {
  const auto reply = RunHere("echo early; exit 4\n" + std::string(1000000, '#') + "\n");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->out, "early\n");
  EXPECT_EQ(reply->exit_code, 4);
}

TEST(LocalTransport, PassedLimitEndsEverythingTheScriptStarted) {
  const auto transport = DialLocal(Here());
  auto shell = (*transport)->OpenShell();
  ASSERT_TRUE(shell) << shell.error().message;
  const Deadline soon = std::chrono::steady_clock::now() + Milliseconds(500);
  // One child in the shell's process group, and one that `timeout` puts into a group of its own.
  ASSERT_TRUE((*shell)->Write(
      "sleep 300 & echo $!; timeout 300 sleep 300 & echo $!; echo $$; wait\n", soon));
  std::string out;
  for (;;) {
    const auto output = (*shell)->Read(soon);
    if (!output) {
      EXPECT_EQ(FormatError(output.error()), "spark-1 (this machine): the time limit passed\n");
      break;
    }
    out += output->out;
  }
  int first = 0, second = 0, self = 0;
  ASSERT_EQ(std::sscanf(out.c_str(), "%d %d %d", &first, &second, &self), 3) << out;
  ASSERT_EQ(kill(first, 0), 0);
  ASSERT_EQ(kill(second, 0), 0);
  shell->reset();
  EXPECT_TRUE(GoneSoon(first));
  EXPECT_TRUE(GoneSoon(second));
  EXPECT_TRUE(GoneSoon(self));
}

TEST(LocalTransport, PassedLimitNamesTheNodeAndTheLimit) {
  const auto reply = RunHere("sleep 300\n", Milliseconds(300));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().kind, ErrorKind::kTransport);
  EXPECT_EQ(FormatError(reply.error()),
            "spark-1 (this machine): the time limit passed\n  hint: the limit was 0.3 s\n");
}

TEST(LocalTransport, ClosedStreamsOfARunningProcessDoNotOutliveTheLimit) {
  const auto reply = RunHere("exec >&- 2>&-; sleep 300\n", Milliseconds(300));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "spark-1 (this machine): the time limit passed");
}

TEST(LocalTransport, FloodBeyondTheMaximumIsAnError) {
  const auto reply = RunHere("yes\n", kLong, 1u << 20);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "more than 1 MiB of output arrived; the rest was not read");
}

TEST(LocalTransport, FloodBeforeTheScriptIsReadIsAnError) {
  const auto reply = RunHere("yes\n" + std::string(1000000, '#') + "\n");
  ASSERT_FALSE(reply);
  EXPECT_EQ(FormatError(reply.error()),
            "spark-1 (this machine): more than 64 MiB of output before the script was read\n");
}

TEST(LocalTransport, TooManyOpenFilesAreAnError) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors for its own checks";
#endif
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto reply = RunHere("echo in\n");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(reply);
  EXPECT_EQ(FormatError(reply.error()),
            "spark-1 (this machine): cannot make a pipe: Too many open files\n");
}

TEST(LocalTransport, MissingProgramIsAnError) {
  const std::string before = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const auto reply = RunHere("echo in\n");
  setenv("PATH", before.c_str(), 1);
  ASSERT_FALSE(reply);
  EXPECT_EQ(FormatError(reply.error()),
            "spark-1 (this machine): cannot run 'env': No such file or directory\n");
}

TEST(LocalTransport, ReadAfterTheEndIsAnError) {
  const auto transport = DialLocal(Here());
  auto shell = (*transport)->OpenShell();
  ASSERT_TRUE(shell);
  ASSERT_TRUE((*shell)->CloseInput());
  const Deadline deadline = std::chrono::steady_clock::now() + kLong;
  const auto last = (*shell)->Read(deadline);
  ASSERT_TRUE(last) << last.error().message;
  EXPECT_EQ(last->exit_code, 0);
  EXPECT_EQ(FormatError((*shell)->Read(deadline).error()),
            "spark-1 (this machine): the shell ended already\n");
}

TEST(LocalTransport, LongLivedShellAnswersStepByStep) {
  const auto transport = DialLocal(Here());
  auto shell = (*transport)->OpenShell();
  ASSERT_TRUE(shell);
  const Deadline deadline = std::chrono::steady_clock::now() + kLong;
  for (const std::string word : {"one", "two", "three"}) {
    ASSERT_TRUE((*shell)->Write("echo " + word + "\n", deadline));
    const auto output = (*shell)->Read(deadline);
    ASSERT_TRUE(output) << output.error().message;
    EXPECT_EQ(output->out, word + "\n");
    EXPECT_FALSE(output->exit_code);
  }
}

TEST(LocalTransport, ShellSeesNoDescriptorButItsOwnThree) {
  std::vector<std::thread> threads;
  threads.reserve(8);
  std::vector<std::string> seen(8);
  const int before = OpenDescriptors();
  for (std::string& out : seen) {
    threads.emplace_back([&out] {
      for (int i = 0; i < 10; ++i) {
        const auto reply = RunHere("ls /proc/$$/fd\n");
        const std::string now = reply ? reply->out : reply.error().message;
        if (i == 0 || now != "0\n1\n2\n") out = now;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& out : seen) EXPECT_EQ(out, "0\n1\n2\n");
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace reconciler
