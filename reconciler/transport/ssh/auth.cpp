#include "reconciler/transport/ssh/auth.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "reconciler/base/text.h"
#include "reconciler/transport/ssh/agent.h"
#include "reconciler/transport/ssh/key_file.h"

namespace reconciler {
namespace {

// An agent that takes longer to list its keys may be busy: the other key files are tried meanwhile.
constexpr std::chrono::seconds kAgentLimit{2};

// A key of the agent, as it is offered.
struct AgentOffer {
  AgentKey key = {};
  std::string file = {};  // the key file that it belongs to; empty: none that is known
};

// A key file that only an agent can use.
struct AgentFile {
  std::string path = {};
  KeyFile::Kind kind = KeyFile::Kind::kEncrypted;
  std::string public_half = {};  // see KeyFile
};

// One attempt to log in, with a memory of what was tried for the error at the end.
class Login {
 public:
  Login(const SshConnection& connection, Deadline deadline)
      : connection_(connection), deadline_(deadline) {}

  // true: logged in. An error: no further attempt makes sense. No key is offered twice.
  Result<bool> LogInWithFiles(const std::vector<std::string>& paths);
  // With the keys of `files` first, in their order: sshd ends a login after a few keys. The agent
  // has to list its keys by `limit`.
  Result<bool> LogInWithAgent(const std::vector<std::string>& files, Deadline limit);
  bool AgentIsSilent() const { return agent_is_silent_; }  // it did not by that limit
  Error MakeRefusedError() const;

 private:
  Result<bool> Judge(const Result<int>& answer);
  Result<bool> OfferThrough(AgentRelay& relay);
  std::vector<AgentOffer> ListOffers(const std::vector<std::string>& files);
  void AddTried(const std::vector<AgentOffer>& offers);
  const AgentFile* FindLackedByAgent() const;
  Error MakeBrokenError() const;
  Error MakeSilentAgentError(std::string_view what) const;
  Error MakeLackedByAgentError(const AgentFile& file) const;
  std::string OfferedMethods() const;

