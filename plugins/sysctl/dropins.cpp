#include "plugins/sysctl/dropins.h"

#include "plugins/sysctl/keys.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::sysctl {
namespace {

// Debian and Ubuntu have it as a symbolic link to /etc/sysctl.conf, which is how that file is read.
constexpr std::string_view kLink = "/etc/sysctl.d/99-sysctl.conf";
constexpr std::string_view kLinkTarget = "/etc/sysctl.conf";

std::map<std::string, std::string> SortPathsByName(const NodeFacts& facts) {
  std::map<std::string, std::string> paths;
  for (const std::string_view folder :
       {"/usr/lib/sysctl.d/", "/usr/local/lib/sysctl.d/", "/run/sysctl.d/", "/etc/sysctl.d/"}) {
    for (const auto& [path, file] : facts.files) {
      if (!path.starts_with(folder) || !path.ends_with(".conf")) continue;
      if (!std::holds_alternative<Absent>(file)) paths[GetBasename(path)] = path;
    }
  }
  const auto link = facts.files.find(std::string(kLink));
  if (link != facts.files.end() && std::holds_alternative<Unknown>(link->second)) {
    paths[GetBasename(kLink)] = kLinkTarget;
  }
  return paths;
}

void AddFile(const std::string& path, const std::string& content,
             std::map<std::string, Setting>& settings) {
  for (const std::string& one : SplitLines(content)) {
    std::string_view line = Trim(one);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '-') line.remove_prefix(1);  // "do not mind when it fails"
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const auto key = NormalizeKey(Trim(line.substr(0, equals)));
    if (key) settings[*key] = {NormalizeValue(line.substr(equals + 1)), path};
  }
}

}  // namespace

std::map<std::string, Setting> FindLaterSettings(const NodeFacts& facts) {
  const std::string ours = GetBasename(kOwnFile);
  std::map<std::string, Setting> settings;
  for (const auto& [name, path] : SortPathsByName(facts)) {
    if (name <= ours) continue;
    const Observed<FileState> file = FindFile(facts, path);
    if (const auto* state = Known(file)) AddFile(path, state->content, settings);
  }
  return settings;
}

}  // namespace reconciler::plugins::sysctl
