#include "reconciler/transport/ssh/settings.h"

#include <gmock/gmock.h>

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// As `ssh -F none -G` of OpenSSH 9.2 prints them; options that no one reads are left out.
constexpr std::string_view kDefaults =
    "host localhost\n"
    "user admin\n"
    "hostname localhost\n"
    "port 22\n"
    "addressfamily any\n"
    "compression no\n"
    "identitiesonly no\n"
    "ciphers chacha20-poly1305@openssh.com,aes128-ctr,aes192-ctr,aes256-ctr\n"
    "kexalgorithms sntrup761x25519-sha512,curve25519-sha256\n"
    "loglevel INFO\n"
    "macs umac-64-etm@openssh.com,umac-128-etm@openssh.com\n"
    "identityfile ~/.ssh/id_rsa\n"
    "identityfile ~/.ssh/id_ecdsa\n"
    "identityfile ~/.ssh/id_ed25519\n"
    "globalknownhostsfile /etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2\n"
    "userknownhostsfile /home/admin/.ssh/known_hosts /home/admin/.ssh/known_hosts2\n"
    "connecttimeout none\n"
    "rekeylimit 0 0\n";

// The defaults with other lines in place of those of the same keywords.
std::string PrintWith(const std::string& lines) {
  std::string printed;
  std::string_view rest = kDefaults;
  while (!rest.empty()) {
    const std::string line(rest.substr(0, rest.find('\n') + 1));
    rest.remove_prefix(line.size());
    const std::string keyword = line.substr(0, line.find(' ') + 1);
    if (('\n' + lines).find('\n' + keyword) == std::string::npos) printed += line;
  }
  return printed + lines;
}

SshSettings Parse(const std::string& lines) {
  return ParseSshSettings(PrintWith(lines), kDefaults);
}

TEST(ClientSettings, DefaultsSetNothingButTheHost) {
  const SshSettings settings = ParseSshSettings(kDefaults, kDefaults);
  EXPECT_EQ(settings.host, "localhost");
  EXPECT_EQ(settings.port, 0);
  EXPECT_EQ(settings.user, "");
  EXPECT_EQ(settings.host_key_alias, "");
  EXPECT_EQ(settings.identity_agent, "");
  EXPECT_EQ(settings.proxy_command, "");
  EXPECT_THAT(settings.identities, IsEmpty());
  EXPECT_THAT(settings.known_hosts, IsEmpty());
  EXPECT_THAT(settings.global_known_hosts, IsEmpty());
  EXPECT_THAT(settings.revoked_host_keys, IsEmpty());
  EXPECT_THAT(settings.algorithms, IsEmpty());
}

TEST(ClientSettings, EachOptionThatDiffersIsSet) {
  const SshSettings settings = Parse(
      "user nvidia\n"
      "hostname 192.168.1.21\n"
      "port 2222\n"
      "compression yes\n"
      "identitiesonly yes\n"
      "ciphers aes128-ctr\n"
      "hostkeyalias spark-1\n"
      "identityagent /home/admin/.x/agent\n"
      "kexalgorithms sntrup761x25519-sha512,curve25519-sha256,diffie-hellman-group14-sha1\n"
      "identityfile ~/.ssh/spark\n"
      "userknownhostsfile /home/admin/.ssh/x\n"
      "globalknownhostsfile /dev/null\n"
      "proxycommand relay %h \"a b\" 100%% %p\n");
  EXPECT_EQ(settings.host, "192.168.1.21");
  EXPECT_EQ(settings.port, 2222);
  EXPECT_EQ(settings.user, "nvidia");
  EXPECT_EQ(settings.host_key_alias, "spark-1");
  EXPECT_EQ(settings.identity_agent, "/home/admin/.x/agent");
  EXPECT_EQ(settings.proxy_command, "relay %h \"a b\" 100%% %p");
  EXPECT_THAT(settings.identities, ElementsAre("~/.ssh/spark"));
  EXPECT_THAT(settings.known_hosts, ElementsAre("/home/admin/.ssh/x"));
  EXPECT_THAT(settings.global_known_hosts, ElementsAre("/dev/null"));
  EXPECT_THAT(settings.algorithms,
              ElementsAre(Pair("ciphers", "aes128-ctr"), Pair("compression", "yes"),
                          Pair("kexalgorithms",
                               "sntrup761x25519-sha512,curve25519-sha256,"
                               "diffie-hellman-group14-sha1")));
}

