#include "tests/ssh/sshd_fixture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "reconciler/base/text.h"
#include "reconciler/transport/local_transport.h"
#include "reconciler/transport/ssh/dial.h"

namespace reconciler {
namespace {

constexpr const char* kSshd = "/usr/sbin/sshd";

bool Listens(int port) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect(fd.Get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

std::string Shell(const std::string& script) {
  NodeSpec here{.name = "test"};
  here.access.become = Become::kNone;
  const auto transport = DialLocal(here);
  const auto reply = RunScript(**transport, "set -e\n" + script + "\n", Milliseconds(60000));
  if (!reply) throw std::runtime_error(reply.error().message);
  if (reply->exit_code != 0) throw std::runtime_error(script + ": " + reply->err);
  return reply->out;
}

void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

int FreePort() {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd.Get(), generic, size) != 0 || getsockname(fd.Get(), generic, &size) != 0) {
    throw std::runtime_error("no free port");
  }
  return ntohs(address.sin_port);
}

Sshd::Sshd(const std::string& folder, const std::string& extra, const std::string& path)
    : folder_(folder), extra_(extra), path_(path) {
  std::filesystem::create_directories(folder_ + "/home");
  MakeHostKey();
  Start();
}

void Sshd::MakeHostKey() {
  const std::string key = QuoteForShell(folder_ + "/host_key");
  Shell(fmt::format("rm -f {0} {0}.pub; ssh-keygen -q -t ed25519 -N '' -f {0}", key));
}

void Sshd::RestartWithNewHostKey() {
  process_.reset();
  MakeHostKey();
  Start();
}

void Sshd::Start() {
  log_ = UniqueFd(
      open((folder_ + "/sshd.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  // Another program may take the port between FreePort and sshd: then the next one.
  for (int attempt = 0; attempt < 5; ++attempt) {
    if (port_ == 0 || attempt > 0) port_ = FreePort();
    const std::string path = path_.empty() ? "" : " PATH=" + path_;
    WriteText(folder_ + "/sshd_config",
              fmt::format("{0}\nListenAddress 127.0.0.1:{1}\nHostKey {2}/host_key\n"
                          "AuthorizedKeysFile {2}/authorized_keys\nSetEnv HOME={2}/home{3}\n"
                          "PidFile none\nStrictModes no\nPermitRootLogin yes\nUsePAM no\n"
                          "PasswordAuthentication no\nKbdInteractiveAuthentication no\nUseDNS no\n"
                          "MaxStartups 100\n",
                          extra_, port_, folder_, path));
    // Ends also when the test itself is killed and runs no destructor.
    auto child = Child::Spawn(
        {"setpriv", "--pdeathsig", "KILL", kSshd, "-D", "-e", "-f", folder_ + "/sshd_config"},
        {nothing.Get(), nothing.Get(), log_.Get()});
    if (!child) throw std::runtime_error(child.error().message);
    process_ = std::make_unique<Child>(std::move(*child));
    for (int i = 0; i < 500; ++i) {
      if (process_->Wait(std::chrono::steady_clock::now())) break;
      if (Listens(port_)) return;
      std::this_thread::sleep_for(Milliseconds(10));
    }
  }
  throw std::runtime_error("sshd does not start: " + Log());
}

std::string Sshd::KnownHostsLine() const {
  const std::vector<std::string> words = Split(ReadText(folder_ + "/host_key.pub"), ' ');
  return fmt::format("[127.0.0.1]:{} {} {}\n", port_, words[0], words[1]);
}

std::string Sshd::Fingerprint() const {
  return Split(Shell("ssh-keygen -lf " + QuoteForShell(folder_ + "/host_key.pub")), ' ')[1];
}

void SshTest::SetUp() {
  if (access(kSshd, X_OK) != 0) GTEST_SKIP() << kSshd << " is not installed";
  if (geteuid() == 0) {  // sshd gives up its rights in there
    mkdir("/run/sshd", 0755);
  }
  char folder[] = "/tmp/spark-ssh-test-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  folder_ = folder;
  home_ = folder_ + "/home";
  known_hosts_ = home_ + "/.ssh/known_hosts";
  std::filesystem::create_directories(home_ + "/.ssh");
  home_before_ = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "/";
  setenv("HOME", home_.c_str(), 1);
  unsetenv("SSH_AUTH_SOCK");
  user_ = getpwuid(geteuid())->pw_name;
  key_ = folder_ + "/key";
  Shell(fmt::format("ssh-keygen -q -t ed25519 -N '' -f {}", QuoteForShell(key_)));
}

void SshTest::TearDown() {
  agent_.reset();
  sshd_.reset();
  if (folder_.empty()) return;
  setenv("HOME", home_before_.c_str(), 1);
  unsetenv("SSH_AUTH_SOCK");
  std::filesystem::remove_all(folder_);
}

void SshTest::StartSshd(const std::string& extra, const std::string& path) {
  sshd_ = std::make_unique<Sshd>(folder_ + "/sshd", extra, path);
  std::filesystem::copy_file(key_ + ".pub", folder_ + "/sshd/authorized_keys");
  Trust(*sshd_);
  node_ = NodeSpec{.name = "spark-2", .address = "127.0.0.1"};
  node_.access.user = user_;
  node_.access.port = sshd_->Port();
  node_.access.identity = key_;
  node_.access.become = Become::kNone;
}

void SshTest::Trust(const Sshd& sshd) {
  std::ofstream(known_hosts_, std::ios::app) << sshd.KnownHostsLine();
}

void SshTest::StartAgent() {
  const std::string path = folder_ + "/agent";
  const UniqueFd nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  auto child = Child::Spawn({"setpriv", "--pdeathsig", "KILL", "ssh-agent", "-D", "-a", path},
                            {nothing.Get(), nothing.Get(), nothing.Get()});
  ASSERT_TRUE(child) << child.error().message;
  agent_ = std::make_unique<Child>(std::move(*child));
  setenv("SSH_AUTH_SOCK", path.c_str(), 1);
  // The socket is there before anything listens on it. Without keys ssh-add ends with 1, without an
  // answer with 2.
  const std::string answers = "ssh-add -l >/dev/null 2>&1; [ $? -lt 2 ]";
  for (int i = 0; i < 500 && std::system(answers.c_str()) != 0; ++i) {
    std::this_thread::sleep_for(Milliseconds(10));
  }
}

Result<ScriptReply> SshTest::RunOnNode(const std::string& script, Milliseconds limit,
                                       std::size_t max_output) const {
  const auto transport = DialNode(node_);
  if (!transport) return Fail(transport.error());
  return RunScript(**transport, script, limit, max_output);
}

std::string SshTest::DialError() const {
  const auto transport = DialNode(node_);
  if (transport) return "connected";
  EXPECT_EQ(transport.error().kind, ErrorKind::kTransport);
  return FormatError(transport.error());
}

void SshTest::ExpectLogin() const {
  const auto reply = RunOnNode("echo in\n");
  ASSERT_TRUE(reply) << FormatError(reply.error()) << sshd_->Log();
  EXPECT_EQ(reply->out, "in\n");
}

std::string SshTest::Place() const {
  return fmt::format("{} (127.0.0.1:{})", node_.name, sshd_->Port());
}

}  // namespace reconciler
