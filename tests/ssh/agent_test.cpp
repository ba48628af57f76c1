// Keys that only an ssh-agent can use, and agents that do not sign.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <thread>

#include "reconciler/base/base64.h"
#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/dial.h"
#include "reconciler/transport/ssh/password.h"
#include "tests/ssh/sshd_fixture.h"
#include "tests/support/limits.h"

namespace reconciler {
namespace {

std::string Pack(std::string_view text) {
  std::string packed(4, '\0');
  packed[2] = static_cast<char>(text.size() >> 8);
  packed[3] = static_cast<char>(text.size());
  return packed.append(text);
}

// An agent that lists one key and signs with none: it says nothing, or that it does not.
class FakeAgent {
 public:
  FakeAgent(const std::string& path, std::string blob, bool says_no)
      : blob_(std::move(blob)),
        says_no_(says_no),
        listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(listener_.Get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener_.Get(), 5), 0);
    thread_ = std::thread([this] { Serve(); });
  }
  ~FakeAgent() {
    shutdown(listener_.Get(), SHUT_RDWR);
    thread_.join();
  }
  FakeAgent(const FakeAgent&) = delete;
  FakeAgent& operator=(const FakeAgent&) = delete;

 private:
  void Serve() {
    for (;;) {
      const UniqueFd client(accept(listener_.Get(), nullptr, nullptr));
      if (!client.Open()) return;
      while (Answer(client.Get())) {
      }
    }
  }

  bool Answer(int fd) const {
    std::string request(4, '\0');
    if (recv(fd, request.data(), 4, MSG_WAITALL) != 4) return false;
    const auto size =
        static_cast<unsigned char>(request[2]) * 256u + static_cast<unsigned char>(request[3]);
    request.resize(size);
    if (recv(fd, request.data(), size, MSG_WAITALL) != static_cast<ssize_t>(size)) return false;
    std::string reply;
    if (request[0] == 11) {  // SSH_AGENTC_REQUEST_IDENTITIES
      reply = Pack(std::string("\x0c\0\0\0\1", 5) + Pack(blob_) + Pack("a key"));
    } else if (says_no_) {
      reply = Pack("\x05");  // SSH_AGENT_FAILURE
    }
    return send(fd, reply.data(), reply.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(reply.size());
  }

  std::string blob_;
  bool says_no_;
  UniqueFd listener_;
  std::thread thread_;
};

class SshAgentTest : public SshTest {
 protected:
  // Keys that sshd does not accept.
  void LoadOthers(int count) {
    for (int i = 0; i < count; ++i) {
      Shell(fmt::format("ssh-keygen -q -t ed25519 -N '' -f {0}/other-{1}; ssh-add -q {0}/other-{1}",
                        folder_, i));
    }
  }
  void Load(const std::string& file) { Shell("ssh-add -q " + QuoteForShell(file)); }
  void Encrypt(const std::string& file, const std::string& form = "") {
    Shell(fmt::format("ssh-keygen -q -p {} -P '' -N secret -f {}", form, QuoteForShell(file)));
  }

  std::string MakeDefaultKey(const std::string& name, const std::string& kind) {
    const std::string file = home_ + "/.ssh/" + name;
    Shell(fmt::format("ssh-keygen -q -t {} -N '' -f {}", kind, QuoteForShell(file)));
    node_.access.identity.clear();
    return file;
  }

  // A private key of OpenSSH whose secret is in a device; such files need no device to be read.
  std::string WriteSecurityKey() {
    const std::string public_half =
        Pack("sk-ssh-ed25519@openssh.com") + Pack(std::string(32, '\1')) + Pack("ssh:");
    const std::string check(8, '\1');
    const std::string padding = {1, 2, 3, 4, 5, 6, 7};
    const std::string bytes = std::string("openssh-key-v1\0", 15) + Pack("none") + Pack("none") +
                              Pack("") + std::string("\0\0\0\1", 4) + Pack(public_half) +
                              Pack(check + public_half + padding);
    const std::string file = folder_ + "/security-key";
    WriteText(file, "-----BEGIN OPENSSH PRIVATE KEY-----\n" + EncodeBase64(bytes, 68) +
                        "-----END OPENSSH PRIVATE KEY-----\n");
    return file;
  }

