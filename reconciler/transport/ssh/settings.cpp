#include "reconciler/transport/ssh/settings.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"
#include "reconciler/transport/run_program.h"

namespace reconciler {
namespace {

using Values = std::map<std::string, std::vector<std::string>, std::less<>>;

// Keyword and values of each line, in the order of the lines.
Values ParsePrinted(std::string_view printed) {
  Values values;
  for (const std::string& line : SplitLines(printed)) {
    const std::size_t blank = line.find(' ');
    if (blank != std::string::npos) {
      values[line.substr(0, blank)].push_back(line.substr(blank + 1));
    }
  }
  return values;
}

// ssh prints paths side by side and without quotes: a word that cannot begin a path belongs to the
// one before it.
std::vector<std::string> SplitPaths(const std::string& line) {
  std::vector<std::string> paths;
  if (line.empty()) return paths;
  for (const std::string& word : Split(line, ' ')) {
    const bool begins =
        word == "none" ||
        (!word.empty() && std::string_view("/~%$").find(word.front()) != std::string_view::npos);
    if (begins || paths.empty()) {
      paths.push_back(word);
    } else {
      paths.back() += ' ' + word;
    }
  }
  return paths;
}

struct JumpHost {
  std::string user = {};
  std::string host = {};
  std::string port = {};
};

// "user@host:port" as ssh prints it: a host that is a number is in brackets, with a port or
// without.
JumpHost ParseJumpHost(std::string_view text) {
  JumpHost jump;
  const std::size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    jump.user = text.substr(0, at);
    text.remove_prefix(at + 1);
  }
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
  const bool is_in_brackets = bracket != std::string_view::npos;
  const std::size_t colon = text.find(':', is_in_brackets ? bracket : 0);
  jump.host = is_in_brackets ? text.substr(1, bracket - 1) : text.substr(0, colon);
  if (colon != std::string_view::npos) jump.port = text.substr(colon + 1);
  return jump;
}

// For a proxy command: a word for the shell, in which nothing is a token.
std::string QuoteForProxy(std::string_view word) {
  std::string escaped;
  for (const char c : word) escaped += c == '%' ? "%%" : std::string(1, c);
  return QuoteForShell(escaped);
}

// As OpenSSH's client makes it: the last host opens the way to the target, those before it the way
// to that host.
std::string BuildJumpCommand(const std::string& jumps) {
  const std::size_t comma = jumps.rfind(',');
  const bool is_one = comma == std::string::npos;
  const JumpHost last = ParseJumpHost(is_one ? jumps : jumps.substr(comma + 1));
  std::string command = "ssh ";
  if (!last.user.empty()) command += fmt::format("-l {} ", QuoteForProxy(last.user));
  if (!last.port.empty()) command += fmt::format("-p {} ", QuoteForProxy(last.port));
  if (!is_one) command += fmt::format("-J {} ", QuoteForProxy(jumps.substr(0, comma)));
  return fmt::format("{}-W '[%h]:%p' -- {}", command, QuoteForProxy(last.host));
}

std::string FindKeyword(std::string_view line) {
  const std::string_view text = Trim(line);
  return ToLower(text.substr(0, text.find_first_of(" \t=")));
}

// "Include a ~/b /c" with "HOME/.ssh/a", "HOME/b" and "/c". A file may stand between quotes.
std::string ResolveInclude(std::string_view line, const std::string& home) {
  std::string_view rest = Trim(line).substr(std::string_view("include").size());
  std::string resolved = "Include";
  bool is_quoted = false;
  bool is_start = true;  // of a file's name
  for (const char c : rest.substr(std::min(rest.find_first_not_of(" \t="), rest.size()))) {
    if (is_start && c != ' ' && c != '\t' && c != '"') {
      if (resolved == "Include") resolved += ' ';
      resolved += c == '/' ? "" : c == '~' ? home : home + "/.ssh/";
      is_start = false;
      if (c == '~') continue;
    }
    if (resolved == "Include") resolved += ' ';
    resolved += c;
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted && (c == ' ' || c == '\t')) is_start = true;
  }
  return resolved;
}

// Other spellings of the usual Include count as another file: ssh is then started in vain, no more.
bool IncludesAnotherFile(std::string_view line) {
  std::string_view files = Trim(line).substr(std::string_view("include").size());
  files.remove_prefix(std::min(files.find_first_not_of(" \t="), files.size()));
  return files != kIncludedConfigs;
}

}  // namespace

