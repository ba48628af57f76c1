#include "reconciler/transport/ssh/password.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/auth.h"
#include "reconciler/transport/ssh/connection.h"
#include "reconciler/transport/ssh/host_key.h"
#include "reconciler/transport/ssh/transport.h"

namespace reconciler {
namespace {

// Answers each prompt that does not echo with the password, as PAM prompts for one.
Result<int> AnswerPrompts(const SshConnection& connection, const std::string& password,
                          Deadline deadline) {
  ssh_session session = connection.Session();
  for (;;) {
    auto answer = connection.Repeat([&] { return ssh_userauth_kbdint(session, nullptr, nullptr); },
                                    SSH_AUTH_AGAIN, deadline);
    if (!answer || *answer != SSH_AUTH_INFO) return answer;
    const int prompts = ssh_userauth_kbdint_getnprompts(session);
    for (int i = 0; i < prompts; ++i) {
      char echo = 0;
      ssh_userauth_kbdint_getprompt(session, static_cast<unsigned>(i), &echo);
      if (echo != 0) return SSH_AUTH_DENIED;  // not a password: a code that is shown, or a question
      ssh_userauth_kbdint_setanswer(session, static_cast<unsigned>(i), password.c_str());
    }
  }
}

Result<void> LogInWithPassword(const SshConnection& connection, const std::string& password,
                               Deadline deadline) {
  ssh_session session = connection.Session();
  const std::string& user = connection.Target().user;
  auto answer = connection.Repeat([&] { return ssh_userauth_none(session, nullptr); },
                                  SSH_AUTH_AGAIN, deadline);
  if (!answer) return Fail(std::move(answer.error()));
  const int methods = ssh_userauth_list(session, nullptr);
  if (*answer != SSH_AUTH_SUCCESS && (methods & SSH_AUTH_METHOD_PASSWORD) != 0) {
    answer =
        connection.Repeat([&] { return ssh_userauth_password(session, nullptr, password.c_str()); },
                          SSH_AUTH_AGAIN, deadline);
  } else if (*answer != SSH_AUTH_SUCCESS && (methods & SSH_AUTH_METHOD_INTERACTIVE) != 0) {
    answer = AnswerPrompts(connection, password, deadline);
  } else if (*answer != SSH_AUTH_SUCCESS) {
    return Fail(connection.MakeError(
        fmt::format("cannot log in as {}: no passwords are taken there", user),
        "add the key at the machine itself, or set PasswordAuthentication yes in its sshd_config"));
  }
  if (!answer) return Fail(std::move(answer.error()));
  if (*answer == SSH_AUTH_SUCCESS) return {};
  return Fail(connection.MakeError(
      fmt::format("cannot log in as {}: the password was refused", user),
      "run it again and type it with care; it is the one of the account there"));
}

std::vector<std::string> ListKeyFiles(const SshTarget& target) {
  std::vector<std::string> files = target.identities;
  if (!target.explicit_identity.empty()) files.insert(files.begin(), target.explicit_identity);
  files.insert(files.end(), target.default_identities.begin(), target.default_identities.end());
  return files;
}

// The file beside the private key, which is there for an encrypted one too; else from that itself.
std::optional<OwnKey> ReadOwnKey(const std::string& file) {
  ssh_key key = nullptr;
  OwnKey own{.file = file + ".pub"};
  if (ssh_pki_import_pubkey_file(own.file.c_str(), &key) != SSH_OK) {
    own.file = file;
    ssh_key secret = nullptr;
    const auto no_passphrase = [](const char*, char*, std::size_t, int, int, void*) { return -1; };
    if (ssh_pki_import_privkey_file(file.c_str(), nullptr, no_passphrase, nullptr, &secret) !=
        SSH_OK)
      return std::nullopt;
    const SshKey owner(secret);
    if (ssh_pki_export_privkey_to_pubkey(secret, &key) != SSH_OK) return std::nullopt;
  }
  const SshKey owner(key);
  char* base64 = nullptr;
  if (ssh_pki_export_pubkey_base64(key, &base64) != SSH_OK) return std::nullopt;
  own.line = fmt::format("{} {} spark-reconcile", ssh_key_type_to_char(ssh_key_type(key)),
                         CopySshString(base64));
  own.fingerprint = FormatKeyFingerprint(key);
  return own;
}

}  // namespace

Result<OwnKey> FindOwnKey(const NodeSpec& node) {
  if (auto usable = CheckIdentity(node); !usable) return Fail(std::move(usable.error()));
  const SshSession session(ssh_new());
  if (!session) {
    return Fail({.kind = ErrorKind::kTransport,
                 .message = fmt::format("{}: libssh cannot make a session", node.name)});
  }
  const auto target = ConfigureSession(session.get(), node);
  if (!target) return Fail(target.error());
  for (const std::string& file : ListKeyFiles(*target)) {
    if (auto key = ReadOwnKey(file)) {
      key->user = target->user;
      return std::move(*key);
    }
  }
  return Fail({.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: there is no key to add: none of {}", node.name,
                                      Join(ListKeyFiles(*target), ", ")),
               .hint = "make one: ssh-keygen -t ed25519"});
}

Result<std::unique_ptr<Transport>> DialWithPassword(const NodeSpec& node,
                                                    const std::string& password) {
  const Deadline deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(node.access.connect_timeout_s);
  NodeSpec strict = node;
  strict.access.host_keys = HostKeys::kStrict;  // no password goes to a machine that is not known
  auto connection = SshConnection::Open(strict, deadline);
  if (!connection) return Fail(std::move(connection.error()));
  if (auto trusted = CheckHostKey(**connection); !trusted) return Fail(std::move(trusted.error()));
  if (auto in = LogInWithPassword(**connection, password, deadline); !in) {
    return Fail(std::move(in.error()));
  }
  return MakeSshTransport(std::move(*connection));
}

}  // namespace reconciler