  void StartFakeAgent(bool says_no) {
    const std::string path = folder_ + "/fake-agent";
    const auto blob = DecodeBase64(Split(ReadText(key_ + ".pub"), ' ')[1]);
    ASSERT_TRUE(blob);
    fake_ = std::make_unique<FakeAgent>(path, *blob, says_no);
    setenv("SSH_AUTH_SOCK", path.c_str(), 1);
  }
  void TearDown() override {
    fake_.reset();
    SshTest::TearDown();
  }

  // The fake agent answers no one else until it is closed.
  UniqueFd KeepAgentBusy() const {
    UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    (folder_ + "/fake-agent").copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(connect(fd.Get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  std::string Refused(const std::string& keys) const {
    return fmt::format(
        "{0}: cannot log in as {1}: refused: {2}\n"
        "  hint: put the public key there: ssh-copy-id -p {3} {1}@127.0.0.1\n",
        Place(), user_, keys, sshd_->Port());
  }

  std::unique_ptr<FakeAgent> fake_;
};

// The commonest first login: the key is loaded, and the node does not know it yet.
TEST_F(SshAgentTest, AnEncryptedKeyThatTheAgentHasIsRefusedAndNotToBeLoaded) {
  StartSshd();
  StartAgent();
  const std::string file = MakeDefaultKey("id_ed25519", "ed25519");
  Load(file);
  Encrypt(file);
  EXPECT_EQ(DialError(), Refused(file + " (in the agent)"));
  std::filesystem::remove(file + ".pub");
  LoadOthers(2);
  EXPECT_EQ(DialError(), Refused(file + " (in the agent), 2 other keys of the agent"));
}

TEST_F(SshAgentTest, AnEncryptedKeyWhosePublicHalfIsNotKnownIsNotSaidToBeLacking) {
  StartSshd();
  StartAgent();
  const std::string file = MakeDefaultKey("id_rsa", "rsa -b 2048 -m PEM");
  Load(file);
  Encrypt(file, "-m PEM");
  std::filesystem::remove(file + ".pub");
  EXPECT_EQ(DialError(),
            fmt::format("{0}: cannot log in as {1}: {2} is encrypted, and no .pub file beside it "
                        "says whether the agent has it; refused: 1 key of the agent\n"
                        "  hint: make that file: ssh-keygen -y -f '{2}' >'{2}.pub'\n",
                        Place(), user_, file));
}

// sshd ends a login after six keys.
TEST_F(SshAgentTest, KeysOfFilesAreOfferedBeforeTheOthersOfAFullAgent) {
  StartSshd();
  StartAgent();
  LoadOthers(7);
  Load(key_);
  Encrypt(key_);
  ExpectLogin();
  node_.access.identity = key_ + ".pub";
  ExpectLogin();
  Shell(fmt::format("mv {0} {1}/.ssh/id_ed25519; rm {0}.pub", key_, home_));
  node_.access.identity.clear();
  ExpectLogin();
}

TEST_F(SshAgentTest, AnAgentThatDoesNotSignIsGivenUpInTime) {
  StartSshd();
  StartFakeAgent(/*says_no=*/false);
  node_.access.identity.clear();
  node_.access.connect_timeout_s = 2;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(DialError(), fmt::format("{}: cannot log in as {}: the agent did not sign within 2 s\n"
                                     "  hint: does it wait for a touch or a confirmation? The "
                                     "limit is `connect_timeout_s` in `access`\n",
                                     Place(), user_));
  test::ExpectWithin(std::chrono::seconds(10), begin);
}

TEST_F(SshAgentTest, AnAgentThatRefusesToSignIsSaidTo) {
  StartSshd();
  StartFakeAgent(/*says_no=*/true);
  node_.access.identity.clear();
  EXPECT_EQ(DialError(),
            fmt::format("{}: cannot log in as {}: the agent refused to sign with a key that is "
                        "accepted there\n"
                        "  hint: is it locked, or does it want a confirmation that it cannot "
                        "prompt for?\n",
                        Place(), user_));
  Shell(fmt::format("mv {} {}/.ssh/id_ed25519", key_, home_));
  ExpectLogin();
}

TEST_F(SshAgentTest, AKeyBehindOneThatTheAgentRefusesToUseIsOffered) {
  setenv("SSH_ASKPASS", "/bin/false", 1);  // no confirmation is possible
  StartAgent();
  unsetenv("SSH_ASKPASS");
  StartSshd();
  LoadOthers(1);
  Shell(
      fmt::format("ssh-add -q -D; ssh-add -q -c {0}; ssh-add -q {1}/other-0; "
                  "cat {1}/other-0.pub >>{1}/sshd/authorized_keys",
                  key_, folder_));
  node_.access.identity.clear();
  ExpectLogin();
}

TEST_F(SshAgentTest, ABusyAgentIsSaidNotToAnswer) {
  StartSshd();
  StartFakeAgent(/*says_no=*/true);
  node_.access.identity.clear();
  const UniqueFd busy = KeepAgentBusy();
  for (const int limit_s : {1, 3}) {
    node_.access.connect_timeout_s = limit_s;
    EXPECT_EQ(DialError(),
              fmt::format("{}: cannot log in as {}: the agent did not answer within {} s\n"
                          "  hint: does it wait for a touch or a confirmation? The limit is "
                          "`connect_timeout_s` in `access`\n",
                          Place(), user_, limit_s));
  }
}

TEST_F(SshAgentTest, ABusyAgentIsWaitedFor) {
  StartSshd();
  StartFakeAgent(/*says_no=*/true);
  node_.access.identity.clear();
  UniqueFd busy = KeepAgentBusy();
  std::thread thread([&] {
    std::this_thread::sleep_for(Milliseconds(3000));
    busy.Reset();
  });
  EXPECT_THAT(DialError(), testing::HasSubstr("the agent refused to sign"));
  thread.join();
}

TEST_F(SshAgentTest, ABusyAgentKeepsNoKeyFileFromBeingTried) {
  StartSshd();
  StartFakeAgent(/*says_no=*/true);
  Shell(fmt::format("mv {} {}/.ssh/id_ed25519", key_, home_));
  node_.access.identity.clear();
  const UniqueFd busy = KeepAgentBusy();
  ExpectLogin();
}

TEST_F(SshAgentTest, ASecurityKeyMustBeInAnAgent) {
  StartSshd();
  node_.access.identity = WriteSecurityKey();
  EXPECT_EQ(DialError(),
            fmt::format("{0}: cannot log in as {1}: {2} is a security key and no agent has it\n"
                        "  hint: load it into the agent: ssh-add '{2}'\n",
                        Place(), user_, node_.access.identity));
}

TEST_F(SshAgentTest, APublicKeyStandsForAKeyOfTheAgent) {
  StartSshd();
  node_.access.identity = key_ + ".pub";
  EXPECT_EQ(DialError(),
            fmt::format("{}: cannot log in as {}: {}.pub is a public key and no agent has its "
                        "private half\n"
                        "  hint: load the private half into the agent with ssh-add, or name the "
                        "file of that half instead\n",
                        Place(), user_, key_));
  StartAgent();
  Shell(fmt::format("ssh-add -q {0}; rm {0}", key_));
  ExpectLogin();
}

TEST_F(SshAgentTest, TheOwnKeyMayBeOneThatOnlyAnAgentCanUse) {
  StartSshd();
  const std::string line = ReadText(key_ + ".pub");
  Encrypt(key_);
  std::filesystem::remove(key_ + ".pub");
  const auto encrypted = FindOwnKey(node_);
  ASSERT_TRUE(encrypted) << FormatError(encrypted.error());
  EXPECT_EQ(Split(encrypted->line, ' ')[1], Split(line, ' ')[1]);
  node_.access.identity = WriteSecurityKey();
  const auto device = FindOwnKey(node_);
  ASSERT_TRUE(device) << FormatError(device.error());
  EXPECT_THAT(device->line, testing::StartsWith("sk-ssh-ed25519@openssh.com "));
}

}  // namespace
}  // namespace reconciler
