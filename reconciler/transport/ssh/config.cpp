#include "reconciler/transport/ssh/config.h"

#include <fmt/format.h>
#include <pwd.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "reconciler/base/text.h"
#include "reconciler/transport/posix.h"
#include "reconciler/transport/text_file.h"

namespace reconciler {
namespace {

constexpr const char* kGlobalConfig = "/etc/ssh/ssh_config";
// libssh 0.10 has it first on its own; later versions put the slower post-quantum hybrids ahead of
// it, which cost more than all the rest of a login. KexAlgorithms in ~/.ssh/config still wins.
constexpr const char* kKeyExchange =
    "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,"
    "ecdh-sha2-nistp521,diffie-hellman-group18-sha512,diffie-hellman-group16-sha512,"
    "diffie-hellman-group-exchange-sha256,diffie-hellman-group14-sha256";

const passwd* FindAccount(passwd& storage, std::array<char, 4096>& buffer) {
  passwd* found = nullptr;
  getpwuid_r(geteuid(), &storage, buffer.data(), buffer.size(), &found);
  return found;
}

std::string FindAccountHome() {
  passwd storage = {};
  std::array<char, 4096> buffer;
  const passwd* account = FindAccount(storage, buffer);
  return account != nullptr ? account->pw_dir : "/";
}

std::string GetOption(ssh_session session, ssh_options_e option) {
  char* value = nullptr;
  return ssh_options_get(session, option, &value) == SSH_OK ? CopySshString(value) : "";
}

void SetOption(ssh_session session, ssh_options_e option, const std::string& value) {
  ssh_options_set(session, option, value.c_str());
}

// Whether it has no sign that a shell acts on. Some builds of libssh 0.10.6 refuse these, and that
// of Ubuntu 24.04 does not.
bool IsPlainUser(std::string_view user) {
  return user.find_first_of("'`\";&<>|(){}$,\\\t\n") == std::string_view::npos;
}

// What the manifest says wins over the files, but `Match user` must see it too: set before and
// after they are read.
bool SetAccess(ssh_session session, const Access& access) {
  if (access.port != 0) {
    const unsigned int port = static_cast<unsigned int>(access.port);
    ssh_options_set(session, SSH_OPTIONS_PORT, &port);
  }
  return access.user.empty() ||
         (IsPlainUser(access.user) &&
          ssh_options_set(session, SSH_OPTIONS_USER, access.user.c_str()) == SSH_OK);
}

bool Prepare(ssh_session session, const NodeSpec& node) {
  SetOption(session, SSH_OPTIONS_SSH_DIR, FindHomeDirectory() + "/.ssh");
  SetOption(session, SSH_OPTIONS_KEY_EXCHANGE, kKeyExchange);
  return SetAccess(session, node.access) &&
         ssh_options_set(session, SSH_OPTIONS_HOST, node.address.c_str()) == SSH_OK;
}

bool IsIdentityLine(std::string_view line) {
  constexpr std::string_view kKeyword = "identityfile";
  line = Trim(line);
  return line.size() > kKeyword.size() &&
         strncasecmp(line.data(), kKeyword.data(), kKeyword.size()) == 0;
}

// libssh returns only one of a session's identity files. So the file is parsed once for each
// IdentityFile line with the other ones blanked: what then comes out first is that line's file,
// when its Host or Match block is ours.
std::vector<std::string> ReadConfiguredIdentities(const std::string& config, const NodeSpec& node) {
  const std::vector<std::string> lines = SplitLines(config);
  std::vector<std::string> identities;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!IsIdentityLine(lines[i])) continue;
    std::vector<std::string> only = lines;
    for (std::size_t k = 0; k < only.size(); ++k) {
      if (k != i && IsIdentityLine(only[k])) only[k].clear();
    }
    const std::string text = Join(only, "\n") + "\n";
    const UniqueFd file(memfd_create("ssh_config", MFD_CLOEXEC));
    if (!file.Open() || write(file.Get(), text.data(), text.size()) < 0) continue;
    const SshSession session(ssh_new());
    if (!session || !Prepare(session.get(), node)) continue;
    const std::string by_default = GetOption(session.get(), SSH_OPTIONS_IDENTITY);
    const std::string path = fmt::format("/proc/self/fd/{}", file.Get());
    if (ssh_options_parse_config(session.get(), path.c_str()) != 0) continue;
    const std::string first = GetOption(session.get(), SSH_OPTIONS_IDENTITY);
    if (first != by_default) identities.push_back(first);
  }
  return identities;
}

// A host or user name inside a command line is data that some shell reads: letters, digits and a
// few signs only, as OpenSSH has it too.
bool IsSafeInCommand(const std::string& word) {
  return !word.empty() && word.front() != '-' && std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("._:%@+-").find(c) != std::string_view::npos;
  });
}

// OpenSSH's client finds its files by the account, not by $HOME; distinguished only where they
// differ.
std::string AddOurConfig(const std::string& command) {
  if (!command.starts_with("ssh ") || FindHomeDirectory() == FindAccountHome()) return command;
  return fmt::format("ssh -F {}{}", QuoteForShell(FindHomeDirectory() + "/.ssh/config"),
                     command.substr(3));
}

std::string DescribePlace(const NodeSpec& node, const SshTarget& target) {
  const std::string port = target.port == 22 ? "" : fmt::format(":{}", target.port);
  const std::string host = target.host + port;
  if (target.host == node.address) return fmt::format("{} ({})", node.name, host);
  return fmt::format("{} ({} = {})", node.name, node.address, host);
}

