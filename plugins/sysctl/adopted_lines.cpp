#include "plugins/sysctl/adopted_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <string_view>

#include "plugins/common/ownership/state.h"
#include "plugins/sysctl/dropins.h"
#include "plugins/sysctl/keys.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::sysctl {
namespace {

constexpr std::string_view kFolder = "/etc/sysctl.d/";

std::set<std::string> ReadKeys(const Value& entry) {
  std::set<std::string> keys;
  const Value* match = entry.Find("match");
  if (match == nullptr) return keys;
  for (const Value& one : match->List()) {
    if (const auto key = NormalizeKey(one.ScalarText())) keys.insert(*key);
  }
  return keys;
}

// As the schema has them.
bool CanBeNamed(std::string_view path) {
  if (path == kLinkTarget) return true;
  if (!path.starts_with(kFolder) || path == kOwnFile) return false;
  const std::string_view name = path.substr(kFolder.size());
  return !name.empty() && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
         });
}

struct Cut {
  std::string rest = {};
  std::size_t lines = 0;            // that are gone
  std::set<std::string> keys = {};  // that they set
};

Cut CutLines(const std::string& content, const std::set<std::string>& keys) {
  Cut cut;
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t newline = content.find('\n', at);
    const std::size_t end = newline == std::string::npos ? content.size() : newline + 1;
    const std::string line = content.substr(at, end - at);
    at = end;
    const auto set = ReadLine(line);
    if (!set || !keys.contains(set->key)) {
      cut.rest += line;
      continue;
    }
    ++cut.lines;
    cut.keys.insert(set->key);
  }
  return cut;
}

// Empty: they are adopted.
std::string ExplainNotAdopted(const PluginInput& input, const AdoptedLines& entry,
                              const FileState& file, const Cut& cut,
                              const std::set<std::string>& written) {
  for (const std::string& key : entry.keys) {
    if (written.contains(key)) continue;
    return fmt::format("our file does not set {}: remove it from match", key);
  }
  if (cut.lines == 0) return {};
  if (entry.path == kLinkTarget && !IsLinkTargetRead(input.facts)) {
    return fmt::format("nothing reads it at boot: there is no {}", kLink);
  }
  if (entry.path != kLinkTarget && entry.path < kOwnFile) {
    return fmt::format("it is read before {}, so that its lines do not win", kOwnFile);
  }
  const std::string digest = ComputeSha256Hex(file.content);
  if (digest.starts_with(entry.digest)) return {};
  const std::string shown = digest.substr(0, kShownDigits);
  return fmt::format(
      "its SHA-256 begins with {}, and the manifest has {}: read what it says now; to adopt that, "
      "write {} into the manifest",
      shown, entry.digest.substr(0, kShownDigits), shown);
}

Resource MakeLines(const PluginInput& input, const AdoptedLines& entry,
                   const std::set<std::string>& written) {
  const Observed<FileState> observed = FindFile(input.facts, entry.path);
  Resource resource{.kind = "file",
                    .name = entry.path,
                    .node = input.node.name,
                    .observed = AsState(observed),
                    .adopts = true,
                    .owner = {.name = entry.path},
                    // Without our line the key would have no value at the next boot.
                    .needs = {fmt::format("{}/file/{}", input.node.name, kOwnFile)},
                    .where = input.cluster.Mark(entry.position)};
  const FileState* file = Known(observed);
  if (file == nullptr) return resource;
  const Cut cut = CutLines(file->content, entry.keys);
  FileState rest = *file;
  rest.content = cut.rest;
  resource.desired = ResourceState(std::move(rest));
  const std::string why = ExplainNotAdopted(input, entry, *file, cut, written);
  if (!why.empty()) {
    resource.blocked = {.code = "sysctl-not-adopted",
                        .why = fmt::format("is not adopted: {}", why)};
  }
  if (cut.lines == 0) return resource;
  const std::vector<std::string> keys(cut.keys.begin(), cut.keys.end());
  // Another file that is read even later wins all the same.
  const std::map<std::string, Setting> later = FindLaterSettings(input.facts);
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(resource.settles),
               [&](const std::string& key) {
                 const auto last = later.find(key);
                 return last != later.end() && last->second.path == entry.path;
               });
  resource.label =
      fmt::format("without {} that {} over {}: {}", FormatPlural(cut.lines, "line", "lines"),
                  cut.lines == 1 ? "wins" : "win", kOwnFile, Join(keys, ", "));
  return resource;
}

// "lines: PATH, match: [KEY, KEY]".
std::string FormatEntry(const std::string& path, const std::set<std::string>& keys) {
  return fmt::format("lines: {}, match: [{}]", path, fmt::join(keys, ", "));
}

bool IsNamed(const PluginInput& input, const std::string& path, const std::string& key) {
  const std::vector<AdoptedLines> entries = ReadAdoptedLines(input.cluster, input.node.name);
  return std::any_of(entries.begin(), entries.end(), [&](const AdoptedLines& one) {
    return one.path == path && one.keys.contains(key);
  });
}

}  // namespace

std::vector<AdoptedLines> ReadAdoptedLines(const ClusterSpec& cluster, const NodeName& node) {
  std::vector<AdoptedLines> found;
  const Value* section = cluster.settings.Find("adopt");
  if (section == nullptr) return found;
  for (const Value& entry : section->List()) {
    const Value* path = entry.Find("lines");
    const Value* nodes = entry.Find("nodes");
    if (path == nullptr || nodes == nullptr) continue;
    for (const Member& one : nodes->Members()) {
      if (one.key != node) continue;
      found.push_back(
          {path->ScalarText(), ReadKeys(entry), one.value.ScalarText(), path->position});
    }
  }
  return found;
}

std::vector<Resource> MakeAdoptedLines(const PluginInput& input,
                                       const std::set<std::string>& written) {
  std::vector<Resource> resources;
  for (const AdoptedLines& entry : ReadAdoptedLines(input.cluster, input.node.name)) {
    resources.push_back(MakeLines(input, entry, written));
  }
  return resources;
}

std::vector<AdoptableFile> ListAdoptableLines(const PluginInput& input,
                                              const KeysByFile& overriding) {
  std::vector<AdoptableFile> files;
  for (const auto& [path, keys] : overriding) {
    const Observed<FileState> observed = FindFile(input.facts, path);
    const FileState* file = Known(observed);
    if (file == nullptr || !CanBeNamed(path) || CutLines(file->content, keys).lines == 0) continue;
    files.push_back({.path = path,
                     .entry = FormatEntry(path, keys),
                     .digest = ComputeSha256Hex(file->content)});
  }
  return files;
}

std::string AdviseOnLine(const PluginInput& input, const std::string& path,
                         const std::string& key) {
  const std::string by_hand = fmt::format("remove {} from {}", key, path);
  const std::string adopt = input.AdviseToAdopt(path);
  if (adopt.empty() || IsNamed(input, path, key)) return by_hand;
  return fmt::format("{}, or {}", adopt, by_hand);
}

}  // namespace reconciler::plugins::sysctl
