#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "reconciler/transport/ssh/host_key.h"
#include "tests/ssh/sshd_fixture.h"

namespace reconciler {
namespace {

class SshHostKey : public SshTest {
 protected:
  std::string ChangedError(int line, const std::string& known, const std::string& file) const {
    return fmt::format(
        "{0}:{1}: {2}: the host key changed: ssh-ed25519 {3} is offered, {4} is known\n"
        "  hint: another machine may be in between; if the machine was reinstalled, remove the old "
        "key with: ssh-keygen -f '{0}' -R '[127.0.0.1]:{5}'\n",
        file, line, Place(), sshd_->Fingerprint(), known, sshd_->Port());
  }
};

TEST_F(SshHostKey, UnknownHostIsRefusedWithItsFingerprint) {
  StartSshd();
  std::filesystem::remove(known_hosts_);
  EXPECT_EQ(DialError(),
            fmt::format("{}: the host key is not known: ssh-ed25519 {}\n"
                        "  hint: compare it with what the machine itself prints for 'ssh-keygen "
                        "-lf /etc/ssh/ssh_host_ed25519_key.pub', then add it with "
                        "`spark-reconcile trust`, or set host_keys: accept-new\n",
                        Place(), sshd_->Fingerprint()));
  EXPECT_FALSE(std::filesystem::exists(known_hosts_));
}

TEST_F(SshHostKey, AcceptNewWritesTheKeyAndStrictThenTakesIt) {
  StartSshd();
  std::filesystem::remove_all(home_ + "/.ssh");
  node_.access.host_keys = HostKeys::kAcceptNew;
  ExpectLogin();
  EXPECT_EQ(ReadText(known_hosts_), sshd_->KnownHostsLine());
  struct stat file = {};
  ASSERT_EQ(stat(known_hosts_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  ASSERT_EQ(stat((home_ + "/.ssh").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0700u);
  node_.access.host_keys = HostKeys::kStrict;
  ExpectLogin();
}

TEST_F(SshHostKey, AcceptNewWritesOnceAndKeepsWhatIsThere) {
  StartSshd();
  WriteText(known_hosts_, "# mine, without a newline");
  node_.access.host_keys = HostKeys::kAcceptNew;
  ExpectLogin();
  ExpectLogin();
  EXPECT_EQ(ReadText(known_hosts_), "# mine, without a newline\n" + sshd_->KnownHostsLine());
}

TEST_F(SshHostKey, AcceptNewThatCannotWriteIsAnError) {
  StartSshd();
  std::filesystem::remove_all(home_ + "/.ssh");
  WriteText(home_ + "/.ssh", "a file");
  node_.access.host_keys = HostKeys::kAcceptNew;
  EXPECT_EQ(DialError(), fmt::format("{}: cannot add the host key to {}: Not a directory\n",
                                     Place(), known_hosts_));
}

TEST_F(SshHostKey, KnownHostsThatIsAFolderIsSaidToBeOne) {
  StartSshd();
  std::filesystem::remove(known_hosts_);
  std::filesystem::create_directories(known_hosts_);
  for (const HostKeys policy : {HostKeys::kStrict, HostKeys::kAcceptNew}) {
    node_.access.host_keys = policy;
    EXPECT_EQ(DialError(),
              fmt::format("{}: the host key cannot be checked: {}: wanted a file, found a folder\n"
                          "  hint: known_hosts is a file with one host key on each line: make it "
                          "one that you can read\n",
                          Place(), known_hosts_));
  }
}

TEST_F(SshHostKey, ChangedKeyIsRefusedWithTheLineToLookAt) {
  StartSshd();
  WriteText(known_hosts_, "# comment\n\nelsewhere ssh-ed25519 AAAA\n" + sshd_->KnownHostsLine());
  const std::string before = sshd_->Fingerprint();
  sshd_->RestartWithNewHostKey();
  for (const HostKeys policy : {HostKeys::kStrict, HostKeys::kAcceptNew}) {
    node_.access.host_keys = policy;
    EXPECT_EQ(DialError(), ChangedError(4, "ssh-ed25519 " + before, known_hosts_));
  }
}

TEST_F(SshHostKey, HashedEntryIsFoundAndItsLineNamed) {
  StartSshd();
  WriteText(known_hosts_, "# comment\n" + sshd_->KnownHostsLine());
  Shell(fmt::format("ssh-keygen -H -f {}", known_hosts_));
  ASSERT_EQ(ReadText(known_hosts_).find("127.0.0.1"), std::string::npos);
  ExpectLogin();
  const std::string before = sshd_->Fingerprint();
  sshd_->RestartWithNewHostKey();
  EXPECT_EQ(DialError(), ChangedError(2, "ssh-ed25519 " + before, known_hosts_));
}

TEST_F(SshHostKey, IsReadWithoutALoginAndKnownOnceItIsAdded) {
  StartSshd();
  std::filesystem::remove_all(home_ + "/.ssh");
  const auto before = ReadHostKey(node_);
  ASSERT_TRUE(before) << FormatError(before.error());
  EXPECT_FALSE(before->known);
  EXPECT_EQ(before->place, Place());
  EXPECT_EQ(before->type, "ssh-ed25519");
  EXPECT_EQ(before->fingerprint, sshd_->Fingerprint());
  EXPECT_EQ(before->machine_file, "/etc/ssh/ssh_host_ed25519_key.pub");
  EXPECT_EQ(before->known_hosts, known_hosts_);
  EXPECT_FALSE(std::filesystem::exists(known_hosts_));
  ASSERT_TRUE(AddHostKey(*before));
  EXPECT_EQ(ReadText(known_hosts_), sshd_->KnownHostsLine());
  const auto after = ReadHostKey(node_);
  ASSERT_TRUE(after) << FormatError(after.error());
  EXPECT_TRUE(after->known);
}

TEST_F(SshHostKey, AChangedKeyIsAnErrorAlsoWhereItIsOnlyRead) {
  StartSshd();
  const std::string before = sshd_->Fingerprint();
  sshd_->RestartWithNewHostKey();
  const auto key = ReadHostKey(node_);
  ASSERT_FALSE(key);
  EXPECT_EQ(FormatError(key.error()), ChangedError(1, "ssh-ed25519 " + before, known_hosts_));
}

TEST_F(SshHostKey, RightKeyAfterAnOldOneIsKnown) {
  StartSshd();
  sshd_->RestartWithNewHostKey();
  Trust(*sshd_);
  ExpectLogin();
}

TEST_F(SshHostKey, KeyOfAnotherKindThanTheKnownOneIsAChangedKey) {
  StartSshd();
  Shell(
      fmt::format("ssh-keygen -q -t ecdsa -N '' -f {0}/other; "
                  "echo \"[127.0.0.1]:{1} $(cut -d' ' -f1,2 {0}/other.pub)\" >{2}",
                  folder_, sshd_->Port(), known_hosts_));
  const std::string known =
      "ecdsa-sha2-nistp256 " +
      Shell(fmt::format("ssh-keygen -lf {}/other.pub | cut -d' ' -f2 | tr -d '\\n'", folder_));
  node_.access.host_keys = HostKeys::kAcceptNew;
  EXPECT_EQ(DialError(), ChangedError(1, known, known_hosts_));
}

TEST_F(SshHostKey, ChangedKeyIsTheOneOfTheOfferedType) {
  StartSshd();
  Shell(
      fmt::format("ssh-keygen -q -t ecdsa -N '' -f {0}/other; "
                  "echo \"[127.0.0.1]:{1} $(cut -d' ' -f1,2 {0}/other.pub)\" >{2}",
                  folder_, sshd_->Port(), known_hosts_));
  const std::string ecdsa = ReadText(known_hosts_);
  const std::string before = sshd_->Fingerprint();
  WriteText(known_hosts_, ecdsa + "# comment\n" + sshd_->KnownHostsLine() + ecdsa);
  sshd_->RestartWithNewHostKey();
  EXPECT_EQ(DialError(), ChangedError(3, "ssh-ed25519 " + before, known_hosts_));
}

TEST_F(SshHostKey, RevokedKeyIsRefusedAlthoughItIsKnown) {
  StartSshd();
  WriteText(known_hosts_, sshd_->KnownHostsLine() + "@revoked " + sshd_->KnownHostsLine());
  EXPECT_EQ(DialError(), fmt::format("{}:2: {}: the host key is revoked: ssh-ed25519 {}\n"
                                     "  hint: the machine needs a new host key\n",
                                     known_hosts_, Place(), sshd_->Fingerprint()));
}

TEST_F(SshHostKey, KeyOfTheConfigsRevokedHostKeysIsRefusedWhateverKnownHostsHas) {
  StartSshd();
  const std::string revoked = home_ + "/.ssh/revoked";
  const std::string line = sshd_->KnownHostsLine();
  WriteText(revoked, "# lost\n" + line.substr(line.find(' ') + 1));
  WriteConfig("Host 127.0.0.1\n  RevokedHostKeys ~/.ssh/revoked\n");
  const std::string error = fmt::format(
      "{}:2: {}: the host key is revoked: ssh-ed25519 {}\n"
      "  hint: RevokedHostKeys of the ssh configuration names that file: others may have a key "
      "that "
      "is in it, so the machine needs a new one\n",
      revoked, Place(), sshd_->Fingerprint());
  EXPECT_EQ(DialError(), error);
  std::filesystem::remove(known_hosts_);
  node_.access.host_keys = HostKeys::kAcceptNew;
  EXPECT_EQ(DialError(), error);
  EXPECT_FALSE(std::filesystem::exists(known_hosts_));
  const auto key = ReadHostKey(node_);
  ASSERT_FALSE(key);
  EXPECT_EQ(FormatError(key.error()), error);
}

TEST_F(SshHostKey, RevokedHostKeysMayBeAKrlAndOtherKeysAreTaken) {
  StartSshd();
  const std::string list = folder_ + "/list";
  WriteConfig("Host *\n  RevokedHostKeys " + list + "\n");
  Shell(fmt::format("ssh-keygen -q -k -f {} {}.pub", list, key_));
  ExpectLogin();
  Shell(fmt::format("ssh-keygen -q -k -u -f {} {}/sshd/host_key.pub", list, folder_));
  EXPECT_THAT(DialError(),
              testing::StartsWith(fmt::format("{}: {}: the host key is revoked: ", list, Place())));
}

TEST_F(SshHostKey, RevokedHostKeysThatCannotBeReadRefuseEveryKey) {
  StartSshd();
  WriteConfig("Host *\n  RevokedHostKeys /nowhere/revoked\n");
  EXPECT_EQ(DialError(),
            fmt::format("{}: the host key cannot be checked: /nowhere/revoked: cannot be read: No "
                        "such file or directory\n"
                        "  hint: RevokedHostKeys of the ssh configuration names that file: no host "
                        "key is accepted until it can be read\n",
                        Place()));
  WriteConfig("Host *\n  RevokedHostKeys none\n");
  ExpectLogin();
}

// As OpenSSH reads them.
TEST_F(SshHostKey, ALineMayHaveTabsForBlanks) {
  StartSshd();
  std::string line = sshd_->KnownHostsLine();
  std::replace(line.begin(), line.end(), ' ', '\t');
  WriteText(known_hosts_, line);
  ExpectLogin();
  WriteText(known_hosts_, line + "@revoked\t" + line);
  EXPECT_THAT(DialError(), testing::HasSubstr(known_hosts_ + ":2: "));
  WriteText(known_hosts_, line);
  const std::string before = sshd_->Fingerprint();
  sshd_->RestartWithNewHostKey();
  node_.access.host_keys = HostKeys::kAcceptNew;
  EXPECT_EQ(DialError(), ChangedError(1, "ssh-ed25519 " + before, known_hosts_));
  EXPECT_EQ(ReadText(known_hosts_), line);
}

TEST_F(SshHostKey, ALineThatExcludesTheHostSaysNothingOfIt) {
  StartSshd();
  const std::string line = sshd_->KnownHostsLine();
  const std::string name = line.substr(0, line.find(' '));
  const std::string rest = line.substr(line.find(' '));
  WriteText(known_hosts_, "*,!" + name + rest);
  EXPECT_THAT(DialError(), testing::HasSubstr("is not known"));
  WriteText(known_hosts_, "!elsewhere," + name + rest);
  ExpectLogin();
}

TEST_F(SshHostKey, ErrorPointsAtTheKnownHostsFileOfTheConfig) {
  StartSshd();
  const std::string other = folder_ + "/others";
  std::filesystem::rename(known_hosts_, other);
  WriteConfig("Host *\n  UserKnownHostsFile " + other + "\n");
  const std::string before = sshd_->Fingerprint();
  sshd_->RestartWithNewHostKey();
  EXPECT_EQ(DialError(), ChangedError(1, "ssh-ed25519 " + before, other));
}

}  // namespace
}  // namespace reconciler