  const SshConnection& connection_;
  Deadline deadline_;
  std::vector<AgentKey> agent_keys_ = {};
  bool agent_is_silent_ = false;
  bool agent_refused_ = false;           // to sign
  std::set<std::string> offered_ = {};   // public halves
  std::vector<std::string> tried_ = {};  // where these keys are, for messages
  std::vector<AgentFile> for_agent_ = {};
};

// Its last line, printable. What PAM says of a node or an account that takes no login now comes as
// a banner, just before sshd closes the connection; a `Banner` of sshd_config comes with each
// login. Empty: there was none.
std::string ReadBanner(ssh_session session) {
  return FindLastLine(CopySshString(ssh_get_issue_banner(session)));
}

Error Login::MakeBrokenError() const {
  if (connection_.LastMessage().find("Too many authentication failures") != std::string::npos) {
    return connection_.MakeError(fmt::format("cannot log in as {}: too many keys were tried ({})",
                                             connection_.Target().user, Join(tried_, ", ")),
                                 "name the right key file as `identity` in `access`");
  }
  const std::string banner = ReadBanner(connection_.Session());
  if (banner.empty()) return connection_.MakeLostError();
  Error error = connection_.MakeLostError(
      fmt::format("the last message of sshd in the login as {} is '{}', and then ",
                  connection_.Target().user, banner));
  error.hint =
      "if that message is about the login: a node that is starting or stopping lets in only root, "
      "and an account may be locked or expired";
  return error;
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
    KeyFile file = LoadKeyFile(path);
    switch (file.kind) {
      case KeyFile::Kind::kMissing:
      case KeyFile::Kind::kUnreadable:
        continue;
      case KeyFile::Kind::kEncrypted:
      case KeyFile::Kind::kSecurityKey:
      case KeyFile::Kind::kPublic:
        for_agent_.push_back({path, file.kind, std::move(file.public_half)});
        continue;
      case KeyFile::Kind::kUsable:
        break;
    }
    if (!offered_.insert(file.public_half).second) continue;
    tried_.push_back(path);
    auto in = Judge(connection_.Repeat(
        [&] { return ssh_userauth_publickey(connection_.Session(), nullptr, file.key.get()); },
        SSH_AUTH_AGAIN, deadline_));
    if (!in || *in) return in;
  }
  return false;
}

std::vector<AgentOffer> Login::ListOffers(const std::vector<std::string>& files) {
  std::vector<AgentOffer> offers;
  const auto add = [&](const AgentKey& key, const std::string& file) {
    if (offered_.insert(key.public_half).second) offers.push_back({key, file});
  };
  for (const std::string& file : files) {
    const std::string public_half = LoadKeyFile(file).public_half;
    for (const AgentKey& key : agent_keys_) {
      if (key.public_half == public_half) add(key, file);
    }
  }
  for (const AgentKey& key : agent_keys_) add(key, "");
  return offers;
}

void Login::AddTried(const std::vector<AgentOffer>& offers) {
  std::size_t unnamed = 0;
  for (const AgentOffer& offer : offers) {
    if (offer.file.empty()) {
      ++unnamed;
    } else {
      tried_.push_back(offer.file + " (in the agent)");
    }
  }
  if (unnamed == 0) return;
  tried_.push_back(
      unnamed == offers.size()
          ? FormatPlural(unnamed, "key of the agent", "keys of the agent")
          : FormatPlural(unnamed, "other key of the agent", "other keys of the agent"));
}

// libssh gives up at a signature that the agent refuses: then again, with the keys behind that one.
Result<bool> Login::OfferThrough(AgentRelay& relay) {
  for (;;) {
    auto in =
        Judge(connection_.Repeat([&] { return ssh_userauth_agent(connection_.Session(), nullptr); },
                                 SSH_AUTH_AGAIN, deadline_));
    if (in && *in) return in;
    switch (relay.TakeLastSigning()) {
      case AgentRelay::Signing::kTooLate:
        return Fail(MakeSilentAgentError("sign"));
      case AgentRelay::Signing::kRefused:
        agent_refused_ = true;
        offered_.erase(relay.LastRefused());  // the file of that key may have it as well
        if (!in) return in;
        break;
      case AgentRelay::Signing::kNone:
      case AgentRelay::Signing::kSigned:
        return in;
    }
  }
}

Result<bool> Login::LogInWithAgent(const std::vector<std::string>& files, Deadline limit) {
  limit = std::min(limit, deadline_);
  auto agent = SshAgent::Connect(connection_.Target().agent, limit, agent_is_silent_);
  if (agent_is_silent_ && ComputeMillisecondsLeft(deadline_) == 0) {
    return Fail(MakeSilentAgentError("answer"));
  }
  if (!agent) return false;
  agent_keys_ = agent->Keys();
  const std::vector<AgentOffer> offers = ListOffers(files);
  if (offers.empty()) return false;
  AddTried(offers);
  std::vector<AgentKey> keys;
  for (const AgentOffer& offer : offers) keys.push_back(offer.key);
  AgentRelay relay(std::move(*agent), std::move(keys), deadline_);
  if (!relay.Serve(connection_.Session())) return false;
  return OfferThrough(relay);
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

// Also one whose public half is not known, though the agent may have it.
const AgentFile* Login::FindLackedByAgent() const {
  const auto lacked =
      std::find_if(for_agent_.begin(), for_agent_.end(), [&](const AgentFile& file) {
        return std::none_of(agent_keys_.begin(), agent_keys_.end(), [&](const AgentKey& key) {
          return key.public_half == file.public_half;
        });
      });
  return lacked == for_agent_.end() ? nullptr : &*lacked;
}

Error Login::MakeSilentAgentError(std::string_view what) const {
  return connection_.MakeError(
      fmt::format("cannot log in as {}: the agent did not {} within {} s",
                  connection_.Target().user, what, connection_.Node().access.connect_timeout_s),
      "does it wait for a touch or a confirmation? The limit is `connect_timeout_s` in `access`");
}

Error Login::MakeLackedByAgentError(const AgentFile& file) const {
  const std::string cannot = fmt::format("cannot log in as {}: ", connection_.Target().user);
  const std::string others = tried_.empty() ? "" : fmt::format("; refused: {}", Join(tried_, ", "));
  const std::string quoted = QuoteForShell(file.path);
  if (file.public_half.empty() && !agent_keys_.empty()) {
    return connection_.MakeError(
        fmt::format("{}{} is encrypted, and no .pub file beside it says whether the agent has it{}",
                    cannot, file.path, others),
        fmt::format("make that file: ssh-keygen -y -f {} >{}", quoted,
                    QuoteForShell(file.path + ".pub")));
  }
  if (file.kind == KeyFile::Kind::kPublic) {
    return connection_.MakeError(
        fmt::format("{}{} is a public key and no agent has its private half{}", cannot, file.path,
                    others),
        "load the private half into the agent with ssh-add, or name the file of that half instead");
  }
  const std::string_view what =
      file.kind == KeyFile::Kind::kSecurityKey ? "a security key" : "encrypted";
  return connection_.MakeError(
      fmt::format("{}{} is {} and no agent has it{}", cannot, file.path, what, others),
      fmt::format("load it into the agent: ssh-add {}", quoted));
}

Error Login::MakeRefusedError() const {
  const SshTarget& target = connection_.Target();
  const std::string cannot = fmt::format("cannot log in as {}: ", target.user);
  if (agent_refused_) {
    return connection_.MakeError(
        cannot + "the agent refused to sign with a key that is accepted there",
        "is it locked, or does it want a confirmation that it cannot prompt for?");
  }
  if (const AgentFile* lacked = FindLackedByAgent()) return MakeLackedByAgentError(*lacked);
  if (tried_.empty()) {
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
  return connection_.MakeError(fmt::format("{}refused: {}", cannot, Join(tried_, ", ")),
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
  switch (LoadKeyFile(path).kind) {
    case KeyFile::Kind::kMissing:
      return fail("does not exist");
    case KeyFile::Kind::kUnreadable:
      return fail("is no private key that can be read");
    case KeyFile::Kind::kUsable:
    case KeyFile::Kind::kEncrypted:
    case KeyFile::Kind::kSecurityKey:
    case KeyFile::Kind::kPublic:
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
  std::vector<std::string> files = named;
  files.insert(files.end(), target.default_identities.begin(), target.default_identities.end());
  auto in = login.LogInWithFiles(named);
  if (in && !*in) {
    in = login.LogInWithAgent(files, std::chrono::steady_clock::now() + kAgentLimit);
  }
  if (in && !*in) in = login.LogInWithFiles(target.default_identities);
  if (in && !*in && login.AgentIsSilent()) in = login.LogInWithAgent(files, deadline);
  if (!in) return Fail(std::move(in.error()));
  if (!*in) return Fail(login.MakeRefusedError());
  return {};
}

}  // namespace reconciler
