#include "reconciler/transport/ssh/config.h"

#include <fmt/format.h>
#include <pwd.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/client.h"
#include "reconciler/transport/ssh/libssh_settings.h"

namespace reconciler {
namespace {

// The keywords of SshSettings::algorithms.
constexpr std::array<std::pair<const char*, ssh_options_e>, 8> kAlgorithmOptions = {
    {{"ciphers", SSH_OPTIONS_CIPHERS_C_S},
     {"ciphers", SSH_OPTIONS_CIPHERS_S_C},
     {"compression", SSH_OPTIONS_COMPRESSION},
     {"hostkeyalgorithms", SSH_OPTIONS_HOSTKEYS},
     {"kexalgorithms", SSH_OPTIONS_KEY_EXCHANGE},
     {"macs", SSH_OPTIONS_HMAC_C_S},
     {"macs", SSH_OPTIONS_HMAC_S_C},
     {"pubkeyacceptedalgorithms", SSH_OPTIONS_PUBLICKEY_ACCEPTED_TYPES}}};

const passwd* FindAccount(passwd& storage, std::array<char, 4096>& buffer) {
  passwd* found = nullptr;
  getpwuid_r(geteuid(), &storage, buffer.data(), buffer.size(), &found);
  return found;
}

std::string FindLocalName() {
  std::array<char, 256> name = {};
  gethostname(name.data(), name.size() - 1);
  return name.data();
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
  std::string host = target.host;
  if (target.port != 22) {
    if (host.find(':') != std::string::npos) host = fmt::format("[{}]", host);  // IPv6
    host += fmt::format(":{}", target.port);
  }
  if (strcasecmp(target.host.c_str(), node.address.c_str()) == 0) {
    return fmt::format("{} ({})", node.name, host);
  }
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

// Paths hold variables of the environment as well, as "${NAME}"; one that is not set stays.
std::string ExpandPath(std::string path, const SshTarget& target) {
  for (std::size_t at = path.find("${"); at != std::string::npos; at = path.find("${", at)) {
    const std::size_t end = path.find('}', at);
    if (end == std::string::npos) break;
    const char* value = std::getenv(path.substr(at + 2, end - at - 2).c_str());
    if (value == nullptr) {
      at = end;
      continue;
    }
    path.replace(at, end + 1 - at, value);
    at += std::string_view(value).size();
  }
  return ExpandSshTokens(path, target);
}

// What keeps no keys (/dev/null, none) is how ssh is made to check nothing. A folder is a mistake,
// which shows where the file is read.
bool KeepsKeys(const std::string& path) {
  struct stat found {};
  return path != "none" &&
         (stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
}

std::vector<std::string> ListKnownHosts(const std::vector<std::string>& configured,
                                        const SshTarget& target) {
  std::vector<std::string> files;
  for (const std::string& file : configured) {
    std::string path = ExpandPath(file, target);
    if (KeepsKeys(path)) files.push_back(std::move(path));
  }
  return files;
}

void AddIdentities(SshTarget& target, const NodeSpec& node, const SshSettings& settings) {
  target.explicit_identity = ExpandSshTokens(node.access.identity, target);
  if (!target.explicit_identity.empty()) return;
  for (const std::string& file : settings.identities) {
    target.identities.push_back(ExpandPath(file, target));
  }
  // Also where the config names others: what an apply writes there on a node names the mesh's
  // key, which the other nodes accept only when the apply is done.
  for (const char* name : {"id_ed25519", "id_ecdsa", "id_rsa"}) {
    const std::string usual = FindHomeDirectory() + "/.ssh/" + name;
    if (std::find(target.identities.begin(), target.identities.end(), usual) ==
        target.identities.end()) {
      target.default_identities.push_back(usual);
    }
  }
}

// IdentityAgent: a path, `none`, or a variable that holds the path, as SSH_AUTH_SOCK or "$NAME".
std::string FindAgentSocket(const std::string& configured, const SshTarget& target) {
  if (configured == "none") return {};
  std::string variable;
  if (configured.empty() || configured == "SSH_AUTH_SOCK") variable = "SSH_AUTH_SOCK";
  if (configured.starts_with('$') && !configured.starts_with("${")) variable = configured.substr(1);
  if (variable.empty()) return ExpandPath(configured, target);
  const char* value = std::getenv(variable.c_str());
  return value == nullptr ? "" : value;
}

SshTarget MakeTarget(const NodeSpec& node, const SshSettings& settings) {
  SshTarget target;
  target.address = node.address;
  target.host = settings.host.empty() ? node.address : settings.host;
  target.user = settings.user.empty() ? FindAccountName() : settings.user;
  target.port = settings.port == 0 ? 22 : settings.port;
  target.host_key_alias = settings.host_key_alias;
  target.place = DescribePlace(node, target);
  AddIdentities(target, node, settings);
  target.agent = FindAgentSocket(settings.identity_agent, target);
  return target;
}

void AddKnownHosts(SshTarget& target, const SshSettings& settings) {
  std::vector<std::string> own = ListKnownHosts(settings.known_hosts, target);
  if (own.empty()) own.push_back(FindHomeDirectory() + "/.ssh/known_hosts");
  const std::vector<std::string> global = settings.global_known_hosts.empty()
                                              ? std::vector<std::string>{"/etc/ssh/ssh_known_hosts"}
                                              : ListKnownHosts(settings.global_known_hosts, target);
  target.known_hosts = own.front();
  target.other_known_hosts.assign(own.begin() + 1, own.end());
  target.other_known_hosts.insert(target.other_known_hosts.end(), global.begin(), global.end());
  for (const std::string& file : settings.revoked_host_keys) {
    target.revoked_host_keys.push_back(ExpandPath(file, target));
  }
}

void LayIntoSession(ssh_session session, const SshSettings& settings) {
  for (const auto& [keyword, option] : kAlgorithmOptions) {
    const auto found = settings.algorithms.find(keyword);
    if (found != settings.algorithms.end()) SetSessionOption(session, option, found->second);
  }
#if LIBSSH_VERSION_INT >= SSH_VERSION_INT(0, 11, 0)
  // The key files are read here, so that libssh knows none of them among the agent's keys.
  const bool only_its_own = false;
  ssh_options_set(session, SSH_OPTIONS_IDENTITIES_ONLY, &only_its_own);
#endif
  SetSessionOption(session, SSH_OPTIONS_PROXYCOMMAND, "none");  // we run it, and expanded it
  const int quiet = SSH_LOG_NOLOG;  // LogLevel is for ssh; our lines are no one's debugging output
  ssh_options_set(session, SSH_OPTIONS_LOG_VERBOSITY, &quiet);
}

Result<SshSettings> ReadSettings(ssh_session session, const NodeSpec& node) {
  if (ReadsWithClient()) {
    const auto settings = ReadClientSettings(node);
    if (!settings) return Fail(settings.error());
    if (*settings) return **settings;
  }
  return ReadLibsshSettings(session, node);
}

}  // namespace

std::string FindAccountHome() {
  passwd storage = {};
  std::array<char, 4096> buffer;
  const passwd* account = FindAccount(storage, buffer);
  return account != nullptr ? account->pw_dir : "/";
}

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
      case 'i':
        expanded += std::to_string(getuid());
        break;
      case 'k':
        expanded += target.host_key_alias.empty() ? target.address : target.host_key_alias;
        break;
      case 'L':
        expanded += Split(FindLocalName(), '.').front();
        break;
      case 'l':
        expanded += FindLocalName();
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
  if (!SetAccess(session, node.access)) {
    return Fail(MakeUnsupportedError(
        node, fmt::format("the user name '{}'", MakePrintable(node.access.user))));
  }
  PrepareSession(session);
  const bool reads_files = false;  // libssh would, once more, when it connects
  ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &reads_files);
  const auto settings = ReadSettings(session, node);
  if (!settings) return Fail(settings.error());
  SshTarget target = MakeTarget(node, *settings);
  AddKnownHosts(target, *settings);
  if (ssh_options_set(session, SSH_OPTIONS_USER, target.user.c_str()) != SSH_OK) {
    return Fail(
        MakeUnsupportedError(node, fmt::format("the user name '{}'", MakePrintable(target.user))));
  }
  LayIntoSession(session, *settings);
  if (auto added = AddProxy(target, settings->proxy_command); !added) {
    return Fail(std::move(added.error()));
  }
  return target;
}

}  // namespace reconciler
