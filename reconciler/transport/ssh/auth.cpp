#include "reconciler/transport/ssh/auth.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/agent.h"

namespace reconciler {
namespace {

constexpr std::chrono::seconds kAgentLimit{2};

struct KeyFile {
  enum class Kind { kUsable, kMissing, kEncrypted, kUnreadable } kind = Kind::kMissing;
  SshKey key = {};
};

KeyFile LoadKey(const std::string& path) {
  // libssh calls it for an encrypted key; without it OpenSSL would prompt on the terminal.
  const auto no_passphrase = [](const char*, char*, std::size_t, int, int, void* prompted) {
    *static_cast<bool*>(prompted) = true;
    return -1;
  };
  bool prompted = false;
  ssh_key key = nullptr;
  const int rc = ssh_pki_import_privkey_file(path.c_str(), nullptr, no_passphrase, &prompted, &key);
  if (rc == SSH_OK) return {KeyFile::Kind::kUsable, SshKey(key)};
  if (access(path.c_str(), F_OK) != 0) return {KeyFile::Kind::kMissing, {}};
  return {prompted ? KeyFile::Kind::kEncrypted : KeyFile::Kind::kUnreadable, {}};
}

// One attempt to log in, with a memory of what was tried for the error at the end.
class Login {
 public:
  Login(const SshConnection& connection, Deadline deadline)
      : connection_(connection), deadline_(deadline) {}

  // true: logged in. An error: no further attempt makes sense.
  Result<bool> LogInWithFiles(const std::vector<std::string>& paths);
  Result<bool> LogInWithAgent();
  Error MakeRefusedError() const;

 private:
  Result<bool> Judge(const Result<int>& answer);
  Error MakeBrokenError() const;
  std::string OfferedMethods() const;

