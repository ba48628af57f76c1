#include "plugins/sysctl/dropins.h"

#include <utility>
#include <vector>

#include "plugins/sysctl/keys.h"
#include "reconciler/base/text.h"
#include "reconciler/model/probe.h"

namespace reconciler::plugins::sysctl {
namespace {

std::map<std::string, std::string> SortPathsByName(const NodeFacts& facts) {
  std::map<std::string, std::string> paths;
  for (const std::string_view folder :
       {"/usr/lib/sysctl.d/", "/usr/local/lib/sysctl.d/", "/run/sysctl.d/", "/etc/sysctl.d/"}) {
    for (const auto& [path, file] : facts.files) {
      if (!path.starts_with(folder) || !path.ends_with(".conf") || path == kTrialFile) continue;
      if (!std::holds_alternative<Absent>(file)) paths[GetBasename(path)] = path;
    }
  }
  if (IsLinkTargetRead(facts)) paths[GetBasename(kLink)] = kLinkTarget;
  return paths;
}

// In the order in which they are read.
std::vector<std::string> ListLater(const NodeFacts& facts) {
  const std::string ours = GetBasename(kOwnFile);
  std::vector<std::string> paths;
  for (const auto& [name, path] : SortPathsByName(facts)) {
    if (name > ours) paths.push_back(path);
  }
  return paths;
}

void AddFile(const std::string& path, const std::string& content,
             std::map<std::string, Setting>& settings) {
  for (const std::string& line : SplitLines(content)) {
    if (auto set = ReadLine(line)) settings[set->key] = {std::move(set->value), path};
  }
}

}  // namespace

std::optional<KeyValue> ReadLine(std::string_view line) {
  line = Trim(line);
  if (line.empty() || line[0] == '#' || line[0] == ';') return std::nullopt;
  if (line[0] == '-') line.remove_prefix(1);  // "do not mind when it fails"
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  auto key = NormalizeKey(Trim(line.substr(0, equals)));
  if (!key) return std::nullopt;
  return KeyValue{std::move(*key), NormalizeValue(line.substr(equals + 1))};
}

bool IsLinkTargetRead(const NodeFacts& facts) {
  const auto link = facts.files.find(std::string(kLink));
  return link != facts.files.end() && std::holds_alternative<Unknown>(link->second) &&
         !IsLinkToNull(link->second);
}

std::map<std::string, Setting> FindLaterSettings(const NodeFacts& facts) {
  std::map<std::string, Setting> settings;
  for (const std::string& path : ListLater(facts)) {
    const Observed<FileState> file = FindFile(facts, path);
    if (const auto* state = Known(file)) AddFile(path, state->content, settings);
  }
  return settings;
}

std::map<std::string, std::string> FindUnreadLater(const NodeFacts& facts) {
  std::map<std::string, std::string> unread;
  for (const std::string& path : ListLater(facts)) {
    const Observed<FileState> file = FindFile(facts, path);
    const auto* unknown = std::get_if<Unknown>(&file);
    if (unknown != nullptr && !IsLinkToNull(file)) unread[path] = unknown->why;
  }
  return unread;
}

}  // namespace reconciler::plugins::sysctl
