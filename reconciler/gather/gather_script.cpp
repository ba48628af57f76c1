#include "reconciler/gather/gather_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reconciler/base/number.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/gather/gather.sh.h"
#include "reconciler/gather/reply/home_reply.h"
#include "reconciler/model/ledger.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/frames.sh.h"
#include "reconciler/node/helper/home_path.h"

namespace reconciler {
namespace {

constexpr std::size_t kLargestFile = 1u << 20;  // bytes
// Parts of that size which the ledger may have, see read_contents of gather.sh.
constexpr std::size_t kLedgerParts = kLargestLedger / kLargestFile;
// Commands with at most this limit run together, all of them within kTogetherLimitS.
constexpr int kShortLimitS = 5;
constexpr int kTogetherLimitS = 10;
constexpr std::string_view kNoName = "UNKNOWN";  // what stat prints then
constexpr int kEnded = 77;                       // how the shell ends that was not cut off

template <class T>
std::vector<T> SelectReads(const std::vector<Read>& reads) {
  std::vector<T> selected;
  for (const Read& read : reads) {
    if (const auto* one = std::get_if<T>(&read)) selected.push_back(*one);
  }
  return selected;
}

std::string QuotePattern(std::string_view root, const std::string& pattern) {
  return " " + (root.empty() ? "" : QuoteForShell(root)) + pattern;
}

std::string BuildFilesPart(const std::vector<Read>& reads, std::string_view root) {
  const auto files = SelectReads<ReadFile>(reads);
  const auto lists = SelectReads<ReadListed>(reads);
  std::string call = fmt::format("gather_files {} {}", files.size(), lists.size());
  for (const ReadFile& read : files) call += " " + QuoteForShell(read.path);
  for (const ReadFiles& read : SelectReads<ReadFiles>(reads))
    call += QuotePattern(root, read.pattern);
  for (const ReadListed& read : lists) call += " " + QuoteForShell(std::string(root) + read.list);
  return call + "\n";
}

std::string BuildValuesPart(const std::vector<Read>& reads, std::string_view root) {
  std::string call = "gather_values";
  for (const ReadValue& read : SelectReads<ReadValue>(reads)) {
    call += " " + QuoteForShell(std::string(root) + read.path);
  }
  for (const ReadValues& read : SelectReads<ReadValues>(reads))
    call += QuotePattern(root, read.pattern);
  return call + "\n";
}

// Each id once, with the operands of all of its probes.
std::vector<RunProbe> JoinProbes(const std::vector<Read>& reads) {
  std::vector<RunProbe> joined;
  std::map<std::string, std::size_t> place;
  std::set<std::pair<std::string, std::string>> seen;
  for (RunProbe& probe : SelectReads<RunProbe>(reads)) {
    const std::vector<std::string> operands = std::exchange(probe.operands, {});
    const auto at = place.emplace(probe.id, joined.size());
    if (at.second) joined.push_back(std::move(probe));
    RunProbe& whole = joined[at.first->second];
    for (const std::string& operand : operands) {
      if (seen.emplace(whole.id, operand).second) whole.argv.push_back(operand);
    }
  }
  return joined;
}

// The calls for commands whose limits `selects` selects.
std::string BuildCommandsPart(const std::vector<RunProbe>& probes, bool (*selects)(int limit_s)) {
  std::string calls;
  for (const RunProbe& probe : probes) {
    if (!selects(probe.time_limit_s)) continue;
    calls += fmt::format("gather_command {} {} {}\n", QuoteForShell(probe.id), probe.time_limit_s,
                         JoinForShell(probe.argv));
  }
  return calls;
}

struct Stat {
  std::size_t size = 0;
  FileState state = {};
  std::string path = {};
};

// "%s %a %U %G %u %g %i %y %n": ten blanks separate eleven words, as %y holds two of the blanks. A
// user or group that is none of the node's has no name: its number is taken, as chown does.
std::optional<Stat> ParseStat(const std::string& record) {
  std::vector<std::string> words;
  std::size_t at = 0;
  for (int i = 0; i < 10; ++i) {
    const std::size_t blank = record.find(' ', at);
    if (blank == std::string::npos) return std::nullopt;
    words.push_back(record.substr(at, blank - at));
    at = blank + 1;
  }
  const auto size = ParseNumber<std::size_t>(words[0]);
  const auto mode = ParseNumber<unsigned>(words[1], 8);
  if (!size || !mode) return std::nullopt;
  Stat stat{.size = *size};
  stat.state.mode = *mode;
  stat.state.owner = words[2] == kNoName ? words[4] : words[2];
  stat.state.group = words[3] == kNoName ? words[5] : words[3];
  const std::string mtime = fmt::format("{} {} {}", words[7], words[8], words[9]);
  if (IsMtime(mtime)) stat.state.mtime = mtime;
  stat.path = record.substr(at);
  return stat;
}

std::vector<std::string> SplitRecords(const std::string& bytes) {
  std::vector<std::string> records = Split(bytes, '\0');
  records.pop_back();  // what follows the last NUL
  return records;
}

using Files = std::map<std::string, Observed<FileState>>;

std::string MakeLedgerPath(std::string_view root) { return fmt::format("{}{}", root, kLedgerFile); }

// `ledger`: its path.
void AddContents(const Frame& stat, const Frame& content, const Frame& again,
                 const std::string& ledger, Files& files) {
  if (stat.out != again.out) {
    for (const std::string& record : SplitRecords(stat.out)) {
      const auto parsed = ParseStat(record);
      if (parsed) files[parsed->path] = Unknown{"files changed while they were read"};
    }
    return;
  }
  std::size_t at = 0;
  for (const std::string& record : SplitRecords(stat.out)) {
    auto parsed = ParseStat(record);
    if (!parsed) continue;
    const std::size_t parts = parsed->path == ledger ? kLedgerParts : 1;
    const std::size_t length = std::min(parsed->size, parts * (kLargestFile + 1));
    if (at + length > content.out.size()) {
      files[parsed->path] = Unknown{"cut while it was read"};
    } else if (parsed->size > parts * kLargestFile) {
      files[parsed->path] = Unknown{fmt::format("larger than {} MiB", parts)};
    } else {
      parsed->state.content = content.out.substr(at, length);
      files[parsed->path] = std::move(parsed->state);
    }
    at += length;
  }
}

Files ParseFiles(const Frame& listing, const Frame& stat, const Frame& content, const Frame& again,
                 std::string_view root) {
  Files files;
  for (const std::string& record : SplitRecords(listing.out)) {
    if (record.size() < 3 || record[0] == '~')
      continue;  // below a home, or neither a state nor a path: what was requested stays unknown
    const std::string path = record.substr(2);
    switch (record[0]) {
      case 'L':
        files[path] = Unknown{"is a symbolic link"};
        break;
      case 'N':
        files[path] = Unknown{std::string(kLinkToNull)};
        break;
      case 'U':
        files[path] = Unknown{"permission denied"};
        break;
      case 'O':
        files[path] = Unknown{"is not a regular file"};
        break;
      case 'D':
        files[path] = Absent{};
        break;
      default:
        files[path] = Unknown{"vanished while it was read"};  // until its content is found
    }
  }
  AddContents(stat, content, again, MakeLedgerPath(root), files);
  return files;
}

std::map<std::string, Observed<std::string>> ParseValues(const Frame& frame) {
  std::map<std::string, Observed<std::string>> values;
  std::string_view rest = frame.out;  // PATH \0 LINE \n …
  for (std::size_t nul = rest.find('\0'); nul != std::string_view::npos; nul = rest.find('\0')) {
    const std::size_t newline = rest.find('\n', nul);
    values[std::string(rest.substr(0, nul))] = std::string(rest.substr(nul + 1, newline - nul - 1));
    if (newline == std::string_view::npos) break;
    rest.remove_prefix(newline + 1);
  }
  for (const std::string& line :
       SplitLines(frame.err)) {  // "grep: PATH: No such file or directory"
    const std::size_t colon = line.rfind(": ");
    if (!line.starts_with("grep: ") || colon == std::string::npos || colon <= 6) continue;
    const std::string path = line.substr(6, colon - 6);
    const std::string reason = line.substr(colon + 2);
    if (path.find('*') != std::string::npos) continue;  // a pattern that matched nothing
    if (reason == "No such file or directory") {
      values[path] = Absent{};
    } else {
      values[path] = Unknown{reason};
    }
  }
  return values;
}

// "~user/…" of the reads themselves and of the lists that were read, sorted, each once.
std::vector<std::string> ListHomePaths(const std::vector<Read>& reads, const Files& files) {
  std::set<std::string> paths;
  for (const ReadFile& read : SelectReads<ReadFile>(reads)) paths.insert(read.path);
  for (const ReadListed& read : SelectReads<ReadListed>(reads)) {
    const auto list = files.find(read.list);
    const FileState* state = list == files.end() ? nullptr : Known(list->second);
    if (state == nullptr) continue;
    for (std::string& path : SplitLines(state->content)) paths.insert(std::move(path));
  }
  std::erase_if(paths, [](const std::string& path) { return !path.starts_with('~'); });
  return {paths.begin(), paths.end()};
}

template <class T>
std::map<std::string, T> RemoveRoot(std::map<std::string, T> map, std::string_view root) {
  if (root.empty()) return map;
  std::map<std::string, T> stripped;
  for (auto& [path, value] : map) {
    stripped[path.starts_with(root) ? path.substr(root.size()) : path] = std::move(value);
  }
  return stripped;
}

// `frame`: the first part that is missing; `session` comes first of all.
Error MakeMissingError(std::string_view frame) {
  if (frame == "session") {
    return {.kind = ErrorKind::kProbe,
            .message = "the login ran no script",
            .hint =
                "log in by hand to see why: an expired password, a forced command or a shell "
                "that is no POSIX shell prevents it, and so does a full disk or memory"};
  }
  return {.kind = ErrorKind::kProbe,
          .message = fmt::format("the node's answer ended before its part '{}'", frame),
          .hint = "the node may be out of memory or disk, or something ended the shell there"};
}

}  // namespace

// One shell with one limit reads all: a `timeout` for each command doubles the processes. Where
// that shell hangs, or something ends it, all is read again, each command within its own limit, and
// the later answers count. The shell that is given the script stays as it was.
std::string BuildGatherScript(const std::vector<Read>& reads, std::string_view nonce,
                              std::string_view root) {
  const std::string functions =
      std::string(kFramesSh) + GetHomeFunctions() +
      AssignForShell({{"ROOT", root},
                      {"LARGEST", std::to_string(kLargestFile + 1)},
                      {"LONG", MakeLedgerPath(root)},
                      {"PARTS", Join(std::vector<std::string>(kLedgerParts, "-"), " ")}}) +
      std::string(kGatherSh);
  const std::vector<RunProbe> probes = JoinProbes(reads);
  std::string calls =
      "frame session\nprintf '%s' \"$1\"\n" + BuildFilesPart(reads, root) +
      BuildValuesPart(reads, root) +
      BuildCommandsPart(probes, [](int limit_s) { return limit_s <= kShortLimitS; });
  std::string slow_calls =
      BuildCommandsPart(probes, [](int limit_s) { return limit_s > kShortLimitS; });
  if (!slow_calls.empty()) calls += "end_commands\n";
  (slow_calls.empty() ? calls : slow_calls) += "end_gathering\n";
  return AssignForShell(
             {{"NONCE", nonce}, {"FUNCTIONS", functions}, {"CALLS", calls}, {"SLOW", slow_calls}}) +
         fmt::format(
             "timeout -k 1 {0} sh -c \"NONCE=$NONCE\n$FUNCTIONS\ntogether=yes\n$CALLS\nexit {1}\" "
             "sh \"$1\" </dev/null\n"
             "[ $? != {1} ] || CALLS=\n"
             "[ -z \"$CALLS$SLOW\" ] || (eval \"$FUNCTIONS\n$CALLS\n$SLOW\")\n"
             "unset NONCE FUNCTIONS CALLS SLOW\n",
             kTogetherLimitS, kEnded);
}

Result<ProbeReply> ParseGatherReply(const ScriptReply& reply, const std::vector<Read>& reads,
                                    std::string_view nonce, std::string_view root) {
  std::map<std::string, Frame> frames;
  ProbeReply facts;
  std::string command;  // whose exit frame comes next
  HomeReplies homes;
  for (Frame& frame : ParseFrames(reply, nonce)) {
    if (frame.label.starts_with("command ")) {
      command = frame.label.substr(8);
      facts.commands[command] = {0, std::move(frame.out), std::move(frame.err)};
    } else if (frame.label.starts_with("exit ")) {
      facts.commands[command].exit_code = ParseNumber<int>(frame.label.substr(5)).value_or(-1);
    } else if (frame.label.starts_with("home ")) {
      homes[frame.label.substr(5)] = std::move(frame.out);
    } else if (frame.label.starts_with("no-user ")) {
      homes[frame.label.substr(8)] = std::nullopt;
    } else {
      frames[frame.label] = std::move(frame);
    }
  }
  for (const char* name : {"session", "files", "stat", "content", "again", "values", "end"}) {
    if (!frames.contains(name)) return Fail(MakeMissingError(name));
  }
  // SSH_CONNECTION: client address, client port, server address, server port.
  const std::vector<std::string> session = Split(frames["session"].out, ' ');
  if (session.size() == 4) facts.session_address = session[2];
  facts.files = RemoveRoot(
      ParseFiles(frames["files"], frames["stat"], frames["content"], frames["again"], root), root);
  facts.values = RemoveRoot(ParseValues(frames["values"]), root);

  AddHomeFiles(ListHomePaths(reads, facts.files), homes, facts.files);
  return facts;
}

}  // namespace reconciler
