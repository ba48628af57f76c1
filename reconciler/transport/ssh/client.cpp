#include "reconciler/transport/ssh/client.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "reconciler/base/text.h"
#include "reconciler/transport/posix.h"
#include "reconciler/transport/ssh/config.h"
#include "reconciler/transport/text_file.h"

namespace reconciler {
namespace {

constexpr std::size_t kMostPrinted = 256u << 10;  // bytes; ssh prints about 10 KiB

// How OpenSSH's client refuses an included file that neither this user nor root owns, or that
// others may write.
constexpr std::string_view kBadOwner = ": Bad owner or permissions on ";

// The file that is run as `ssh`; empty: none is installed.
std::string FindClient() {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : Split(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    std::string file = folder + "/ssh";
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

bool HasUnreportedSystemConfig() {
  std::vector<std::string> files = {kGlobalConfig};
  std::error_code failed;
  auto entry = std::filesystem::directory_iterator("/etc/ssh/ssh_config.d", failed);
  while (!failed && entry != std::filesystem::directory_iterator()) {
    files.push_back(entry->path());
    entry.increment(failed);
  }
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    return HasUnreportedKeyword(ReadTextFile(file).value_or(""));
  });
}

// A file in memory: what a program wrote there can be read once it ended.
UniqueFd MakeMemoryFile() { return UniqueFd(memfd_create("ssh-config", MFD_CLOEXEC)); }

std::string ReadMemoryFile(const UniqueFd& file) {
  std::string text(kMostPrinted, '\0');
  const ssize_t size = pread(file.Get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

Error MakeConfigError(const NodeSpec& node, std::string_view what, std::string hint = {}) {
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: {}", node.name, what),
               .hint = std::move(hint)};
}

Result<std::string> RunClient(const NodeSpec& node, const std::vector<std::string>& argv,
                              const std::string& input, Deadline deadline) {
  const UniqueFd in = MakeMemoryFile();
  const UniqueFd out = MakeMemoryFile();
  const UniqueFd err = MakeMemoryFile();
  if (!in.Open() || !out.Open() || !err.Open() ||
      write(in.Get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) {
    return Fail(MakeConfigError(node, std::generic_category().message(errno)));
  }
  auto child = Child::Spawn(argv, {in.Get(), out.Get(), err.Get()});
  if (!child) return Fail(MakeConfigError(node, child.error().message));
  const std::optional<int> code = child->Wait(deadline);
  if (!code) {
    return Fail(MakeConfigError(
        node,
        fmt::format("ssh did not read its configuration within {} s",
                    node.access.connect_timeout_s),
        "a command of `Match exec` there, or a name that it looks up, takes that long"));
  }
  if (*code == 0) return ReadMemoryFile(out);
  std::string why = FormatClientError(ReadMemoryFile(err), FindHomeDirectory() + "/.ssh/config");
  if (why.empty()) why = fmt::format("exit {}", *code);
  return Fail(MakeConfigError(node, "ssh cannot read its configuration: " + why,
                              "OpenSSH's `ssh` refuses it as well: correct that file"));
}

// What no file sets: the same for all nodes. Empty: the program is not OpenSSH's client.
std::string PrintDefaults(const NodeSpec& node, Deadline deadline) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;  // by program
  const std::lock_guard<std::mutex> lock(mutex);
  std::string& defaults = known[FindClient()];
  if (defaults.empty()) {
    const auto printed = RunClient(node, {"ssh", "-F", "none", "-G", "localhost"}, "", deadline);
    const bool is_openssh = printed && ('\n' + *printed).find("\nhostname ") != std::string::npos;
    if (is_openssh) defaults = *printed;
  }
  return defaults;
}

// OpenSSH's client finds files by the account and not by $HOME: of these paths it returns "~" as
// the account's home.
void MoveToHome(std::string& path) {
  const std::string account = FindAccountHome() + "/";
  const std::string home = FindHomeDirectory() + "/";  // may be below the account's
  if (path.starts_with(account) && !path.starts_with(home)) {
    path = home + path.substr(account.size());
  }
}

}  // namespace

bool ReadsWithClient() {
  const std::string config = FindHomeDirectory() + "/.ssh/config";
  return (access(config.c_str(), F_OK) == 0 || HasUnreportedSystemConfig()) &&
         !FindClient().empty();
}

Result<std::optional<SshSettings>> ReadClientSettings(const NodeSpec& node) {
  const Deadline deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(node.access.connect_timeout_s);
  const std::string home = FindHomeDirectory();
  const bool own_home = home == FindAccountHome();
  std::string input;
  if (!own_home) {
    // `Match all`: a Host line of the user's governs everything up to the next one.
    input = fmt::format("{}\nMatch all\nInclude {}\n",
                        ResolveIncludes(ReadTextFile(home + "/.ssh/config").value_or(""), home),
                        kGlobalConfig);
  }
  const std::string defaults = PrintDefaults(node, deadline);
  if (defaults.empty()) return std::nullopt;
  const auto printed = RunClient(node, BuildClientArgv(node, own_home), input, deadline);
  if (!printed) {
    const bool is_owner = printed.error().message.find(kBadOwner) != std::string::npos;
    if (is_owner && !own_home) return std::nullopt;
    return Fail(printed.error());
  }
  SshSettings settings = ParseSshSettings(*printed, defaults);
  if (own_home) return settings;
  for (std::string& path : settings.known_hosts) MoveToHome(path);
  MoveToHome(settings.identity_agent);
  return settings;
}

}  // namespace reconciler
