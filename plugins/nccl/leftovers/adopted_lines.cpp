#include "plugins/nccl/leftovers/adopted_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "plugins/common/adopt/lines.h"
#include "plugins/nccl/leftovers/settings.h"
#include "reconciler/base/manifest_error.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr std::string_view kScripts = "/etc/profile.d/";
constexpr std::string_view kEnvironments = "/etc/environment.d/";
constexpr std::string_view kSingle[] = {"/etc/nccl.conf", "/etc/environment"};

bool IsName(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::optional<std::string> ReadVariable(std::string_view text) {
  return IsName(text) ? std::optional(std::string(text)) : std::nullopt;
}

// A shell takes it for one word, and for itself.
bool IsPlainValue(std::string_view value) {
  if (value.size() > 1 && value.front() == '\'' && value.back() == '\'') {
    return value.find('\'', 1) == value.size() - 1;
  }
  if (value.size() > 1 && value.front() == '"' && value.back() == '"') {
    return value.substr(1).find_first_of("\"$`\\") == value.size() - 2;
  }
  return value.find_first_of(" \t'\"$`\\;&|<>()#*?[~!") == std::string_view::npos;
}

// The variable that a line sets that is an assignment and nothing else.
std::optional<std::string> ReadAssignment(std::string_view line) {
  constexpr std::string_view kExport = "export ";
  std::string_view text = Trim(line);
  if (text.starts_with(kExport)) text = Trim(text.substr(kExport.size()));
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !IsPlainValue(text.substr(equals + 1))) return {};
  return ReadVariable(text.substr(0, equals));
}

bool ContinuesOnTheNext(std::string_view line) { return line.ends_with('\\'); }

// Without these lines the rest means what it meant. Empty: so it is.
std::string ExplainNotPlain(const std::string& path, const std::string& content) {
  int number = 0;
  for (const std::string& line : SplitLines(content)) {
    ++number;
    const std::string_view text = Trim(line);
    const bool is_script = path.starts_with(kScripts);
    const bool is_plain = text.empty() || text.starts_with('#') || ReadAssignment(line);
    if (ContinuesOnTheNext(line)) return fmt::format("line {} goes on in the next one", number);
    if (is_script && !is_plain) {
      return fmt::format("line {} is no plain assignment, and may depend on what is removed",
                         number);
    }
  }
  return {};
}

std::vector<AdoptedLines> ReadEntries(const ClusterSpec& cluster, const NodeName& node) {
  return ReadAdoptedLines(cluster, node, CanHaveLinesAdopted, ReadVariable);
}

// Empty: they are adopted.
std::string ExplainNotAdopted(const AdoptedLines& entry, const FileState& file) {
  const std::string why = ExplainNotPlain(entry.path, file.content);
  if (!why.empty()) return why + ": change the file by hand, and remove the entry from adopt";
  return ExplainOtherDigest(file, entry);
}

// Subjects of what the plan says of these lines.
std::vector<std::string> ListSubjects(const PluginInput& input, const AdoptedLines& entry) {
  std::vector<std::string> subjects;
  const auto* settings = Known(input.facts.nccl.settings);
  for (const NcclSetting& one : settings == nullptr ? std::vector<NcclSetting>() : *settings) {
    if (one.path == entry.path && entry.names.contains(one.name)) {
      subjects.push_back(FormatSubject(one));
    }
  }
  return subjects;
}

Resource MakeLines(const PluginInput& input, const AdoptedLines& entry) {
  Resource resource = MakeLinesResource(input.facts, entry, input.cluster.Mark(entry.position));
  const Observed<FileState> observed = FindFile(input.facts, entry.path);
  const FileState* file = Known(observed);
  if (file == nullptr) return resource;
  const Cut cut = CutLines(file->content, entry.names, ReadAssignment);
  SetRest(*file, cut, resource);
  if (cut.lines == 0) return resource;
  if (const std::string why = ExplainNotAdopted(entry, *file); !why.empty()) {
    resource.blocked = {.code = "nccl-not-adopted", .why = fmt::format("is not adopted: {}", why)};
  }
  resource.settles = ListSubjects(input, entry);
  resource.label =
      fmt::format("without {} about NCCL: {}", FormatPlural(cut.lines, "line", "lines"),
                  fmt::join(cut.names, ", "));
  return resource;
}

}  // namespace

// As the schema has them.
bool CanHaveLinesAdopted(std::string_view path) {
  if (std::find(std::begin(kSingle), std::end(kSingle), path) != std::end(kSingle)) return true;
  const auto is_in = [&](std::string_view folder, std::string_view end) {
    return path.starts_with(folder) && path.ends_with(end) &&
           IsPlainFileName(path.substr(folder.size()));
  };
  return path != kShellFile && (is_in(kScripts, ".sh") || is_in(kEnvironments, ".conf"));
}

std::vector<Read> ListLineReads(const ClusterSpec& cluster, const NodeName& node) {
  std::vector<Read> reads = {ReadFiles{std::string(kScripts) + "*.sh"},
                             ReadFiles{std::string(kEnvironments) + "*.conf"}};
  for (const std::string_view path : kSingle) reads.emplace_back(ReadFile{std::string(path)});
  // One that is not there is known to be absent.
  for (AdoptedLines& entry : ReadEntries(cluster, node)) {
    reads.emplace_back(ReadFile{std::move(entry.path)});
  }
  return reads;
}

std::vector<Resource> MakeAdoptedLines(const PluginInput& input) {
  std::vector<Resource> resources;
  for (const AdoptedLines& entry : ReadEntries(input.cluster, input.node.name)) {
    resources.push_back(MakeLines(input, entry));
  }
  return resources;
}

std::vector<AdoptableFile> ListAdoptableLines(const PluginInput& input,
                                              const VariablesByFile& removable) {
  std::vector<AdoptableFile> files;
  for (const auto& [path, variables] : removable) {
    const Observed<FileState> observed = FindFile(input.facts, path);
    const FileState* file = Known(observed);
    if (file == nullptr || !ExplainNotPlain(path, file->content).empty()) continue;
    if (CutLines(file->content, variables, ReadAssignment).lines == 0) continue;
    files.push_back(OfferLines(path, variables, *file));
  }
  return files;
}

std::string AdviseOnLine(const PluginInput& input, const std::string& path,
                         const std::string& variable) {
  const std::string by_hand = "remove it there";
  const std::string adopt = input.AdviseToAdopt(path);
  const bool is_named = IsNamed(ReadEntries(input.cluster, input.node.name), path, variable);
  if (adopt.empty() || is_named) return by_hand;
  return fmt::format("{}, or {}", adopt, by_hand);
}

Errors CheckAdoptedLines(const ClusterSpec& cluster) {
  Errors errors;
  for (const NodeSpec& node : cluster.nodes) {
    if (cluster.FindSection(node.name, "nccl") != nullptr) continue;
    for (const AdoptedLines& entry : ReadEntries(cluster, node.name)) {
      errors.push_back(MakeManifestError(
          "nccl-adopt-unmanaged", cluster.Mark(entry.position),
          fmt::format("adopt: {}: wanted nccl in the manifest, whose variables these lines are "
                      "about, found none for {}",
                      entry.path, node.name),
          "write `nccl: {}`, or remove the entry"));
    }
  }
  return errors;
}

}  // namespace reconciler::plugins::nccl