TEST(ClientSettings, IdentityFilesKeepTheirOrderAndTheirBlanks) {
  EXPECT_THAT(
      Parse("identityfile ~/.ssh/spark\nidentityfile none\nidentityfile %d/.ssh/a b\n").identities,
      ElementsAre("~/.ssh/spark", "%d/.ssh/a b"));
}

TEST(ClientSettings, PathsSideBySideAreSplitWhereOneBegins) {
  EXPECT_THAT(
      Parse("userknownhostsfile /dev/null /home/admin/.ssh/x /mnt/a b c ~/d none\n").known_hosts,
      ElementsAre("/dev/null", "/home/admin/.ssh/x", "/mnt/a b c", "~/d", "none"));
}

// ssh had room for one before it took several, on one line or on more.
TEST(ClientSettings, FilesOfRevokedHostKeysAreAllRead) {
  EXPECT_THAT(Parse("revokedhostkeys /etc/ssh/re voked\n").revoked_host_keys,
              ElementsAre("/etc/ssh/re voked"));
  EXPECT_THAT(Parse("revokedhostkeys revoked\n").revoked_host_keys, ElementsAre("revoked"));
  EXPECT_THAT(Parse("revokedhostkeys /a ~/b\nrevokedhostkeys /c\n").revoked_host_keys,
              ElementsAre("/a", "~/b", "/c"));
  EXPECT_THAT(Parse("revokedhostkeys none\n").revoked_host_keys, IsEmpty());
}

TEST(ClientSettings, NoneOfAnAgentStaysAndIsNotTheUsualOne) {
  EXPECT_EQ(Parse("identityagent none\n").identity_agent, "none");
}

TEST(ClientSettings, JumpHostsAreOneProxyCommand) {
  EXPECT_EQ(Parse("proxyjump bastion\n").proxy_command, "ssh -W '[%h]:%p' -- 'bastion'");
  EXPECT_EQ(Parse("proxyjump u@h:2\n").proxy_command, "ssh -l 'u' -p '2' -W '[%h]:%p' -- 'h'");
  EXPECT_EQ(Parse("proxyjump u@lab@h\n").proxy_command, "ssh -l 'u@lab' -W '[%h]:%p' -- 'h'");
  EXPECT_EQ(Parse("proxyjump me@bastion:2200,b,second\n").proxy_command,
            "ssh -J 'me@bastion:2200,b' -W '[%h]:%p' -- 'second'");
}

// ssh puts them in brackets, also where there is no port.
TEST(ClientSettings, JumpHostsMayBeNumbers) {
  EXPECT_EQ(Parse("proxyjump admin@[10.0.0.9]\n").proxy_command,
            "ssh -l 'admin' -W '[%h]:%p' -- '10.0.0.9'");
  EXPECT_EQ(Parse("proxyjump [10.0.0.9]:2200\n").proxy_command,
            "ssh -p '2200' -W '[%h]:%p' -- '10.0.0.9'");
  EXPECT_EQ(Parse("proxyjump u@[fe80::1%lo]:22\n").proxy_command,
            "ssh -l 'u' -p '22' -W '[%h]:%p' -- 'fe80::1%%lo'");
  EXPECT_EQ(Parse("proxyjump [\n").proxy_command, "ssh -W '[%h]:%p' -- '['");
}

TEST(ClientSettings, TextThatIsNoneOfSshSetsNothing) {
  for (const char* text : {"", "\n\n", "hostname", "port x\nport\n", "userknownhostsfile \n"}) {
    const SshSettings settings = ParseSshSettings(text, "");
    EXPECT_EQ(settings.host, "") << text;
    EXPECT_EQ(settings.port, 0) << text;
    EXPECT_THAT(settings.known_hosts, IsEmpty()) << text;
  }
}

TEST(ClientSettings, UserAndPortOfTheManifestTakePartInTheMatching) {
  NodeSpec node{.name = "spark-2", .address = "lab-2"};
  EXPECT_THAT(BuildClientArgv(node, true), ElementsAre("ssh", "-G", "--", "lab-2"));
  node.access.user = "nvidia";
  node.access.port = 2222;
  EXPECT_THAT(BuildClientArgv(node, false),
              ElementsAre("ssh", "-F", "/proc/self/fd/0", "-l", "nvidia", "-p", "2222", "-G", "--",
                          "lab-2"));
}

