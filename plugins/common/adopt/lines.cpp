#include "plugins/common/adopt/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "plugins/common/ownership/state.h"
#include "reconciler/base/digest.h"

namespace reconciler::plugins {
namespace {

std::set<std::string> ReadNames(const Value& entry, ReadName read) {
  std::set<std::string> names;
  const Value* match = entry.Find("match");
  if (match == nullptr) return names;
  for (const Value& one : match->List()) {
    if (const auto name = read(one.ScalarText())) names.insert(*name);
  }
  return names;
}

}  // namespace

std::vector<AdoptedLines> ReadAdoptedLines(const ClusterSpec& cluster, const NodeName& node,
                                           bool (*is_ours)(std::string_view path), ReadName read) {
  std::vector<AdoptedLines> found;
  const Value* section = cluster.settings.Find("adopt");
  if (section == nullptr) return found;
  for (const Value& entry : section->List()) {
    const Value* path = entry.Find("lines");
    const Value* nodes = entry.Find("nodes");
    if (path == nullptr || nodes == nullptr || !is_ours(path->ScalarText())) continue;
    for (const Member& one : nodes->Members()) {
      if (one.key != node) continue;
      found.push_back(
          {path->ScalarText(), ReadNames(entry, read), one.value.ScalarText(), path->position});
    }
  }
  return found;
}

bool IsNamed(const std::vector<AdoptedLines>& entries, const std::string& path,
             const std::string& name) {
  return std::any_of(entries.begin(), entries.end(), [&](const AdoptedLines& one) {
    return one.path == path && one.names.contains(name);
  });
}

Cut CutLines(const std::string& content, const std::set<std::string>& names, ReadName read) {
  Cut cut;
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t newline = content.find('\n', at);
    const std::size_t end = newline == std::string::npos ? content.size() : newline + 1;
    const std::string line = content.substr(at, end - at);
    at = end;
    const auto name = read(line);
    if (!name || !names.contains(*name)) {
      cut.rest += line;
      continue;
    }
    ++cut.lines;
    cut.names.insert(*name);
  }
  return cut;
}

Resource MakeLinesResource(const NodeFacts& facts, const AdoptedLines& entry, SourceMark where) {
  return {.kind = "file",
          .name = entry.path,
          .node = facts.node,
          .observed = AsState(FindFile(facts, entry.path)),
          .adopts = true,
          .owner = {.name = entry.path},
          .where = std::move(where)};
}

void SetRest(const FileState& file, const Cut& cut, Resource& resource) {
  FileState rest = file;
  rest.content = cut.rest;
  resource.desired = ResourceState(std::move(rest));
}

std::string ExplainOtherDigest(const FileState& file, const AdoptedLines& entry) {
  const std::string digest = ComputeSha256Hex(file.content);
  if (digest.starts_with(entry.digest)) return {};
  const std::string shown = digest.substr(0, kShownDigits);
  return fmt::format(
      "its SHA-256 begins with {}, and the manifest has {}: read what it says now; to adopt that, "
      "write {} into the manifest",
      shown, entry.digest.substr(0, kShownDigits), shown);
}

AdoptableFile OfferLines(const std::string& path, const std::set<std::string>& names,
                         const FileState& file) {
  return {.path = path,
          .entry = fmt::format("lines: {}, match: [{}]", path, fmt::join(names, ", ")),
          .digest = ComputeSha256Hex(file.content)};
}

bool IsPlainFileName(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
         });
}

}  // namespace reconciler::plugins
