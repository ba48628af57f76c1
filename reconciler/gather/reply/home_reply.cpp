#include "reconciler/gather/reply/home_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::size_t kLargestHomeFile = 1u << 20;  // bytes
constexpr std::size_t kBlock = 512;                 // of a tar archive, in bytes

// Of one user's files, by path below the home.
using HomeFiles = std::map<std::string, Observed<FileState>>;

// "nvidia" of "~nvidia/.ssh/config".
std::string ReadHomeUser(std::string_view path) {
  const std::size_t slash = path.find('/');
  return std::string(path.substr(1, slash == std::string_view::npos ? slash : slash - 1));
}

// Takes what stands before the next NUL off `rest`; nullopt: there is none.
std::optional<std::string> TakeRecord(std::string_view& rest) {
  const std::size_t nul = rest.find('\0');
  if (nul == std::string_view::npos) return std::nullopt;
  std::string record(rest.substr(0, nul));
  rest.remove_prefix(nul + 1);
  return record;
}

// `part`: the component of `path` that it is about.
Observed<FileState> MakeHomeState(char state, const std::string& path, const std::string& part,
                                  const std::string& user) {
  if (part == ".") return Unknown{fmt::format("the home of {} cannot be entered", user)};
  const auto about = [&](std::string_view what) {
    if (part == path) return Unknown{std::string(what)};
    return Unknown{fmt::format("~{}/{} {}", user, MakePrintable(part), what)};
  };
  switch (state) {
    case 'D':
      return Absent{};
    case 'L':
      return about("is a symbolic link");
    case 'O':
      return about(part == path ? "is not a regular file" : "is not a directory");
    case 'U':
      return part == path ? Unknown{"permission denied"} : about("cannot be entered");
    default:
      return Unknown{"vanished while it was read"};  // until its content is found
  }
}

// One entry's header. Numbers are octal, names end with a NUL where they are shorter than their
// field.
struct TarHeader {
  std::string name = {};
  char type = 0;
  std::size_t size = 0;
  FileState state = {};
};

std::string ReadField(std::string_view block, std::size_t at, std::size_t length) {
  const std::string_view field = block.substr(at, length);
  return std::string(field.substr(0, field.find('\0')));
}

std::optional<TarHeader> ReadTarHeader(std::string_view block) {
  const auto mode = ParseNumber<unsigned>(ReadField(block, 100, 8), 8);
  const auto size = ParseNumber<std::size_t>(ReadField(block, 124, 12), 8);
  if (!mode || !size) return std::nullopt;
  return TarHeader{.name = ReadField(block, 0, 100),
                   .type = block[156],
                   .size = *size,
                   .state = {.mode = *mode & 07777,
                             .owner = ReadField(block, 265, 32),
                             .group = ReadField(block, 297, 32)}};
}

void AddHomeContents(std::string_view archive, HomeFiles& files) {
  std::string long_name;  // of the next entry
  while (archive.size() >= kBlock && archive.front() != '\0') {
    auto header = ReadTarHeader(archive.substr(0, kBlock));
    archive.remove_prefix(kBlock);
    if (!header) return;
    const auto file = files.find(long_name.empty() ? header->name : long_name);
    const bool ours = file != files.end() && header->type == '0';
    if (ours && header->size > kLargestHomeFile) file->second = Unknown{"larger than 1 MiB"};
    if (header->size > archive.size()) return;  // cut
    const std::string_view content = archive.substr(0, header->size);
    archive.remove_prefix(std::min(archive.size(), (header->size + kBlock - 1) / kBlock * kBlock));
    long_name = header->type == 'L' ? ReadField(content, 0, content.size()) : "";
    if (!ours || header->size > kLargestHomeFile) continue;
    header->state.content = content;
    file->second = std::move(header->state);
  }
}

HomeFiles ParseHomeReply(std::string_view reply, const std::string& user) {
  HomeFiles files;
  std::vector<std::string> readable;
  while (true) {
    const auto record = TakeRecord(reply);
    if (!record || record->empty()) break;
    const auto part = TakeRecord(reply);
    if (!part || record->size() < 2) return files;
    const std::string path = record->substr(2);
    files[path] = MakeHomeState(record->front(), path, *part, user);
    if (record->front() == 'F') readable.push_back(path);
  }
  AddHomeContents(reply, files);
  // tar's exit status stands behind the archive: 1 where a file changed while it was read.
  if (reply.ends_with("exit 0")) return files;
  const bool ended = reply.ends_with("exit 1") || reply.ends_with("exit 2");
  for (const std::string& path : readable) {
    if (Known(files[path]) == nullptr) continue;
    files[path] = Unknown{ended ? "files changed while they were read" : "cut while it was read"};
  }
  return files;
}

}  // namespace

void AddHomeFiles(const std::vector<std::string>& paths, const HomeReplies& replies,
                  std::map<std::string, Observed<FileState>>& files) {
  std::map<std::string, HomeFiles> homes;
  for (const auto& [user, reply] : replies) {
    if (reply) homes[user] = ParseHomeReply(*reply, user);
  }
  for (const std::string& path : paths) {
    const std::string user = ReadHomeUser(path);
    const auto home = homes.find(user);
    if (home == homes.end()) {
      const bool missing = replies.contains(user);
      files[path] =
          Unknown{missing ? fmt::format("no user {} on this node", user) : "not answered"};
      continue;
    }
    const auto found = home->second.find(path.substr(std::min(path.size(), user.size() + 2)));
    if (found == home->second.end()) {
      files[path] = Unknown{"nothing could be read as " + user};
    } else {
      files[path] = found->second;
    }
  }
}

}  // namespace reconciler
