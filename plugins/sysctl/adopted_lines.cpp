#include "plugins/sysctl/adopted_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "plugins/common/adopt/lines.h"
#include "plugins/common/ownership/state.h"
#include "plugins/sysctl/dropins.h"
#include "plugins/sysctl/keys.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::sysctl {
namespace {

constexpr std::string_view kFolder = "/etc/sysctl.d/";

std::optional<std::string> ReadKey(std::string_view line) {
  const auto set = ReadLine(line);
  return set ? std::optional(set->key) : std::nullopt;
}

// Empty: they are adopted.
std::string ExplainNotAdopted(const PluginInput& input, const AdoptedLines& entry,
                              const FileState& file, const Cut& cut,
                              const std::set<std::string>& written) {
  for (const std::string& key : entry.names) {
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
  return ExplainOtherDigest(file, entry);
}

Resource MakeLines(const PluginInput& input, const AdoptedLines& entry,
                   const std::set<std::string>& written) {
  Resource resource = MakeLinesResource(input.facts, entry, input.cluster.Mark(entry.position));
  // Without our line the key would have no value at the next boot.
  resource.needs = {fmt::format("{}/file/{}", input.node.name, kOwnFile)};
  const Observed<FileState> observed = FindFile(input.facts, entry.path);
  const FileState* file = Known(observed);
  if (file == nullptr) return resource;
  const Cut cut = CutLines(file->content, entry.names, ReadKey);
  SetRest(*file, cut, resource);
  const std::string why = ExplainNotAdopted(input, entry, *file, cut, written);
  if (!why.empty()) {
    resource.blocked = {.code = "sysctl-not-adopted",
                        .why = fmt::format("is not adopted: {}", why)};
  }
  if (cut.lines == 0) return resource;
  const std::vector<std::string> keys(cut.names.begin(), cut.names.end());
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

std::vector<AdoptedLines> ReadEntries(const ClusterSpec& cluster, const NodeName& node) {
  return ReadAdoptedLines(cluster, node, CanHaveLinesAdopted, NormalizeKey);
}

}  // namespace

// As the schema has them.
bool CanHaveLinesAdopted(std::string_view path) {
  if (path == kLinkTarget) return true;
  return path.starts_with(kFolder) && path != kOwnFile &&
         IsPlainFileName(path.substr(kFolder.size()));
}

std::vector<std::string> ListAdoptedPaths(const ClusterSpec& cluster, const NodeName& node) {
  std::vector<std::string> paths;
  for (AdoptedLines& entry : ReadEntries(cluster, node)) paths.push_back(std::move(entry.path));
  return paths;
}

std::vector<Resource> MakeAdoptedLines(const PluginInput& input,
                                       const std::set<std::string>& written) {
  std::vector<Resource> resources;
  for (const AdoptedLines& entry : ReadEntries(input.cluster, input.node.name)) {
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
    if (file == nullptr || !CanHaveLinesAdopted(path)) continue;
    if (CutLines(file->content, keys, ReadKey).lines == 0) continue;
    files.push_back(OfferLines(path, keys, *file));
  }
  return files;
}

std::string AdviseOnLine(const PluginInput& input, const std::string& path,
                         const std::string& key) {
  const std::string by_hand = fmt::format("remove {} from {}", key, path);
  const std::string adopt = input.AdviseToAdopt(path);
  if (adopt.empty() || IsNamed(ReadEntries(input.cluster, input.node.name), path, key))
    return by_hand;
  return fmt::format("{}, or {}", adopt, by_hand);
}

}  // namespace reconciler::plugins::sysctl
