#include "reconciler/transport/ssh/host_key.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/transport/revoked_keys.h"
#include "reconciler/transport/ssh/connection.h"

namespace reconciler {
namespace {

// What known_hosts says about one host, and the line that says it.
struct Verdict {
  enum class Kind { kUnknown, kKnown, kChanged, kRevoked } kind = Kind::kUnknown;
  SourceMark where = {};
  SshKey known = {};  // kChanged: the key on that line
};

std::string Describe(ssh_key key) {
  return fmt::format("{} {}", ssh_key_type_to_char(ssh_key_type(key)), FormatKeyFingerprint(key));
}

std::string FormatMachineFile(ssh_key key) {
  std::string kind = ssh_key_type_to_char(ssh_key_type(key));
  kind = kind.starts_with("ecdsa") ? "ecdsa" : kind.starts_with("ssh-") ? kind.substr(4) : kind;
  return fmt::format("/etc/ssh/ssh_host_{}_key.pub", kind);
}

// The name under which known_hosts has the target: its alias as it is, else "[host]:port" when the
// port is not 22.
std::string FormatKnownHostsName(const SshTarget& target) {
  const bool has_alias = !target.host_key_alias.empty();
  std::string host = has_alias ? target.host_key_alias : target.host;
  std::transform(host.begin(), host.end(), host.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return has_alias || target.port == 22 ? host : fmt::format("[{}]:{}", host, target.port);
}

std::vector<std::string> ListKnownHostsFiles(const SshTarget& target) {
  std::vector<std::string> files = {target.known_hosts};
  files.insert(files.end(), target.other_known_hosts.begin(), target.other_known_hosts.end());
  return files;
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

// A line of known_hosts about one host.
struct KnownLine {
  int number = 0;
  bool revoked = false;
  SshKnownHost entry = {};
  std::string key = {};  // what follows the names
};

// A name that begins with "!" takes the host out, whatever else the line names. libssh looks at
// each name alone.
bool IsExcluded(const std::string& known_as, std::string_view line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::vector<std::string> names = Split(line.substr(0, end), ',');
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name.starts_with('!') &&
           ParseLine(known_as, name.substr(1) + std::string(line.substr(end))) != nullptr;
  });
}

// Line by line, since libssh's own check reports no line numbers and skips revoked keys.
std::vector<KnownLine> ReadKnownLines(const std::string& path, const std::string& known_as) {
  constexpr std::string_view kRevoked = "@revoked ";
  std::vector<KnownLine> lines;
  std::ifstream file(path);
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    // libssh splits at blanks alone, and OpenSSH at tabs too.
    std::replace(text.begin(), text.end(), '\t', ' ');
    std::string_view line = Trim(text);
    const bool revoked = line.starts_with(kRevoked);
    if (revoked) line = Trim(line.substr(kRevoked.size()));
    if (line.empty() || line.front() == '#' || line.front() == '@') continue;
    SshKnownHost entry = ParseLine(known_as, line);
    if (!entry || IsExcluded(known_as, line)) continue;
    lines.push_back({number, revoked, std::move(entry),
                     std::string(line.substr(std::min(line.find(' '), line.size())))});
  }
  return lines;
}

// Of the lines with other keys the first of the offered type counts: that key was replaced.
void Consult(const std::string& path, const std::string& known_as, ssh_key offered,
             Verdict& verdict) {
  for (const auto& [number, revoked, entry, text] : ReadKnownLines(path, known_as)) {
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
  for (const std::string& file : ListKnownHostsFiles(connection.Target())) {
    if (const auto why = ExplainUnreadableFile(file)) {
      return connection.MakeError(
          fmt::format("the host key cannot be checked: {}: {}", file, *why),
          "known_hosts is a file with one host key on each line: make it one that you can read");
    }
  }
  return std::nullopt;
}

Error MakeUnknownKeyError(const SshConnection& connection, const HostKey& key) {
  return connection.MakeError(
      fmt::format("the host key is not known: {} {}", key.type, key.fingerprint),
      fmt::format("compare it with what the machine itself prints for 'ssh-keygen -lf {}', then "
                  "add it with `spark-reconcile trust`, or set host_keys: accept-new",
                  key.machine_file));
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

Error MakeRevokedKeyError(const SshConnection& connection, ssh_key key, SourceMark where,
                          std::string hint) {
  Error error = connection.MakeError(fmt::format("the host key is revoked: {}", Describe(key)),
                                     std::move(hint));
  error.where = std::move(where);
  return error;
}

// "ssh-ed25519 AAAA…".
std::string FormatPublicKey(ssh_key key) {
  char* encoded = nullptr;
  ssh_pki_export_pubkey_base64(key, &encoded);
  return fmt::format("{} {}", ssh_key_type_to_char(ssh_key_type(key)), CopySshString(encoded));
}

// Why RevokedHostKeys refuses the key. As in OpenSSH, a file that cannot be read refuses every key.
std::optional<Error> FindRevocation(const SshConnection& connection, ssh_key key) {
  for (const std::string& file : connection.Target().revoked_host_keys) {
    auto where = FindRevokedKey(file, FormatPublicKey(key), connection.LoginDeadline());
    if (!where) {
      return connection.MakeError(
          "the host key cannot be checked: " + where.error().message,
          "RevokedHostKeys of the ssh configuration names that file: no host key is accepted until "
          "it can be read");
    }
    if (*where) {
      return MakeRevokedKeyError(
          connection, key, std::move(**where),
          "RevokedHostKeys of the ssh configuration names that file: others may have a key that is "
          "in it, so the machine needs a new one");
    }
  }
  return std::nullopt;
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

HostKey MakeHostKey(const SshConnection& connection, ssh_key key) {
  const SshTarget& target = connection.Target();
  return {.place = target.place,
          .type = ssh_key_type_to_char(ssh_key_type(key)),
          .fingerprint = FormatKeyFingerprint(key),
          .machine_file = FormatMachineFile(key),
          .known_hosts = target.known_hosts,
          .line = fmt::format("{} {}\n", FormatKnownHostsName(target), FormatPublicKey(key))};
}

Result<HostKey> JudgeHostKey(const SshConnection& connection) {
  ssh_key raw = nullptr;
  if (ssh_get_server_publickey(connection.Session(), &raw) != SSH_OK) {
    return Fail(connection.MakeLostError());
  }
  const SshKey key(raw);
  if (auto revoked = FindRevocation(connection, key.get())) return Fail(std::move(*revoked));
  const SshTarget& target = connection.Target();
  Verdict verdict;
  for (const std::string& file : ListKnownHostsFiles(target)) {
    if (verdict.kind != Verdict::Kind::kRevoked)
      Consult(file, FormatKnownHostsName(target), key.get(), verdict);
  }
  HostKey found = MakeHostKey(connection, key.get());
  switch (verdict.kind) {
    case Verdict::Kind::kKnown:
      found.known = true;
      return found;
    case Verdict::Kind::kChanged:
      return Fail(MakeChangedKeyError(connection, key.get(), verdict));
    case Verdict::Kind::kRevoked:
      return Fail(MakeRevokedKeyError(connection, key.get(), verdict.where,
                                      "the machine needs a new host key"));
    case Verdict::Kind::kUnknown:
      break;
  }
  if (auto unreadable = FindUnreadableFile(connection)) return Fail(std::move(*unreadable));
  return found;
}

}  // namespace

Result<HostKey> ReadHostKey(const NodeSpec& node) {
  const auto connection = SshConnection::Open(node);
  if (!connection) return Fail(connection.error());
  return JudgeHostKey(**connection);
}

Result<void> AddHostKey(const HostKey& key) {
  const auto failed = Append(key.known_hosts, key.line);
  if (!failed) return {};
  return Fail({.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: cannot add the host key to {}: {}", key.place,
                                      key.known_hosts, *failed)});
}

UniqueFd RequestKnownKinds(ssh_session session, const SshTarget& target) {
  // libssh needs a name to look for, and none else: the socket and the check of the key are ours.
  constexpr const char* kName = "node";
  constexpr unsigned int kPort = 22;  // with another one the name would be "[node]:port"
  std::string known;
  for (const std::string& file : ListKnownHostsFiles(target)) {
    for (const KnownLine& line : ReadKnownLines(file, FormatKnownHostsName(target))) {
      if (!line.revoked) known += kName + line.key + '\n';
    }
  }
  UniqueFd file(memfd_create("known_hosts", MFD_CLOEXEC));
  const bool written = write(file.Get(), known.data(), known.size()) >= 0;
  const std::string path =
      written ? fmt::format("/proc/self/fd/{}", file.Get()) : std::string("/dev/null");
  ssh_options_set(session, SSH_OPTIONS_HOST, kName);
  ssh_options_set(session, SSH_OPTIONS_PORT, &kPort);
  ssh_options_set(session, SSH_OPTIONS_KNOWNHOSTS, path.c_str());
  ssh_options_set(session, SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
  return file;
}

Result<void> CheckHostKey(const SshConnection& connection) {
  const auto key = JudgeHostKey(connection);
  if (!key) return Fail(key.error());
  if (key->known) return {};
  if (connection.Node().access.host_keys == HostKeys::kAcceptNew) return AddHostKey(*key);
  return Fail(MakeUnknownKeyError(connection, *key));
}

}  // namespace reconciler
