#include "reconciler/transport/ssh/client.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include "reconciler/base/text.h"
#include "reconciler/transport/run_program.h"
#include "reconciler/transport/ssh/config.h"
#include "reconciler/transport/text_file.h"

namespace reconciler {
namespace {

// How OpenSSH's client refuses an included file that neither this user nor root owns, or that
// others may write.
constexpr std::string_view kBadOwner = ": Bad owner or permissions on ";

// The file that is run as `ssh`; empty: none is installed.
std::string FindClient() {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : Split(path == nullptr ? "/bin:/usr/bin" : path, ':')) {
    std::string file = folder + "/ssh";
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return {};
}

bool HasUnreportedSystemConfig() {
  const std::vector<std::string> files = ListSystemConfigs();
  return std::any_of(files.begin(), files.end(), [](const std::string& file) {
    return HasUnreportedKeyword(ReadTextFile(file).value_or(""));
  });
}

Error MakeConfigError(const NodeSpec& node, std::string_view what, std::string hint = {}) {
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("{}: {}", node.name, what),
               .hint = std::move(hint)};
}

std::string ExplainEnd(const ScriptReply& ended) {
  const std::string why = FormatClientError(ended.err, FindHomeDirectory() + "/.ssh/config");
  return why.empty() ? fmt::format("exit {}", ended.exit_code) : why;
}

// `task`: what it is run for. An error: it did not end.
Result<ScriptReply> RunClient(const NodeSpec& node, const std::vector<std::string>& argv,
                              const std::string& input, Deadline deadline, std::string_view task,
                              std::string_view late_hint) {
  auto ended = RunProgram(argv, input, deadline);
  if (!ended) return Fail(MakeConfigError(node, ended.error().message));
  if (*ended) return std::move(**ended);
  return Fail(MakeConfigError(
      node, fmt::format("ssh did not {} within {} s", task, node.access.connect_timeout_s),
      std::string(late_hint)));
}

Result<std::string> PrintConfig(const NodeSpec& node, const std::vector<std::string>& argv,
                                const std::string& input, Deadline deadline) {
  auto ended =
      RunClient(node, argv, input, deadline, "read its configuration",
                "a command of `Match exec` there, or a name that it looks up, takes that long");
  if (!ended) return Fail(std::move(ended.error()));
  if (ended->exit_code == 0) return std::move(ended->out);
  return Fail(MakeConfigError(node, "ssh cannot read its configuration: " + ExplainEnd(*ended),
                              "OpenSSH's `ssh` refuses it as well: correct that file"));
}

// What no file sets: the same for all nodes. Empty: the program is not OpenSSH's client. Only what
// OpenSSH's printed is remembered: another exit code may be a wrapper around it that failed once.
Result<std::string> PrintDefaults(const NodeSpec& node, Deadline deadline) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;  // by program
  const std::lock_guard<std::mutex> lock(mutex);
  const std::string program = FindClient();
  if (const auto found = known.find(program); found != known.end()) return found->second;
  constexpr std::string_view kHint =
      "it reads no file for that: `ssh -F none -G localhost` shows whether `ssh` works here";
  const auto ended = RunClient(node, {"ssh", "-F", "none", "-G", "localhost"}, "", deadline,
                               "print its defaults", kHint);
  if (!ended) return Fail(ended.error());
  switch (JudgeClient(*ended)) {
    case ClientKind::kOpenSsh:
      return known[program] = ended->out;
    case ClientKind::kAnother:
      return std::string();
    case ClientKind::kFailed:
      break;
  }
  return Fail(MakeConfigError(node, "ssh cannot print its defaults: " + ExplainEnd(*ended),
                              std::string(kHint)));
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
  const auto defaults = PrintDefaults(node, deadline);
  if (!defaults) return Fail(defaults.error());
  if (defaults->empty()) return std::nullopt;
  const auto printed = PrintConfig(node, BuildClientArgv(node, own_home), input, deadline);
  if (!printed) {
    const bool is_owner = printed.error().message.find(kBadOwner) != std::string::npos;
    if (is_owner && !own_home) return std::nullopt;
    return Fail(printed.error());
  }
  SshSettings settings = ParseSshSettings(*printed, *defaults);
  if (own_home) return settings;
  for (std::string& path : settings.known_hosts) MoveToHome(path);
  for (std::string& path : settings.revoked_host_keys) MoveToHome(path);
  MoveToHome(settings.identity_agent);
  return settings;
}

}  // namespace reconciler
