#include "plugins/nccl/library.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr std::string_view kPathKey = "nccl.library";         // "VERSION PATH"
constexpr std::string_view kNamesKey = "nccl.library_names";  // with blanks between
constexpr int kLimitS = 20;  // 220 MB from a cold disk; 0.1 s from memory

// A constant: $1 is the library, or empty for the one in the loader's cache. The first line is its
// path; none: there is no such library.
constexpr std::string_view kLibraryScript =
    "lib=$1\n"
    "if [ -z \"$lib\" ]; then\n"
    "  for ldconfig in ldconfig /sbin/ldconfig; do\n"
    "    lib=$($ldconfig -p 2>/dev/null | sed -n 's/^[[:space:]]*libnccl\\.so\\.2 .* => //p' |"
    " head -n 1)\n"
    "    [ -z \"$lib\" ] || break\n"
    "  done\n"
    "fi\n"
    "[ -n \"$lib\" ] && [ -e \"$lib\" ] || exit 0\n"
    "{ printf '%s\\n' \"$lib\"\n"
    "grep -aoE 'NCCL_[A-Z0-9_]+|NCCL version [0-9]+[.][0-9]+[.][0-9]+' -- \"$lib\"; } | sort -u\n";

}  // namespace

std::string Library::Label() const {
  return version.empty() ? fmt::format("the NCCL at {}", path)
                         : fmt::format("NCCL {} ({})", version, path);
}

bool IsOlder(const std::string& a, const std::string& b) {
  if (a == b || a.empty() || b.empty()) return false;
  const std::vector<std::string> left = Split(a, '.');
  const std::vector<std::string> right = Split(b, '.');
  const auto is_less = [](const std::string& x, const std::string& y) {
    return ParseNumber<int>(x) < ParseNumber<int>(y);
  };
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
                                      is_less);
}

RunProbe MakeLibraryProbe(const Section& section) {
  return {.id = std::string(kPathKey),
          .argv = {"sh", "-c", std::string(kLibraryScript), "sh", section.library},
          .time_limit_s = kLimitS};
}

void StoreLibrary(const CommandReply& reply, NodeFacts& facts) {
  Observed<std::string>& label = facts.values[std::string(kPathKey)];
  if (reply.exit_code == 124) {
    label = Unknown{fmt::format("reading libnccl took longer than {} s", kLimitS)};
    return;
  }
  if (reply.exit_code != 0) {
    label = Unknown{"libnccl cannot be read: " + MakePrintable(Trim(reply.err))};
    return;
  }
  std::string path;
  std::string version = "-";
  std::string names;
  constexpr std::string_view kVersion = "NCCL version ";
  for (const std::string& line : SplitLines(reply.out)) {
    if (line.starts_with('/')) {
      path = line;
    } else if (line.starts_with(kVersion)) {
      version = line.substr(kVersion.size());
    } else {
      names += (names.empty() ? "" : " ") + line;
    }
  }
  if (path.empty()) {
    label = Absent{};
    return;
  }
  if (names.empty()) {
    label = Unknown{reply.err.empty()
                        ? fmt::format("{} names no variable: is it a libnccl?", MakePrintable(path))
                        : MakePrintable(Trim(reply.err))};
    return;
  }
  label = fmt::format("{} {}", version, MakePrintable(path));
  facts.values[std::string(kNamesKey)] = names;
}

std::string FindLibraryVersion(const NodeFacts& facts) {
  // Asked of every peer for every node: without a copy of the fact.
  static const std::string kKey(kPathKey);
  const auto found = facts.values.find(kKey);
  const auto* text = found != facts.values.end() ? Known(found->second) : nullptr;
  return text == nullptr || text->starts_with('-') ? "" : text->substr(0, text->find(' '));
}

Observed<Library> FindLibrary(const NodeFacts& facts) {
  const Observed<std::string> label = FindValue(facts, std::string(kPathKey));
  if (const auto* unknown = std::get_if<Unknown>(&label)) return *unknown;
  const auto* text = Known(label);
  if (text == nullptr) return Absent{};
  const std::size_t blank = text->find(' ');
  if (blank == std::string::npos) return Unknown{"libnccl's facts are not understood"};
  Library library{.path = text->substr(blank + 1), .version = text->substr(0, blank)};
  if (library.version == "-") library.version.clear();
  const Observed<std::string> names = FindValue(facts, std::string(kNamesKey));
  if (const auto* list = Known(names)) {
    for (std::string& name : Split(*list, ' ')) library.names.insert(std::move(name));
  }
  return library;
}

}  // namespace reconciler::plugins::nccl