Result<void> AddProxy(SshTarget& target, const std::string& command) {
  if (command.empty() || command == "none") return {};
  if (!IsSafeInCommand(target.host) || !IsSafeInCommand(target.user) ||
      !IsSafeInCommand(target.address)) {
    return Fail({.kind = ErrorKind::kTransport,
                 .message = fmt::format("{}: a character of the address or user cannot go into a "
                                        "proxy command",
                                        target.place),
                 .hint = "letters, digits and . _ : % @ + - are possible"});
  }
  target.proxy_command = ExpandSshTokens(AddOurConfig(command), target);
  return {};
}

Error MakeUnsupportedError(const NodeSpec& node, const std::string& what) {
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: {} is not one that libssh takes", node.name, what),
               .hint = "letters, digits, '.' and '-' are safe"};
}

Error MakeBadConfigError(const NodeSpec& node, const std::string& path, ssh_session session) {
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: cannot read {}: {}", node.name, path,
                                      MakePrintable(ssh_get_error(session)))};
}

}  // namespace

std::string FindAccountName() {
  passwd storage = {};
  std::array<char, 4096> buffer;
  const passwd* account = FindAccount(storage, buffer);
  return account != nullptr ? account->pw_name : "root";
}

std::string FindHomeDirectory() {
  const char* home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? home : FindAccountHome();
}

std::string ExpandSshTokens(const std::string& text, const SshTarget& target) {
  std::string expanded = text.starts_with("~/") ? FindHomeDirectory() : "";
  for (std::size_t i = expanded.empty() ? 0 : 1; i < text.size(); ++i) {
    if (text[i] != '%' || i + 1 == text.size()) {
      expanded.push_back(text[i]);
      continue;
    }
    switch (text[++i]) {
      case 'd':
        expanded += FindHomeDirectory();
        break;
      case 'h':
        expanded += target.host;
        break;
      case 'n':
        expanded += target.address;
        break;
      case 'p':
        expanded += std::to_string(target.port);
        break;
      case 'r':
        expanded += target.user;
        break;
      case 'u':
        expanded += FindAccountName();
        break;
      case '%':
        expanded.push_back('%');
        break;
      default:
        expanded.append({'%', text[i]});
        break;
    }
  }
  return expanded;
}

Result<SshTarget> ConfigureSession(ssh_session session, const NodeSpec& node) {
  const std::string home = FindHomeDirectory();
  const std::string config = home + "/.ssh/config";
  if (!SetAccess(session, node.access)) {
    return Fail(MakeUnsupportedError(
        node, fmt::format("the user name '{}'", MakePrintable(node.access.user))));
  }
  if (!Prepare(session, node)) {
    return Fail(
        MakeUnsupportedError(node, fmt::format("the address '{}'", MakePrintable(node.address))));
  }
  for (const std::string& file : {config, std::string(kGlobalConfig)}) {
    if (ssh_options_parse_config(session, file.c_str()) != 0) {
      return Fail(MakeBadConfigError(node, file, session));
    }
  }
  SetAccess(session, node.access);
  const int quiet = SSH_LOG_NOLOG;  // LogLevel is for ssh; our lines are no one's debugging output
  ssh_options_set(session, SSH_OPTIONS_LOG_VERBOSITY, &quiet);

  SshTarget target;
  target.address = node.address;
  target.host = GetOption(session, SSH_OPTIONS_HOST);
  target.user = GetOption(session, SSH_OPTIONS_USER);
  if (target.user.empty()) target.user = FindAccountName();
  SetOption(session, SSH_OPTIONS_USER, target.user);
  unsigned int port = 0;
  ssh_options_get_port(session, &port);
  target.port = port == 0 ? 22 : static_cast<int>(port);
  target.place = DescribePlace(node, target);

  const auto path = [&](ssh_options_e option, const std::string& otherwise) {
    const std::string configured = GetOption(session, option);
    return configured.empty() ? otherwise : ExpandSshTokens(configured, target);
  };
  target.known_hosts = path(SSH_OPTIONS_KNOWNHOSTS, home + "/.ssh/known_hosts");
  target.global_known_hosts = path(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/etc/ssh/ssh_known_hosts");
  // libssh reads them too, to request the kinds of keys that are known.
  SetOption(session, SSH_OPTIONS_KNOWNHOSTS, target.known_hosts);
  SetOption(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, target.global_known_hosts);

  target.explicit_identity = ExpandSshTokens(node.access.identity, target);
  if (target.explicit_identity.empty()) {
    for (const std::string& file :
         ReadConfiguredIdentities(ReadTextFile(config).value_or(""), node)) {
      target.identities.push_back(ExpandSshTokens(file, target));
    }
    // Also where the config names others: what an apply writes there on a node names the mesh's
    // key, which the other nodes accept only when the apply is done.
    for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) {
      const std::string usual = home + "/.ssh/" + name;
      if (std::find(target.identities.begin(), target.identities.end(), usual) ==
          target.identities.end()) {
        target.default_identities.push_back(usual);
      }
    }
  }
  const std::string proxy = GetOption(session, SSH_OPTIONS_PROXYCOMMAND);
  SetOption(session, SSH_OPTIONS_PROXYCOMMAND, "none");  // we run it; libssh would expand it again
  if (auto added = AddProxy(target, proxy); !added) return Fail(std::move(added.error()));
  return target;
}

}  // namespace reconciler
