#include "reconciler/transport/ssh/host_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

// What known_hosts says about one host, and the line that says it.
struct Verdict {
  enum class Kind { kUnknown, kKnown, kChanged, kRevoked } kind = Kind::kUnknown;
  SourceMark where = {};
  SshKey known = {};  // kChanged: the key on that line
};

std::string Describe(ssh_key key) {
  unsigned char* hash = nullptr;
  std::size_t size = 0;
  if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != SSH_OK) return "?";
  const std::string fingerprint =
      CopySshString(ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size));
  ssh_clean_pubkey_hash(&hash);
  return fmt::format("{} {}", ssh_key_type_to_char(ssh_key_type(key)), fingerprint);
}

// The name under which known_hosts has the target: "[host]:port" when the port is not 22.
std::string FormatKnownHostsName(const SshTarget& target) {
  std::string host = target.host;
  std::transform(host.begin(), host.end(), host.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return target.port == 22 ? host : fmt::format("[{}]:{}", host, target.port);
}

SshKnownHost ParseLine(const std::string& known_as, std::string_view line) {
  ssh_knownhosts_entry* entry = nullptr;
  const int rc = ssh_known_hosts_parse_line(known_as.c_str(), std::string(line).c_str(), &entry);
  return SshKnownHost(rc == SSH_OK ? entry : nullptr);
}

// Why nothing can be read there; no file is no reason.
std::optional<std::string> ExplainUnreadableFile(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return std::generic_category().message(errno);
  }
  if (S_ISDIR(found.st_mode)) return "wanted a file, found a folder";
  if (access(path.c_str(), R_OK) != 0) return std::generic_category().message(errno);
  return std::nullopt;
}

// Line by line, since libssh's own check reports no line numbers and skips revoked keys. Of the
// lines with other keys the first of the offered type counts: that key was replaced.
void Consult(const std::string& path, const std::string& known_as, ssh_key offered,
             Verdict& verdict) {
  constexpr std::string_view kRevoked = "@revoked ";
  std::ifstream file(path);
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    std::string_view line = Trim(text);
    const bool revoked = line.starts_with(kRevoked);
    if (revoked) line = Trim(line.substr(kRevoked.size()));
    if (line.empty() || line.front() == '#' || line.front() == '@') continue;
    const SshKnownHost entry = ParseLine(known_as, line);
    if (!entry) continue;
    const bool same = ssh_key_cmp(entry->publickey, offered, SSH_KEY_CMP_PUBLIC) == 0;
    const SourceMark where{path, {number, 0}};
    if (revoked && same) {
      verdict = {Verdict::Kind::kRevoked, where, {}};
      return;
    }
    if (revoked) continue;
    if (same) {
      verdict = {Verdict::Kind::kKnown, where, {}};
    } else if (verdict.kind == Verdict::Kind::kUnknown ||
               (verdict.kind == Verdict::Kind::kChanged &&
                ssh_key_type(entry->publickey) == ssh_key_type(offered) &&
                ssh_key_type(verdict.known.get()) != ssh_key_type(offered))) {
      verdict = {Verdict::Kind::kChanged, where, SshKey(ssh_key_dup(entry->publickey))};
    }
  }
}

// A key that is not known where nothing can be read may well be known.
std::optional<Error> FindUnreadableFile(const SshConnection& connection) {
  const SshTarget& target = connection.Target();
  for (const std::string& file : {target.known_hosts, target.global_known_hosts}) {
    if (const auto why = ExplainUnreadableFile(file)) {
      return connection.MakeError(
          fmt::format("the host key cannot be checked: {}: {}", file, *why),
          "known_hosts is a file with one host key on each line: make it one that you can read");
    }
  }
  return std::nullopt;
}

