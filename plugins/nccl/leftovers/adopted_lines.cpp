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

// Files of environment.d may have values of several lines.
bool MayQuoteTheNext(std::string_view line) {
  return std::count(line.begin(), line.end(), '"') % 2 != 0 ||
         std::count(line.begin(), line.end(), '\'') % 2 != 0;
}

// The one of `names` that a line sets; empty: none.
std::string FindSet(const std::string& path, const std::string& line,
                    const std::set<std::string>& names) {
  for (const NcclSetting& one : ParseLine(path, 0, line)) {
    if (const std::string name = ReadAsMeant(one).name; names.contains(name)) return name;
  }
  for (const NcclSetting& one : ParseOtherLine(path, 0, line)) {
    if (names.contains(one.name)) return one.name;
  }
  return {};
}

std::string ExplainLine(const std::string& path, const std::string& line,
                        const std::set<std::string>& names) {
  if (ContinuesOnTheNext(line)) return "goes on in the next one";
  const std::string_view text = Trim(line);
  if (text.empty() || text.starts_with('#') || ReadAssignment(line)) return {};
  if (path.starts_with(kScripts))
    return "is no plain assignment, and may depend on what is removed";
  if (const std::string name = FindSet(path, line, names); !name.empty()) {
    return fmt::format("sets {}, and is no plain assignment", name);
  }
  return MayQuoteTheNext(line) ? "has a quote that may end in another one" : "";
}

// Without these lines the rest means what it meant, and sets none of `names`. Empty: so it is.
std::string ExplainNotPlain(const std::string& path, const std::string& content,
                            const std::set<std::string>& names) {
  int number = 0;
  for (const std::string& line : SplitLines(content)) {
    ++number;
    const std::string why = ExplainLine(path, line, names);
    if (!why.empty()) return fmt::format("line {} {}", number, why);
  }
  return {};
}

std::vector<AdoptedLines> ReadEntries(const ClusterSpec& cluster, const NodeName& node) {
  return ReadAdoptedLines(cluster, node, CanHaveLinesAdopted, ReadVariable);
}

// Empty: they are adopted.
std::string ExplainNotAdopted(const AdoptedLines& entry, const FileState& file) {
  const std::string why = ExplainNotPlain(entry.path, file.content, entry.names);
  if (!why.empty()) return why + ": change the file by hand, and remove the entry from adopt";
  return ExplainOtherDigest(file, entry);
}

// Subjects of what the plan says of these lines.
std::vector<std::string> ListSubjects(const PluginInput& input, const AdoptedLines& entry) {
  std::vector<std::string> subjects;
  for (const auto* fact : {&input.facts.nccl.settings, &input.facts.nccl.others}) {
    const auto* settings = Known(*fact);
    for (const NcclSetting& one : settings == nullptr ? std::vector<NcclSetting>() : *settings) {
      if (one.path == entry.path && entry.names.contains(one.name)) {
        subjects.push_back(FormatSubject(one));
      }
    }
  }
  return subjects;
}

Resource MakeLines(const PluginInput& input, const AdoptedLines& entry) {
  Resource resource = MakeLinesResource(input.facts, entry, input.cluster.Mark(entry.position));
  // Without our files the variables would have no value.
  for (const std::string_view ours : {kShellFile, kServiceFile}) {
    resource.needs.push_back(fmt::format("{}/file/{}", input.node.name, ours));
  }
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
    if (file == nullptr || !ExplainNotPlain(path, file->content, variables).empty()) continue;
    if (CutLines(file->content, variables, ReadAssignment).lines == 0) continue;
    files.push_back(OfferLines(path, variables, *file));
  }
  return files;
}

std::string AdviseOnLine(const PluginInput& input, const std::string& path,
                         const std::string& variable, const std::string& by_hand) {
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
