#include "reconciler/transport/ssh/libssh_settings.h"

#include <fmt/format.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reconciler/base/text.h"
#include "reconciler/transport/posix.h"
#include "reconciler/transport/ssh/config.h"
#include "reconciler/transport/text_file.h"

namespace reconciler {
namespace {

// libssh 0.10 has it first on its own; later versions put the slower post-quantum hybrids ahead of
// it, which cost more than all the rest of a login. KexAlgorithms in ~/.ssh/config still wins.
constexpr const char* kKeyExchange =
    "curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,"
    "ecdh-sha2-nistp521,diffie-hellman-group18-sha512,diffie-hellman-group16-sha512,"
    "diffie-hellman-group-exchange-sha256,diffie-hellman-group14-sha256";

// Whether it has no sign that a shell acts on. Some builds of libssh 0.10.6 refuse these, and that
// of Ubuntu 24.04 does not.
bool IsPlainUser(std::string_view user) {
  return user.find_first_of("'`\";&<>|(){}$,\\\t\n") == std::string_view::npos;
}

constexpr std::string_view kIdentityFile = "IdentityFile";
constexpr std::string_view kInclude = "Include";

bool HasKeyword(std::string_view line, std::string_view keyword) {
  line = Trim(line);
  return line.size() > keyword.size() &&
         strncasecmp(line.data(), keyword.data(), keyword.size()) == 0 &&
         std::string_view(" \t=\"").find(line[keyword.size()]) != std::string_view::npos;
}

// What `Host` and `Match` lines are compared with. false: not what libssh takes.
bool SetNode(ssh_session session, const NodeSpec& node) {
  PrepareSession(session);
  return SetAccess(session, node.access) &&
         ssh_options_set(session, SSH_OPTIONS_HOST, node.address.c_str()) == SSH_OK;
}

// The paths of the keyword's lines whose Host or Match block is ours. libssh returns only one of a
// session's identity files, and of other paths none. So the file is parsed once for each line, as
// its only IdentityFile line and without what it includes: what then comes out first is that line's
// path.
std::vector<std::string> ReadConfiguredPaths(const std::string& config, std::string_view keyword,
                                             const NodeSpec& node) {
  const std::vector<std::string> lines = SplitLines(config);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!HasKeyword(lines[i], keyword)) continue;
    std::vector<std::string> only = lines;
    for (std::string& line : only) {
      if (HasKeyword(line, kIdentityFile) || HasKeyword(line, kInclude)) line.clear();
    }
    only[i] = std::string(kIdentityFile).append(Trim(lines[i]).substr(keyword.size()));
    const std::string text = Join(only, "\n") + "\n";
    const UniqueFd file(memfd_create("ssh_config", MFD_CLOEXEC));
    if (!file.Open() || write(file.Get(), text.data(), text.size()) < 0) continue;
    const SshSession session(ssh_new());
    if (!session || !SetNode(session.get(), node)) continue;
    const std::string by_default = GetSessionOption(session.get(), SSH_OPTIONS_IDENTITY);
    const std::string path = fmt::format("/proc/self/fd/{}", file.Get());
    if (ssh_options_parse_config(session.get(), path.c_str()) != 0) continue;
    const std::string first = GetSessionOption(session.get(), SSH_OPTIONS_IDENTITY);
    if (first != by_default) paths.push_back(first);
  }
  return paths;
}

// The first line counts, and the user's file is read before the system's.
std::vector<std::string> ReadRevokedHostKeys(const std::vector<std::string>& files,
                                             const NodeSpec& node) {
  for (const std::string& file : files) {
    const std::vector<std::string> paths =
        ReadConfiguredPaths(ReadTextFile(file).value_or(""), "RevokedHostKeys", node);
    if (!paths.empty() && paths.front() != "none") return {paths.front()};
    if (!paths.empty()) break;
  }
  return {};
}

Error MakeParseError(const NodeSpec& node, const std::string& path, ssh_session session) {
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: cannot read {}: {}", node.name, path,
                                      MakePrintable(ssh_get_error(session)))};
}

std::vector<std::string> ListPath(std::string path) {
  if (path.empty()) return {};
  return {std::move(path)};
}

}  // namespace

std::string GetSessionOption(ssh_session session, ssh_options_e option) {
  char* value = nullptr;
  return ssh_options_get(session, option, &value) == SSH_OK ? CopySshString(value) : "";
}

void SetSessionOption(ssh_session session, ssh_options_e option, const std::string& value) {
  ssh_options_set(session, option, value.c_str());
}

bool SetAccess(ssh_session session, const Access& access) {
  if (access.port != 0) {
    const unsigned int port = static_cast<unsigned int>(access.port);
    ssh_options_set(session, SSH_OPTIONS_PORT, &port);
  }
  return access.user.empty() ||
         (IsPlainUser(access.user) &&
          ssh_options_set(session, SSH_OPTIONS_USER, access.user.c_str()) == SSH_OK);
}

void PrepareSession(ssh_session session) {
  SetSessionOption(session, SSH_OPTIONS_SSH_DIR, FindHomeDirectory() + "/.ssh");
  SetSessionOption(session, SSH_OPTIONS_KEY_EXCHANGE, kKeyExchange);
}

Error MakeUnsupportedError(const NodeSpec& node, const std::string& what) {
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: {} is not one that libssh takes", node.name, what),
               .hint = "letters, digits, '.' and '-' are safe"};
}

Result<SshSettings> ReadLibsshSettings(ssh_session session, const NodeSpec& node) {
  if (!SetNode(session, node)) {
    return Fail(
        MakeUnsupportedError(node, fmt::format("the address '{}'", MakePrintable(node.address))));
  }
  const std::string config = FindHomeDirectory() + "/.ssh/config";
  for (const std::string& file : {config, std::string(kGlobalConfig)}) {
    if (ssh_options_parse_config(session, file.c_str()) != 0) {
      return Fail(MakeParseError(node, file, session));
    }
  }
  // What the manifest says wins over the files, but `Match user` must see it too: it is set before
  // and after they are read.
  SetAccess(session, node.access);
  SshSettings settings;
  settings.host = GetSessionOption(session, SSH_OPTIONS_HOST);
  settings.user = GetSessionOption(session, SSH_OPTIONS_USER);
  unsigned int port = 0;
  ssh_options_get_port(session, &port);
  settings.port = static_cast<int>(port);
  settings.known_hosts = ListPath(GetSessionOption(session, SSH_OPTIONS_KNOWNHOSTS));
  settings.global_known_hosts = ListPath(GetSessionOption(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS));
  settings.proxy_command = GetSessionOption(session, SSH_OPTIONS_PROXYCOMMAND);
  if (node.access.identity.empty()) {
    settings.identities =
        ReadConfiguredPaths(ReadTextFile(config).value_or(""), kIdentityFile, node);
  }
  std::vector<std::string> files = ListSystemConfigs();
  files.insert(files.begin(), config);
  settings.revoked_host_keys = ReadRevokedHostKeys(files, node);
  return settings;
}

}  // namespace reconciler