Error MakeUnknownKeyError(const SshConnection& connection, ssh_key key) {
  const SshTarget& target = connection.Target();
  std::string kind = ssh_key_type_to_char(ssh_key_type(key));
  kind = kind.starts_with("ecdsa") ? "ecdsa" : kind.starts_with("ssh-") ? kind.substr(4) : kind;
  const std::string port = target.port == 22 ? "" : fmt::format("-p {} ", target.port);
  return connection.MakeError(
      fmt::format("the host key is not known: {}", Describe(key)),
      fmt::format("compare it with what the machine itself prints for 'ssh-keygen -lf "
                  "/etc/ssh/ssh_host_{}_key.pub', then accept it once with 'ssh {}{}@{}', or set "
                  "host_keys: accept-new",
                  kind, port, target.user, target.address));
}

Error MakeChangedKeyError(const SshConnection& connection, ssh_key key, Verdict& verdict) {
  Error error = connection.MakeError(
      fmt::format("the host key changed: {} is offered, {} is known", Describe(key),
                  Describe(verdict.known.get())),
      fmt::format("another machine may be in between; if the machine was reinstalled, remove the "
                  "old key with: ssh-keygen -f {} -R {}",
                  QuoteForShell(verdict.where.file),
                  QuoteForShell(FormatKnownHostsName(connection.Target()))));
  error.where = verdict.where;
  return error;
}

Error MakeRevokedKeyError(const SshConnection& connection, ssh_key key, const Verdict& verdict) {
  Error error = connection.MakeError(fmt::format("the host key is revoked: {}", Describe(key)),
                                     "the machine needs a new host key");
  error.where = verdict.where;
  return error;
}

// One write() in append mode: lines of several nodes at once do not mix.
std::optional<std::string> Append(const std::string& path, const std::string& line) {
  std::error_code ignored;
  const std::string folder = std::filesystem::path(path).parent_path();
  if (!std::filesystem::exists(folder, ignored)) mkdir(folder.c_str(), 0700);
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.Open()) return std::generic_category().message(errno);
  char last = '\n';
  const off_t end = lseek(file.Get(), 0, SEEK_END);
  if (end > 0) (void)!pread(file.Get(), &last, 1, end - 1);
  const std::string bytes = (last == '\n' ? "" : "\n") + line;
  const ssize_t written = write(file.Get(), bytes.data(), bytes.size());
  if (written == static_cast<ssize_t>(bytes.size())) return std::nullopt;
  return std::generic_category().message(written < 0 ? errno : ENOSPC);
}

Result<void> Accept(const SshConnection& connection, ssh_key key) {
  const SshTarget& target = connection.Target();
  char* encoded = nullptr;
  ssh_pki_export_pubkey_base64(key, &encoded);
  const std::string line =
      fmt::format("{} {} {}\n", FormatKnownHostsName(target),
                  ssh_key_type_to_char(ssh_key_type(key)), CopySshString(encoded));
  if (auto failed = Append(target.known_hosts, line)) {
    return Fail(connection.MakeError(
        fmt::format("cannot add the host key to {}: {}", target.known_hosts, *failed)));
  }
  return {};
}

}  // namespace

Result<void> CheckHostKey(const SshConnection& connection) {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(connection.Session(), &raw) != SSH_OK) {
    return Fail(connection.MakeLostError());
  }
  const SshKey key(raw);
  const SshTarget& target = connection.Target();
  Verdict verdict;
  for (const std::string& file : {target.known_hosts, target.global_known_hosts}) {
    if (verdict.kind != Verdict::Kind::kRevoked)
      Consult(file, FormatKnownHostsName(target), key.get(), verdict);
  }
  switch (verdict.kind) {
    case Verdict::Kind::kKnown:
      return {};
    case Verdict::Kind::kChanged:
      return Fail(MakeChangedKeyError(connection, key.get(), verdict));
    case Verdict::Kind::kRevoked:
      return Fail(MakeRevokedKeyError(connection, key.get(), verdict));
    case Verdict::Kind::kUnknown:
      break;
  }
  if (auto unreadable = FindUnreadableFile(connection)) return Fail(std::move(*unreadable));
  if (connection.Node().access.host_keys == HostKeys::kAcceptNew)
    return Accept(connection, key.get());
  return Fail(MakeUnknownKeyError(connection, key.get()));
}

}  // namespace reconciler
