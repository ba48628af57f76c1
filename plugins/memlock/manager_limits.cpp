#include "plugins/memlock/manager_limits.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::memlock {
namespace {

// Of two files of one name the later folder's is read, whatever the order of names.
constexpr std::string_view kFolders[] = {"/usr/lib/systemd/", "/usr/local/lib/systemd/",
                                         "/run/systemd/", "/etc/systemd/"};

// "64M", in which systemd counts by 1024. nullopt: systemd ignores it, or it has a fraction.
std::optional<MemoryLimit> ParseSize(std::string_view text) {
  if (text == "infinity") return MemoryLimit{MemoryLimit::kUnlimited};
  constexpr std::string_view kUnits = "BKMGTPE";
  const auto number = ConsumeNumber<std::uint64_t>(text);
  if (!number) return std::nullopt;
  std::size_t power = 0;
  if (text.size() == 1) power = kUnits.find(text.front());
  if (text.size() > 1 || power == std::string_view::npos) return std::nullopt;
  const std::uint64_t most = static_cast<std::uint64_t>(MemoryLimit::kUnlimited) >> (10 * power);
  if (*number > most) return MemoryLimit{MemoryLimit::kUnlimited};
  return MemoryLimit{static_cast<std::int64_t>(*number << (10 * power))};
}

// "SOFT:HARD", or one value for both.
std::optional<MemlockLimits> ParseLimits(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto soft = ParseSize(Trim(text.substr(0, colon)));
  const auto hard =
      colon == std::string_view::npos ? soft : ParseSize(Trim(text.substr(colon + 1)));
  if (!soft || !hard) return std::nullopt;
  return MemlockLimits{.soft = *soft, .hard = *hard};
}

// The last setting of one file replaces `last`.
void ReadSettings(const std::string& path, const std::string& content,
                  std::optional<LaterLimit>& last) {
  bool is_managers = false;
  int number = 0;
  for (const std::string& line : SplitLines(content)) {
    ++number;
    const std::string_view text = Trim(line);
    if (text.starts_with('[')) is_managers = text == "[Manager]";
    const std::size_t equals = text.find('=');
    if (!is_managers || equals == std::string_view::npos) continue;
    if (Trim(text.substr(0, equals)) != "DefaultLimitMEMLOCK") continue;
    const std::string value(Trim(text.substr(equals + 1)));
    if (!value.empty() && !ParseLimits(value)) continue;
    last = LaterLimit{.place = fmt::format("{}:{}", MakePrintable(path), number), .value = value};
  }
}

}  // namespace

std::vector<Read> ListManagerReads() {
  return {ReadFiles{"/usr/lib/systemd/system.conf.d/*.conf"},
          ReadFiles{"/usr/local/lib/systemd/system.conf.d/*.conf"},
          ReadFiles{"/run/systemd/system.conf.d/*.conf"},
          ReadFiles{"/etc/systemd/system.conf.d/*.conf"},
          ReadFiles{"/usr/lib/systemd/user.conf.d/*.conf"},
          ReadFiles{"/usr/local/lib/systemd/user.conf.d/*.conf"},
          ReadFiles{"/run/systemd/user.conf.d/*.conf"},
          ReadFiles{"/etc/systemd/user.conf.d/*.conf"}};
}

std::optional<LaterLimit> FindLaterLimit(const NodeFacts& facts, std::string_view folder,
                                         const std::string& own_file, const MemoryLimit& wanted) {
  std::map<std::string, std::string> paths;  // by name, in which order they are read
  for (const std::string_view above : kFolders) {
    const std::string begin = fmt::format("{}{}/", above, folder);
    for (auto file = facts.files.lower_bound(begin);
         file != facts.files.end() && file->first.starts_with(begin); ++file) {
      const bool is_there = !std::holds_alternative<Absent>(file->second);
      if (is_there && file->first.ends_with(".conf")) paths[GetBasename(file->first)] = file->first;
    }
  }
  std::optional<LaterLimit> last;
  for (auto path = paths.upper_bound(GetBasename(own_file)); path != paths.end(); ++path) {
    const Observed<FileState> file = FindFile(facts, path->second);
    if (const FileState* state = Known(file)) ReadSettings(path->second, state->content, last);
  }
  if (!last || ParseLimits(last->value) == MemlockLimits{.soft = wanted, .hard = wanted}) {
    return std::nullopt;
  }
  return last;
}

}  // namespace reconciler::plugins::memlock
