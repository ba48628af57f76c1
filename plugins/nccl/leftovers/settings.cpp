#include "plugins/nccl/leftovers/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "plugins/nccl/leftovers/settings.sh.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr const char* kSettings = "nccl.settings";
constexpr std::size_t kMostBytes = 65536;
// Of Gloo, TensorPipe, UCX and Open MPI: which interfaces or HCAs they use. settings.sh looks for
// the same names.
constexpr std::string_view kOtherNames[] = {"GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME",
                                            "UCX_NET_DEVICES", "OMPI_MCA_btl_tcp_if_include",
                                            "OMPI_MCA_oob_tcp_if_include"};

bool IsNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// NCCL takes every byte for what it is: no quotes, no blanks around "=", "#" in the first column.
std::vector<NcclSetting> ParseConfLine(const std::string& path, int line, std::string_view text) {
  const std::size_t equals = text.find('=');
  if (text.starts_with('#') || equals == std::string_view::npos) return {};
  const std::string_view name = text.substr(0, equals);
  if (name.find("NCCL_") == std::string_view::npos) return {};
  return {{path, line, MakePrintable(name), MakePrintable(text.substr(equals + 1))}};
}

// Whether a backslash takes the meaning of the next byte away, as a shell reads it.
bool IsEscape(std::string_view text, std::size_t at, char quote) {
  if (text[at] != '\\' || quote == '\'') return false;
  constexpr std::string_view kQuoted = "\"\\$`";  // in double quotes, of these alone
  return quote == 0 || (at + 1 < text.size() && kQuoted.find(text[at + 1]) != kQuoted.npos);
}

// The word after NAME=, without its quotes and backslashes. `quote`: the one before the name that
// holds both together; 0: none. A quote within the word ends it: what follows may be a secret.
std::string ReadWordAt(std::string_view text, std::size_t at, char quote) {
  constexpr std::string_view kEnds = " \t;&\"'";
  const bool is_held = quote != 0;
  std::string word;
  do {
    if (quote == 0 && at < text.size() && (text[at] == '"' || text[at] == '\'')) quote = text[at++];
    for (; at < text.size(); ++at) {
      if (quote != 0 ? text[at] == quote : kEnds.find(text[at]) != std::string_view::npos) break;
      if (IsEscape(text, at, quote) && ++at == text.size()) break;
      word.push_back(text[at]);
    }
    if (is_held || quote == 0) break;
    quote = 0;
    ++at;  // 'a''b' is one word
  } while (at < text.size() && (text[at] == '"' || text[at] == '\''));
  return word;
}

// Without blanks around it, and without quotes around what is left.
std::string_view RemoveQuotes(std::string_view text) {
  text = Trim(text);
  const bool quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::vector<NcclSetting> ParseAssignments(const std::string& path, int line, std::string_view text,
                                          std::string_view start) {
  if (const std::string_view bare = Trim(text); bare.starts_with('#') || bare.starts_with(';')) {
    return {};
  }
  std::vector<NcclSetting> settings;
  for (std::size_t at = text.find(start); at != std::string_view::npos;
       at = text.find(start, at + 1)) {
    if (at > 0 && (IsNameCharacter(text[at - 1]) || text[at - 1] == '$' || text[at - 1] == '{')) {
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    if (end == text.size() || text[end] != '=') continue;
    const char before = at > 0 ? text[at - 1] : ' ';
    const std::string value =
        ReadWordAt(text, end + 1, before == '"' || before == '\'' ? before : '\0');
    settings.push_back({path, line, std::string(text.substr(at, end - at)), MakePrintable(value)});
  }
  return settings;
}

}  // namespace

RunProbe MakeSettingsProbe(const std::vector<std::string>& users) {
  RunProbe probe{.id = kSettings, .argv = {"sh", "-c", std::string(kSettingsSh), "sh"}};
  probe.argv.insert(probe.argv.end(), users.begin(), users.end());
  return probe;
}

bool IsOfOtherLibrary(std::string_view name) {
  return std::find(std::begin(kOtherNames), std::end(kOtherNames), name) != std::end(kOtherNames);
}

std::vector<NcclSetting> ParseLine(const std::string& path, int line, std::string_view text) {
  if (path.ends_with("nccl.conf")) return ParseConfLine(path, line, text);
  return ParseAssignments(path, line, text, "NCCL_");
}

std::vector<NcclSetting> ParseOtherLine(const std::string& path, int line, std::string_view text) {
  std::vector<NcclSetting> settings;
  if (path.ends_with("nccl.conf")) return settings;
  for (const std::string_view name : kOtherNames) {
    for (NcclSetting& one : ParseAssignments(path, line, text, name)) {
      if (one.name == name) settings.push_back(std::move(one));
    }
  }
  return settings;
}

std::string FormatSubject(const NcclSetting& setting) {
  return fmt::format("{}:{} {}={}", setting.path, setting.line, setting.name, setting.value);
}

NcclSetting ReadAsMeant(const NcclSetting& setting) {
  constexpr std::string_view kExport = "export ";
  NcclSetting meant = setting;
  std::string_view name = RemoveQuotes(setting.name);
  if (name.starts_with(kExport)) name = Trim(name.substr(kExport.size()));
  meant.name = name;
  meant.value = RemoveQuotes(setting.value);
  return meant;
}

void StoreSettings(const CommandReply& reply, NodeFacts& facts) {
  Fact<std::vector<NcclSetting>>& fact = facts.nccl.settings;
  if (reply.exit_code == 124) {
    fact = Unknown{"looking for NCCL_ in the node's files took longer than 5 s"};
    return;
  }
  if (reply.exit_code != 0 || reply.out.size() >= kMostBytes) {
    fact = Unknown{reply.exit_code != 0 ? "looking for NCCL_ in the node's files failed"
                                        : "more than 64 KiB of lines name NCCL_"};
    return;
  }
  std::vector<NcclSetting> settings;
  std::vector<NcclSetting> others;
  for (const std::string& record : SplitLines(reply.out)) {
    const std::size_t nul = record.find('\0');
    if (nul == std::string::npos) continue;
    const std::string path = MakePrintable(record.substr(0, nul));
    if (path == kShellFile || path.find(':') != std::string::npos) continue;
    std::string_view rest = std::string_view(record).substr(nul + 1);
    const auto number = ConsumeNumber<int>(rest);
    if (!number || !rest.starts_with(':')) continue;
    for (NcclSetting& one : ParseLine(path, *number, rest.substr(1))) {
      settings.push_back(std::move(one));
    }
    for (NcclSetting& one : ParseOtherLine(path, *number, rest.substr(1))) {
      others.push_back(std::move(one));
    }
  }
  fact = std::move(settings);
  facts.nccl.others = std::move(others);
}

}  // namespace reconciler::plugins::nccl
