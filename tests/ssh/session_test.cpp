#include <fmt/format.h>
#include <gmock/gmock.h>

#include <thread>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/dial.h"
#include "tests/ssh/sshd_fixture.h"

namespace reconciler {
namespace {

using testing::MatchesRegex;

using SshSessionTest = SshTest;

TEST_F(SshSessionTest, StreamsAndExitCodeComeBackApart) {
  StartSshd();
  const auto reply = RunOnNode("echo out; echo err >&2; exit 3\n");
  ASSERT_TRUE(reply) << FormatError(reply.error());
  EXPECT_EQ(reply->out, "out\n");
  EXPECT_EQ(reply->err, "err\n");
  EXPECT_EQ(reply->exit_code, 3);
}

TEST_F(SshSessionTest, EveryExitCodeComesBack) {
  StartSshd();
  const auto transport = DialNode(node_);
  ASSERT_TRUE(transport) << FormatError(transport.error());
  for (const int code : {0, 1, 2, 127, 255}) {
    const auto reply = RunScript(**transport, fmt::format("exit {}\n", code), Milliseconds(10000));
    ASSERT_TRUE(reply) << FormatError(reply.error());
    EXPECT_EQ(reply->exit_code, code);
  }
}

TEST_F(SshSessionTest, EndBySignalIs128AndItsNumber) {
  StartSshd();
  EXPECT_EQ(RunOnNode("kill -KILL $$\n")->exit_code, 137);
  EXPECT_EQ(RunOnNode("kill -TERM $$\n")->exit_code, 143);
}

TEST_F(SshSessionTest, FirstArgumentIsTheConnectionAndTheLocaleIsC) {
  StartSshd();
  EXPECT_THAT(RunOnNode("echo \"$1 $LC_ALL\"\n")->out,
              MatchesRegex(fmt::format("127.0.0.1 [0-9]+ 127.0.0.1 {} C\n", sshd_->Port())));
}

TEST_F(SshSessionTest, BinaryOutputIsUntouched) {
  StartSshd();
  EXPECT_EQ(RunOnNode("printf 'a\\0b\\377\\r\\n'\n")->out, std::string("a\0b\377\r\n", 6));
}

TEST_F(SshSessionTest, TenMegabytesArriveWhole) {
  StartSshd();
  const auto reply = RunOnNode("head -c 10000000 /dev/zero | tr '\\0' x\n");
  ASSERT_TRUE(reply) << FormatError(reply.error());
  EXPECT_EQ(reply->out.size(), 10000000u);
  EXPECT_EQ(reply->out.find_first_not_of('x'), std::string::npos);
}

TEST_F(SshSessionTest, ScriptAndOutputLongerThanTheWindowsDoNotBlockEachOther) {
  StartSshd();
  const auto reply = RunOnNode("head -c 6000000 /dev/zero | tr '\\0' x\n" +
                               std::string(6000000, '#') + "\nhead -c 5 /dev/zero >&2\nexit 7\n");
  ASSERT_TRUE(reply) << FormatError(reply.error());
  EXPECT_EQ(reply->out.size(), 6000000u);
  EXPECT_EQ(reply->err.size(), 5u);
  EXPECT_EQ(reply->exit_code, 7);
}

TEST_F(SshSessionTest, ScriptThatEndsBeforeItWasReadIsAReply) {
  StartSshd();
  const auto reply = RunOnNode("echo early; exit 4\n" + std::string(8000000, '#') + "\n");
  ASSERT_TRUE(reply) << FormatError(reply.error());
  EXPECT_EQ(reply->out, "early\n");
  EXPECT_EQ(reply->exit_code, 4);
}

TEST_F(SshSessionTest, EndingOneShellLeavesTheOthersAlone) {
  StartSshd();
  const auto transport = DialNode(node_);
  ASSERT_TRUE(transport) << FormatError(transport.error());
  auto kept = (*transport)->OpenShell();
  auto ended = (*transport)->OpenShell();
  ASSERT_TRUE(kept && ended);
  ended->reset();
  const Deadline deadline = std::chrono::steady_clock::now() + Milliseconds(10000);
  ASSERT_TRUE((*kept)->Write("echo alive\n", deadline));
  const auto output = (*kept)->Read(deadline);
  ASSERT_TRUE(output) << FormatError(output.error());
  EXPECT_EQ(output->out, "alive\n");
}

TEST_F(SshSessionTest, ShellMayOutliveItsTransport) {
  StartSshd();
  auto transport = DialNode(node_);
  ASSERT_TRUE(transport) << FormatError(transport.error());
  auto shell = (*transport)->OpenShell();
  ASSERT_TRUE(shell) << FormatError(shell.error());
  transport->reset();
  const auto reply = RunScriptOn(**shell, "echo on\n", Milliseconds(10000));
  ASSERT_TRUE(reply) << FormatError(reply.error());
  EXPECT_EQ(reply->out, "on\n");
}

TEST_F(SshSessionTest, ReadAfterTheEndIsAnError) {
  StartSshd();
  const auto transport = DialNode(node_);
  ASSERT_TRUE(transport) << FormatError(transport.error());
  auto shell = (*transport)->OpenShell();
  ASSERT_TRUE(RunScriptOn(**shell, "exit 0\n", Milliseconds(10000)));
  const Deadline deadline = std::chrono::steady_clock::now() + Milliseconds(10000);
  EXPECT_EQ(FormatError((*shell)->Read(deadline).error()), Place() + ": the shell ended already\n");
}

TEST_F(SshSessionTest, EightSessionsInParallelDoNotMix) {
  StartSshd();
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([this, i, &results] {
      const auto reply = RunOnNode(
          fmt::format("for n in 1 2 3; do head -c 100000 /dev/zero | tr '\\0' {}; done\n", i));
      results[i] = reply ? reply->out : FormatError(reply.error());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i], std::string(300000, static_cast<char>('0' + i)));
  }
}

TEST_F(SshSessionTest, TooFewSessionsAreNamed) {
  StartSshd("MaxSessions 1");
  const auto transport = DialNode(node_);
  ASSERT_TRUE(transport) << FormatError(transport.error());
  const auto first = (*transport)->OpenShell();
  ASSERT_TRUE(first) << FormatError(first.error());
  const auto second = (*transport)->OpenShell();
  ASSERT_FALSE(second);
  EXPECT_EQ(FormatError(second.error()),
            Place() +
                ": the node opens no session: Channel opening failure: channel 44 error (2) open "
                "failed\n  hint: MaxSessions in its sshd_config may be too small\n");
}

TEST_F(SshSessionTest, BecomeRunsTheShellThroughSudo) {
  // A stand-in in front of the PATH: it shows its words and does as sudo -n does.
  const std::string bin = folder_ + "/bin";
  Shell("mkdir " + bin);
  WriteText(bin + "/sudo", "#!/bin/sh\necho \"sudo $1 $2 $3\" >&2\nshift\nexec \"$@\"\n");
  Shell("chmod 755 " + bin + "/sudo");
  StartSshd("", bin + ":/usr/bin:/bin");
  node_.access.become = Become::kSudo;
  const auto reply = RunOnNode("echo \"$1\" | cut -d' ' -f1\n");
  ASSERT_TRUE(reply) << FormatError(reply.error());
  EXPECT_EQ(reply->err, "sudo -n sh -s\n");
  EXPECT_EQ(reply->out, "127.0.0.1\n");
}

TEST_F(SshSessionTest, NodeWithoutSudoIsARefusal) {
  const std::string bin = folder_ + "/bin";
  Shell(fmt::format("mkdir {0}; ln -s /bin/sh /usr/bin/env {0}", bin));
  StartSshd("", bin);
  node_.access.become = Become::kSudo;
  const auto reply = RunOnNode("echo in\n");
  ASSERT_TRUE(reply) << FormatError(reply.error());
  const auto refusal = FindSudoRefusal(node_, *reply);
  ASSERT_TRUE(refusal) << reply->exit_code << reply->err;
  EXPECT_EQ(refusal->message, fmt::format("spark-2: no sudo is installed for user '{}'", user_));
}

TEST_F(SshSessionTest, LocalNodeNeedsNoConnection) {
  node_ = NodeSpec{.name = "here", .address = "192.0.2.1"};
  node_.access.transport = TransportKind::kLocal;
  node_.access.become = Become::kNone;
  const auto reply = RunOnNode("echo in\n");
  ASSERT_TRUE(reply) << FormatError(reply.error());
  EXPECT_EQ(reply->out, "in\n");
}

}  // namespace
}  // namespace reconciler
