#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <thread>

#include "reconciler/transport/name_error.h"
#include "reconciler/transport/ssh/dial.h"
#include "tests/ssh/sshd_fixture.h"
#include "tests/support/limits.h"

namespace reconciler {
namespace {

using std::chrono::steady_clock;

// Accepts connections in the kernel and never sends anything.
class SilentListener {
 public:
  SilentListener() : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(fd_.Get(), generic, size), 0);
    EXPECT_EQ(listen(fd_.Get(), 16), 0);
    EXPECT_EQ(getsockname(fd_.Get(), generic, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  int Port() const { return port_; }
  int Fd() const { return fd_.Get(); }

 private:
  UniqueFd fd_;
  int port_ = 0;
};

class SshNetwork : public SshTest {
 protected:
  void PointAt(int port) {
    node_ = NodeSpec{.name = "spark-2", .address = "127.0.0.1"};
    node_.access.port = port;
    node_.access.connect_timeout_s = 1;
  }
};

TEST_F(SshNetwork, ClosedPortIsRefused) {
  const int port = FreePort();
  PointAt(port);
  EXPECT_EQ(DialError(), fmt::format("spark-2 (127.0.0.1:{0}): connection refused\n"
                                     "  hint: is sshd running there, and is {0} its port?\n",
                                     port));
}

TEST_F(SshNetwork, PortOfAnIpv6AddressStandsApart) {
  const int port = FreePort();
  PointAt(port);
  node_.address = "::1";
  EXPECT_THAT(DialError(), testing::StartsWith(fmt::format("spark-2 ([::1]:{}): ", port)));
}

TEST_F(SshNetwork, ListenerThatNeverAnswersIsGivenUpInTime) {
  const SilentListener silent;
  PointAt(silent.Port());
  const auto begin = steady_clock::now();
  EXPECT_EQ(DialError(),
            fmt::format("spark-2 (127.0.0.1:{}): no answer from an ssh server within 1 s\n"
                        "  hint: something accepts connections there; is it sshd, and is the "
                        "machine not overloaded?\n",
                        silent.Port()));
  test::ExpectWithin(std::chrono::seconds(5), begin);
}

TEST_F(SshNetwork, ListenerWithAFullQueueIsNoAnswer) {
  // A full backlog drops what knocks, as a machine that is switched off does.
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(bind(fd.Get(), generic, size), 0);
  ASSERT_EQ(listen(fd.Get(), 0), 0);
  ASSERT_EQ(getsockname(fd.Get(), generic, &size), 0);
  std::vector<UniqueFd> knockers;
  for (int i = 0; i < 4; ++i) {
    knockers.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    (void)connect(knockers.back().Get(), generic, size);
  }
  std::this_thread::sleep_for(Milliseconds(100));
  PointAt(ntohs(address.sin_port));
  EXPECT_EQ(DialError(), fmt::format("spark-2 (127.0.0.1:{}): no answer within 1 s\n"
                                     "  hint: is the machine on, and is its address right?\n",
                                     node_.access.port));
}

TEST_F(SshNetwork, AddressOfNoNetworkSaysSo) {
  PointAt(22);
  node_.address = "255.255.255.255";
  EXPECT_EQ(DialError(),
            "spark-2 (255.255.255.255): network is unreachable\n"
            "  hint: is this machine on the network that the address is in?\n");
}

// With or without a name service, which may say no or nothing.
TEST_F(SshNetwork, NameThatNoOneKnowsIsNotResolved) {
  PointAt(22);
  node_.address = "no-such-host.invalid";
  node_.access.connect_timeout_s = 5;
  EXPECT_THAT(DialError(), testing::StartsWith("spark-2 (no-such-host.invalid): cannot resolve "
                                               "'no-such-host.invalid': n"));
}

TEST(ExplainNameError, ANameServiceThatDoesNotAnswerIsNoNameThatDoesNotExist) {
  const NameError unknown = ExplainNameError(EAI_NONAME, 5);
  EXPECT_EQ(unknown.what, "name or service not known");
  EXPECT_EQ(unknown.hint, "give the machine's IP address, or a Host entry of ~/.ssh/config");
  const NameError silent = ExplainNameError(std::nullopt, 5);
  EXPECT_EQ(silent.what, "no answer from the name service within 5 s");
  EXPECT_EQ(silent.hint,
            "does this machine reach its name server? An IP address as `address` needs none");
  EXPECT_EQ(ExplainNameError(EAI_AGAIN, 5).what, "no answer from the name service");
}

TEST_F(SshNetwork, PeerThatSpeaksNoSshIsNamed) {
  const SilentListener listener;
  std::thread peer([&] {
    const UniqueFd fd(accept(listener.Fd(), nullptr, nullptr));
    char greeting[256];
    EXPECT_GT(recv(fd.Get(), greeting, sizeof greeting, 0), 0);
    EXPECT_EQ(send(fd.Get(), "HTTP/1.0 400\r\n\r\n", 16, MSG_NOSIGNAL), 16);
  });
  PointAt(listener.Port());
  node_.access.connect_timeout_s = 10;
  const std::string error = DialError();
  peer.join();
  EXPECT_EQ(error,
            fmt::format("spark-2 (127.0.0.1:{}): the key exchange failed: Socket error: "
                        "disconnected\n"
                        "  hint: the reason is in the log of sshd there (journalctl -u ssh)\n",
                        listener.Port()));
}

TEST_F(SshNetwork, ProxyCommandThatFailsIsQuoted) {
  PointAt(22);
  WriteConfig("Host *\n  ProxyCommand sh -c 'echo the gate is closed >&2; exit 1'\n");
  EXPECT_EQ(DialError(),
            "spark-2 (127.0.0.1): the proxy command failed: the gate is closed\n"
            "  hint: it was: sh -c 'echo the gate is closed >&2; exit 1'\n");
}

TEST_F(SshNetwork, ProxyCommandThatSaysNothingIsGivenUpInTimeAndEnded) {
  PointAt(22);
  WriteConfig(
      fmt::format("Host *\n  ProxyCommand sh -c 'echo $$ >{}/pid; exec sleep 300'\n", folder_));
  EXPECT_EQ(DialError(),
            fmt::format("spark-2 (127.0.0.1): nothing came through the proxy command within 1 s\n"
                        "  hint: it was: sh -c 'echo $$ >{}/pid; exec sleep 300'\n",
                        folder_));
  EXPECT_EQ(Shell(fmt::format("kill -0 $(cat {}/pid) 2>&1 || echo gone", folder_)).find("gone") ==
                std::string::npos,
            false);
}

TEST_F(SshNetwork, ProxyCommandThatIsNotInTimeIsQuotedWithWhatItWroteToItsStderr) {
  PointAt(22);
  WriteConfig("Host *\n  ProxyCommand sh -c 'echo knocking >&2; exec sleep 300'\n");
  EXPECT_EQ(DialError(),
            "spark-2 (127.0.0.1): nothing came through the proxy command within 1 s: knocking\n"
            "  hint: it was: sh -c 'echo knocking >&2; exec sleep 300'\n");
}

TEST_F(SshNetwork, LastWordsOfAProxyCommandAreInTheError) {
  StartSshd();
  WriteText(folder_ + "/relay.sh",
            fmt::format("ssh -F /dev/null -o StrictHostKeyChecking=no -o LogLevel=QUIET "
                        "-o UserKnownHostsFile=/dev/null -i {} -p {} -W 127.0.0.1:{} {}@127.0.0.1\n"
                        "echo the relay ended >&2\n",
                        key_, sshd_->Port(), sshd_->Port(), user_));
  WriteConfig(fmt::format("Host *\n  ProxyCommand sh {}/relay.sh\n", folder_));
  const auto reply = RunOnNode("kill -KILL $PPID\n");
  ASSERT_FALSE(reply);
  EXPECT_EQ(FormatError(reply.error()), Place() + ": the connection was lost: the relay ended\n");
}

TEST_F(SshNetwork, TooManyOpenFilesAreAnError) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors for its own checks";
#endif
  PointAt(FreePort());
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const std::string error = DialError();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(error, fmt::format("spark-2 (127.0.0.1:{}): too many open files\n", node_.access.port));
}

TEST_F(SshNetwork, UserWithShellSignsReachesNoProxyCommand) {
  PointAt(22);
  node_.access.user = "a *";
  WriteConfig("Host *\n  ProxyCommand echo %r\n");
  EXPECT_EQ(DialError(),
            "spark-2 (127.0.0.1): a character of the address or user cannot go into a proxy "
            "command\n"
            "  hint: letters, digits and . _ : % @ + - are possible\n");
}

TEST_F(SshNetwork, ConnectionCutInTheMiddleIsAnErrorAtOnce) {
  StartSshd();
  const auto begin = steady_clock::now();
  const auto reply = RunOnNode("echo before; kill -KILL $PPID; sleep 2; echo after\n");
  ASSERT_FALSE(reply);
  EXPECT_EQ(FormatError(reply.error()), Place() + ": the connection was lost\n");
  test::ExpectWithin(std::chrono::seconds(20), begin);
}

TEST_F(SshNetwork, ShellOverACutConnectionIsAnErrorAtOnce) {
  StartSshd();
  const auto transport = DialNode(node_);
  ASSERT_TRUE(transport) << FormatError(transport.error());
  EXPECT_FALSE(RunScript(**transport, "kill -KILL $PPID\n", Milliseconds(10000)));
  const auto again = (*transport)->OpenShell();
  ASSERT_FALSE(again);
  EXPECT_EQ(FormatError(again.error()), Place() + ": the connection was lost\n");
}

}  // namespace
}  // namespace reconciler