std::vector<std::string> ListSystemConfigs(const std::string& included) {
  std::vector<std::string> files;
  glob_t found = {};
  if (glob(included.c_str(), 0, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  files.emplace_back(kGlobalConfig);
  return files;
}

std::vector<std::string> BuildClientArgv(const NodeSpec& node, bool own_home) {
  std::vector<std::string> argv = {"ssh"};
  if (!own_home) argv.insert(argv.end(), {"-F", kProgramInput});
  if (!node.access.user.empty()) argv.insert(argv.end(), {"-l", node.access.user});
  if (node.access.port != 0) argv.insert(argv.end(), {"-p", std::to_string(node.access.port)});
  argv.insert(argv.end(), {"-G", "--", node.address});
  return argv;
}

ClientKind JudgeClient(const ScriptReply& ended) {
  constexpr int kOwnFailure = 255;       // of OpenSSH's client, whatever failed
  constexpr int kFirstNotProgram = 126;  // not run (126, 127), or ended by a signal (above 128)
  if (ended.exit_code == 0) {
    const bool prints_host = ('\n' + ended.out).find("\nhostname ") != std::string::npos;
    return prints_host ? ClientKind::kOpenSsh : ClientKind::kAnother;
  }
  if (ended.exit_code == kOwnFailure) {
    const bool refuses = ended.err.find("usage: ") != std::string::npos;
    return refuses ? ClientKind::kAnother : ClientKind::kFailed;
  }
  return ended.exit_code < kFirstNotProgram ? ClientKind::kAnother : ClientKind::kFailed;
}

SshSettings ParseSshSettings(std::string_view printed, std::string_view defaults) {
  const Values all = ParsePrinted(printed);
  const Values usual = ParsePrinted(defaults);
  const auto find = [&](std::string_view keyword) -> std::vector<std::string> {
    const auto at = all.find(keyword);
    if (at == all.end()) return {};
    const auto before = usual.find(keyword);
    const bool is_usual = before != usual.end() && before->second == at->second;
    return is_usual ? std::vector<std::string>{} : at->second;
  };
  const auto first = [&](std::string_view keyword) -> std::string {
    const std::vector<std::string> values = find(keyword);
    return values.empty() || values.front() == "none" ? "" : values.front();
  };
  SshSettings settings;
  const auto host = all.find("hostname");
  if (host != all.end()) settings.host = host->second.front();
  settings.port = ParseNumber<int>(first("port")).value_or(0);
  settings.user = first("user");
  settings.host_key_alias = first("hostkeyalias");
  settings.identities = find("identityfile");
  std::erase(settings.identities, "none");
  for (const std::string& line : find("userknownhostsfile"))
    settings.known_hosts = SplitPaths(line);
  for (const std::string& line : find("globalknownhostsfile")) {
    settings.global_known_hosts = SplitPaths(line);
  }
  for (const std::string& line : find("revokedhostkeys")) {
    for (std::string& path : SplitPaths(line)) {
      if (path != "none") settings.revoked_host_keys.push_back(std::move(path));
    }
  }
  for (const std::string& line : find("identityagent")) settings.identity_agent = line;
  settings.proxy_command = first("proxycommand");
  const std::string jumps = first("proxyjump");
  if (settings.proxy_command.empty() && !jumps.empty()) {
    settings.proxy_command = BuildJumpCommand(jumps);
  }
  for (const char* keyword : {"ciphers", "compression", "hostkeyalgorithms", "kexalgorithms",
                              "macs", "pubkeyacceptedalgorithms"}) {
    const std::string value = first(keyword);
    if (!value.empty()) settings.algorithms[keyword] = value;
  }
  return settings;
}

std::string FormatClientError(std::string_view said, const std::string& config) {
  constexpr std::string_view kInput = kProgramInput;
  constexpr std::size_t kMostLines = 2;  // of some mistakes the second one has the file and line
  std::vector<std::string> mistakes;
  std::vector<std::string> warnings;
  for (std::string line : SplitLines(said)) {
    if (line.find(": terminating, ") != std::string::npos) continue;
    const std::size_t input = line.find(kInput);
    if (input != std::string::npos) line.replace(input, kInput.size(), config);
    const bool is_warning = line.find("Unsupported option") != std::string::npos ||
                            line.find("Deprecated option") != std::string::npos;
    (is_warning ? warnings : mistakes).push_back(MakePrintable(Trim(line)));
  }
  std::vector<std::string>& lines = mistakes.empty() ? warnings : mistakes;
  lines.resize(std::min(lines.size(), kMostLines));
  return Join(lines, "; ");
}

std::string ResolveIncludes(std::string_view config, const std::string& home) {
  std::string resolved;
  for (const std::string& line : SplitLines(config)) {
    resolved += (FindKeyword(line) == "include" ? ResolveInclude(line, home) : line) + "\n";
  }
  return resolved;
}

bool HasUnreportedKeyword(std::string_view config) {
  constexpr std::array<std::string_view, 6> kUnreported = {
      "identityfile",       "identityagent",        "hostkeyalias",
      "userknownhostsfile", "globalknownhostsfile", "revokedhostkeys"};
  const std::vector<std::string> lines = SplitLines(config);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    const std::string keyword = FindKeyword(line);
    if (keyword == "include") return IncludesAnotherFile(line);
    return std::find(kUnreported.begin(), kUnreported.end(), keyword) != kUnreported.end();
  });
}

}  // namespace reconciler