  const SshConnection& connection_;
  Deadline deadline_;
  std::vector<std::string> refused_ = {};
  std::vector<std::string> encrypted_ = {};
};

Error Login::MakeBrokenError() const {
  if (connection_.LastMessage().find("Too many authentication failures") != std::string::npos) {
    return connection_.MakeError(
        fmt::format("cannot log in as {}: too many keys were tried ({})", connection_.Target().user,
                    refused_.empty() ? "those of the agent" : Join(refused_, ", ")),
        "name the right key file as `identity` in `access`");
  }
  return connection_.MakeLostError();
}

Result<bool> Login::Judge(const Result<int>& answer) {
  if (!connection_.Alive()) return Fail(MakeBrokenError());
  if (!answer) {
    return Fail(connection_.MakeError(
        fmt::format("the login as {} took longer than {} s", connection_.Target().user,
                    connection_.Node().access.connect_timeout_s),
        "an sshd that looks up names without an answer is slow: UseDNS no in its sshd_config"));
  }
  if (*answer == SSH_AUTH_SUCCESS) return true;
  if (*answer == SSH_AUTH_PARTIAL) {
    return Fail(connection_.MakeError(
        fmt::format(
            "cannot log in as {}: the key is accepted, but another login method is required ({})",
            connection_.Target().user, OfferedMethods()),
        "set `AuthenticationMethods publickey` in its sshd_config"));
  }
  return false;
}

Result<bool> Login::LogInWithFiles(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const KeyFile file = LoadKey(path);
    if (file.kind == KeyFile::Kind::kEncrypted) encrypted_.push_back(path);
    if (file.kind != KeyFile::Kind::kUsable) continue;
    auto in = Judge(connection_.Repeat(
        [&] { return ssh_userauth_publickey(connection_.Session(), nullptr, file.key.get()); },
        SSH_AUTH_AGAIN, deadline_));
    if (!in || *in) return in;
    refused_.push_back(path);
  }
  return false;
}

Result<bool> Login::LogInWithAgent() {
  const Deadline limit = std::min(deadline_, std::chrono::steady_clock::now() + kAgentLimit);
  const int keys = CountAgentKeys(limit).value_or(0);
  if (keys == 0) return false;
  auto in =
      Judge(connection_.Repeat([&] { return ssh_userauth_agent(connection_.Session(), nullptr); },
                               SSH_AUTH_AGAIN, deadline_));
  if (in && !*in) {
    refused_.push_back(
        FormatPlural(static_cast<std::size_t>(keys), "key of the agent", "keys of the agent"));
  }
  return in;
}

std::string Login::OfferedMethods() const {
  const int methods = ssh_userauth_list(connection_.Session(), nullptr);
  std::vector<std::string> names;
  if ((methods & SSH_AUTH_METHOD_PUBLICKEY) != 0) names.emplace_back("publickey");
  if ((methods & SSH_AUTH_METHOD_PASSWORD) != 0) names.emplace_back("password");
  if ((methods & SSH_AUTH_METHOD_INTERACTIVE) != 0) names.emplace_back("keyboard-interactive");
  if ((methods & SSH_AUTH_METHOD_HOSTBASED) != 0) names.emplace_back("hostbased");
  if ((methods & SSH_AUTH_METHOD_GSSAPI_MIC) != 0) names.emplace_back("gssapi");
  return names.empty() ? "nothing" : Join(names, ", ");
}

Error Login::MakeRefusedError() const {
  const SshTarget& target = connection_.Target();
  const std::string cannot = fmt::format("cannot log in as {}: ", target.user);
  if (!encrypted_.empty()) {
    const std::string others =
        refused_.empty() ? "" : fmt::format("; refused: {}", Join(refused_, ", "));
    return connection_.MakeError(
        fmt::format("{}{} is encrypted and no agent has it{}", cannot, encrypted_.front(), others),
        fmt::format("load it into the agent: ssh-add {}", QuoteForShell(encrypted_.front())));
  }
  if (refused_.empty()) {
    std::vector<std::string> files = target.identities;
    files.insert(files.end(), target.default_identities.begin(), target.default_identities.end());
    return connection_.MakeError(
        fmt::format("{}there is no key to try (no agent, and none of {})", cannot,
                    Join(files, ", ")),
        "make one with ssh-keygen, or name its file as `identity` in `access`");
  }
  const std::string offered = OfferedMethods();
  if (offered.find("publickey") == std::string::npos) {
    return connection_.MakeError(
        fmt::format("{}no keys are taken there, only: {}", cannot, offered),
        "PubkeyAuthentication yes in its sshd_config; an apply uses no passwords");
  }
  const std::string port = target.port == 22 ? "" : fmt::format("-p {} ", target.port);
  return connection_.MakeError(fmt::format("{}refused: {}", cannot, Join(refused_, ", ")),
                               fmt::format("put the public key there: ssh-copy-id {}{}@{}", port,
                                           target.user, target.address));
}

}  // namespace

Result<void> CheckIdentity(const NodeSpec& node) {
  if (node.access.identity.empty()) return {};
  const std::string path = ExpandSshTokens(node.access.identity, SshTarget{});
  const auto fail = [&](std::string_view what) {
    return Fail(Error{
        .kind = ErrorKind::kTransport,
        .message = fmt::format("{}: the identity file {} {}", node.name, MakePrintable(path), what),
        .hint = "it is `identity` in `access` of the manifest"});
  };
  switch (LoadKey(path).kind) {
    case KeyFile::Kind::kMissing:
      return fail("does not exist");
    case KeyFile::Kind::kUnreadable:
      return fail("is no private key that can be read");
    case KeyFile::Kind::kUsable:
    case KeyFile::Kind::kEncrypted:
      break;
  }
  return {};
}

Result<void> LogIn(const SshConnection& connection, Deadline deadline) {
  const SshTarget& target = connection.Target();
  Login login(connection, deadline);
  std::vector<std::string> named = target.identities;
  if (!target.explicit_identity.empty()) named.insert(named.begin(), target.explicit_identity);
  const SigpipeBlock no_sigpipe;  // libssh writes to the agent without MSG_NOSIGNAL
  auto in = login.LogInWithFiles(named);
  if (in && !*in) in = login.LogInWithAgent();
  if (in && !*in) in = login.LogInWithFiles(target.default_identities);
  if (!in) return Fail(std::move(in.error()));
  if (!*in) return Fail(login.MakeRefusedError());
  return {};
}

}  // namespace reconciler
