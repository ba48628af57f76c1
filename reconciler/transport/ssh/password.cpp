#include "reconciler/transport/ssh/password.h"

#include <fmt/format.h>
#include <unistd.h>

#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/auth.h"
#include "reconciler/transport/ssh/connection.h"
#include "reconciler/transport/ssh/host_key.h"
#include "reconciler/transport/ssh/key_file.h"
#include "reconciler/transport/ssh/transport.h"

namespace reconciler {
namespace {

// Answers the one prompt of PAM for a password. What else it prompts for (a code, a new password)
// is no password of ours: `unanswered` is its text then.
Result<int> AnswerPrompt(const SshConnection& connection, const std::string& password,
                         Deadline deadline, std::string& unanswered) {
  ssh_session session = connection.Session();
  bool answered = false;
  for (;;) {
    auto answer = connection.Repeat([&] { return ssh_userauth_kbdint(session, nullptr, nullptr); },
                                    SSH_AUTH_AGAIN, deadline);
    if (!answer || *answer != SSH_AUTH_INFO) return answer;
    const int prompts = ssh_userauth_kbdint_getnprompts(session);
    for (int i = 0; i < prompts; ++i) {
      char echo = 0;
      const char* text = ssh_userauth_kbdint_getprompt(session, static_cast<unsigned>(i), &echo);
      if (answered || echo != 0) {
        unanswered = MakePrintable(Trim(text == nullptr ? "" : text));
        return SSH_AUTH_DENIED;
      }
      ssh_userauth_kbdint_setanswer(session, static_cast<unsigned>(i), password.c_str());
      answered = true;
    }
  }
}

Result<void> JudgePassword(const SshConnection& connection, int answer,
                           const std::string& unanswered) {
  if (answer == SSH_AUTH_SUCCESS) return {};
  const std::string cannot = fmt::format("cannot log in as {}: ", connection.Target().user);
  if (answer == SSH_AUTH_PARTIAL || !unanswered.empty()) {
    const std::string more =
        unanswered.empty() ? "another login method" : fmt::format("an answer to '{}'", unanswered);
    return Fail(
        connection.MakeError(fmt::format("{}besides the password {} is required", cannot, more),
                             "add the key at the machine itself"));
  }
  return Fail(connection.MakeError(
      cannot + "the password was refused",
      fmt::format("run it again and type it with care; it is the one of the account there, which "
                  "takes none while it is locked or expired: `passwd -S {}` there says so",
                  connection.Target().user)));
}

// nullopt: no login is needed.
Result<std::optional<int>> ListMethods(const SshConnection& connection, Deadline deadline) {
  ssh_session session = connection.Session();
  auto answer = connection.Repeat([&] { return ssh_userauth_none(session, nullptr); },
                                  SSH_AUTH_AGAIN, deadline);
  if (!answer) return Fail(std::move(answer.error()));
  if (*answer == SSH_AUTH_SUCCESS) return std::nullopt;
  if (!connection.Alive()) return Fail(connection.MakeLostError());
  return ssh_userauth_list(session, nullptr);
}

bool TakesPasswords(int methods) {
  return (methods & (SSH_AUTH_METHOD_PASSWORD | SSH_AUTH_METHOD_INTERACTIVE)) != 0;
}

Error MakeNoPasswordsError(const SshConnection& connection) {
  return connection.MakeError(
      fmt::format("cannot log in as {}: no passwords are taken there", connection.Target().user),
      "add the key at the machine itself, or set PasswordAuthentication yes in its sshd_config");
}

Result<void> LogInWithPassword(const SshConnection& connection, const std::string& password,
                               Deadline deadline) {
  ssh_session session = connection.Session();
  std::string unanswered;
  const auto methods = ListMethods(connection, deadline);
  if (!methods) return Fail(methods.error());
  if (!*methods) return {};
  if (!TakesPasswords(**methods)) return Fail(MakeNoPasswordsError(connection));
  Result<int> answer = SSH_AUTH_DENIED;
  if ((**methods & SSH_AUTH_METHOD_PASSWORD) != 0) {
    answer =
        connection.Repeat([&] { return ssh_userauth_password(session, nullptr, password.c_str()); },
                          SSH_AUTH_AGAIN, deadline);
  } else {
    answer = AnswerPrompt(connection, password, deadline, unanswered);
  }
  if (!answer) return Fail(std::move(answer.error()));
  return JudgePassword(connection, *answer, unanswered);
}

std::vector<std::string> ListKeyFiles(const SshTarget& target) {
  std::vector<std::string> files = target.identities;
  if (!target.explicit_identity.empty()) files.insert(files.begin(), target.explicit_identity);
  files.insert(files.end(), target.default_identities.begin(), target.default_identities.end());
  return files;
}

std::optional<OwnKey> FormatOwnKey(const std::string& file, ssh_key public_key) {
  char* base64 = nullptr;
  if (ssh_pki_export_pubkey_base64(public_key, &base64) != SSH_OK) return std::nullopt;
  return OwnKey{
      .line = fmt::format("{} {} spark-reconcile", ssh_key_type_to_char(ssh_key_type(public_key)),
                          CopySshString(base64)),
      .fingerprint = FormatKeyFingerprint(public_key),
      .file = file};
}

// A key that can be used as it is.
std::optional<OwnKey> ReadPlainKey(const std::string& path) {
  const KeyFile file = LoadKeyFile(path);
  if (file.kind != KeyFile::Kind::kUsable) return std::nullopt;
  ssh_key exported = nullptr;
  if (ssh_pki_export_privkey_to_pubkey(file.key.get(), &exported) != SSH_OK) return std::nullopt;
  const SshKey public_key(exported);
  return FormatOwnKey(path, public_key.get());
}

// One that only an agent can use.
std::optional<OwnKey> ReadAgentKey(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) return std::nullopt;
  const SshKey public_key = ReadPublicHalf(path);
  return public_key ? FormatOwnKey(path, public_key.get()) : std::nullopt;
}

// No password goes to a machine that is not known.
Result<std::shared_ptr<SshConnection>> OpenStrict(NodeSpec node) {
  node.access.host_keys = HostKeys::kStrict;
  auto connection = SshConnection::Open(node);
  if (!connection) return Fail(std::move(connection.error()));
  if (auto trusted = CheckHostKey(**connection); !trusted) return Fail(std::move(trusted.error()));
  return std::move(*connection);
}

Result<SshTarget> FindTarget(const NodeSpec& node) {
  const SshSession session(ssh_new());
  if (session) return ConfigureSession(session.get(), node);
  return Fail({.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: libssh cannot make a session", node.name)});
}

}  // namespace

Result<std::string> FindLoginUser(const NodeSpec& node) {
  if (node.access.transport == TransportKind::kLocal) return FindAccountName();
  const auto target = FindTarget(node);
  if (!target) return Fail(target.error());
  return target->user;
}

Result<OwnKey> FindOwnKey(const NodeSpec& node) {
  if (auto usable = CheckIdentity(node); !usable) return Fail(std::move(usable.error()));
  const auto target = FindTarget(node);
  if (!target) return Fail(target.error());
  const std::vector<std::string> files = ListKeyFiles(*target);
  for (const auto read : {ReadPlainKey, ReadAgentKey}) {
    for (const std::string& file : files) {
      if (auto key = read(file)) return std::move(*key);
    }
  }
  return Fail({.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: there is no key file to add: none of {}", node.name,
                                      Join(files, ", ")),
               .hint = "make one with ssh-keygen -t ed25519; one that only the agent has is added "
                       "with ssh-copy-id"});
}

Result<void> CheckKeyCanBeAdded(const NodeSpec& node) {
  const auto connection = OpenStrict(node);
  if (!connection) return Fail(connection.error());
  const auto methods = ListMethods(**connection, (*connection)->LoginDeadline());
  if (!methods) return Fail(methods.error());
  if (!*methods) return {};
  if ((**methods & SSH_AUTH_METHOD_PUBLICKEY) == 0) {
    return Fail((*connection)
                    ->MakeError(fmt::format("cannot log in as {}: no keys are taken there",
                                            (*connection)->Target().user),
                                "PubkeyAuthentication yes in its sshd_config; an apply uses no "
                                "passwords"));
  }
  if (!TakesPasswords(**methods)) return Fail(MakeNoPasswordsError(**connection));
  return {};
}

Result<std::unique_ptr<Transport>> DialWithPassword(const NodeSpec& node,
                                                    const std::string& password) {
  auto connection = OpenStrict(node);
  if (!connection) return Fail(std::move(connection.error()));
  const Deadline deadline = (*connection)->LoginDeadline();
  if (auto in = LogInWithPassword(**connection, password, deadline); !in) {
    return Fail(std::move(in.error()));
  }
  return MakeSshTransport(std::move(*connection));
}

}  // namespace reconciler