TEST(ClientSettings, AClientThatPrintsNoHostOrRefusesIsNotOpenSsh) {
  EXPECT_EQ(JudgeClient({.out = std::string(kDefaults)}), ClientKind::kOpenSsh);
  EXPECT_EQ(JudgeClient({.out = "hostname localhost\n"}), ClientKind::kOpenSsh);
  EXPECT_EQ(JudgeClient({.out = "version 3\nno hostname x\n"}), ClientKind::kAnother);
  EXPECT_EQ(JudgeClient({.exit_code = 1, .err = "Dropbear: cannot resolve 'none'\n"}),
            ClientKind::kAnother);
  EXPECT_EQ(JudgeClient({.exit_code = 255,
                         .err = "unknown option -- G\nusage: ssh [-1246AaCfgKkMNnqsTtVvXxYy]\n"}),
            ClientKind::kAnother);
}

// 255 is how OpenSSH's client ends for all that fails.
TEST(ClientSettings, AClientThatFailsMayBeOpenSsh) {
  for (const int code : {126, 127, 137, 255}) {
    EXPECT_EQ(JudgeClient({.exit_code = code, .err = "no memory\n"}), ClientKind::kFailed) << code;
  }
}

TEST(ClientSettings, ErrorsOfTheClientNameTheUsersFile) {
  EXPECT_EQ(FormatClientError("/proc/self/fd/0: line 2: Bad configuration option: nonsense\n"
                              "/proc/self/fd/0: terminating, 1 bad configuration options\n",
                              "/home/admin/.ssh/config"),
            "/home/admin/.ssh/config: line 2: Bad configuration option: nonsense");
  EXPECT_EQ(FormatClientError("Unsupported Match attribute tagged\n"
                              "/proc/self/fd/0 line 1: Bad Match condition\n"
                              "/proc/self/fd/0 line 7: Bad port 'abc'.\n"
                              "/proc/self/fd/0: terminating, 2 bad configuration options\n",
                              "/home/admin/.ssh/config"),
            "Unsupported Match attribute tagged; "
            "/home/admin/.ssh/config line 1: Bad Match condition");
  const std::string warnings =
      "/proc/self/fd/0 line 1: Unsupported option \"rhostsrsaauthentication\"\n"
      "/proc/self/fd/0 line 2: Deprecated option \"useroaming\"\n";
  EXPECT_EQ(FormatClientError(warnings + "/proc/self/fd/0 line 7: Bad port 'abc'.\n", "c"),
            "c line 7: Bad port 'abc'.");
  EXPECT_EQ(FormatClientError(warnings, "c"),
            "c line 1: Unsupported option \"rhostsrsaauthentication\"; "
            "c line 2: Deprecated option \"useroaming\"");
  EXPECT_EQ(FormatClientError("\x1b[31m", "/home/admin/.ssh/config"), "\\x1b[31m");
}

TEST(ClientSettings, FilesOfAnIncludeAreThoseOfTheGivenHome) {
  EXPECT_EQ(
      ResolveIncludes("Host a\n  include  config.d/* ~/.ssh/b \"c d\" /etc/e\nUser x\n", "/h"),
      "Host a\nInclude /h/.ssh/config.d/* /h/.ssh/b \"/h/.ssh/c d\" /etc/e\nUser x\n");
  EXPECT_EQ(ResolveIncludes("Include=\"~/e f\"\nInclude\n", "/h"), "Include \"/h/e f\"\nInclude\n");
}

TEST(ClientSettings, KeywordsThatLibsshDoesNotReturnAreFound) {
  for (const char* line : {"UserKnownHostsFile /a /b", "GlobalKnownHostsFile /a /b",
                           "RevokedHostKeys /etc/ssh/revoked"}) {
    EXPECT_TRUE(HasUnreportedKeyword(line)) << line;
  }
  EXPECT_TRUE(HasUnreportedKeyword("Host *\n\tIdentityFile=/etc/keys/%u\n"));
  EXPECT_TRUE(HasUnreportedKeyword("identityagent none\n"));
  EXPECT_TRUE(HasUnreportedKeyword("HOSTKEYALIAS x"));
  for (const char* line : {"Include /etc/ssh/corp/*.conf", "include=/etc/ssh/ssh_config.d/*",
                           "Include /etc/ssh/ssh_config.d/*.conf /etc/ssh/corp"}) {
    EXPECT_TRUE(HasUnreportedKeyword(line)) << line;
  }
  EXPECT_FALSE(
      HasUnreportedKeyword("Include /etc/ssh/ssh_config.d/*.conf\n\nHost *\n#   IdentityFile x\n"
                           "    SendEnv LANG LC_*\n    HashKnownHosts yes\n"));
}

}  // namespace
}  // namespace reconciler
