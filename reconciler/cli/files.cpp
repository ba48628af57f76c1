#include "reconciler/cli/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"
#include "reconciler/transport/text_file.h"

namespace reconciler::cli {

int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(fd, text.data(), text.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

Error MakeWriteError(const std::string& path, int code) {
  return {.kind = ErrorKind::kUsage,
          .message =
              fmt::format("{}: cannot be written: {}", MakePrintable(path), std::strerror(code))};
}

namespace {

// Whether a file can be made beside `path`; `named`: as the user wrote it.
Result<void> CheckFolder(const std::string& path, const std::string& named) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(folder.c_str(), W_OK | X_OK) != 0) return Fail(MakeWriteError(named, errno));
  return {};
}

}  // namespace

Result<void> CheckWritable(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) return Fail(MakeWriteError(path, EISDIR));
    if (access(path.c_str(), W_OK) != 0) return Fail(MakeWriteError(path, errno));
    return {};
  }
  return CheckFolder(path, path);
}

Result<void> CheckReplaceable(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode)) return CheckWritable(path);
  std::error_code unread;
  return CheckFolder(std::filesystem::weakly_canonical(path, unread).string(), path);
}

namespace {

bool IsSame(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Also where neither is there yet.
bool IsSameFile(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  const bool has_first = stat(one.c_str(), &first) == 0;
  const bool has_second = stat(other.c_str(), &second) == 0;
  if (has_first && has_second) return S_ISREG(first.st_mode) && IsSame(first, second);
  if (has_first || has_second) return false;
  std::error_code failed;
  const auto resolve = [&failed](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, failed), failed);
  };
  return resolve(one) == resolve(other) && !failed;
}

// Whether it is the file of another output or of an input.
Result<void> CheckAlone(const OutputFile& output, const std::vector<OutputFile>& outputs,
                        const std::vector<InputFile>& inputs) {
  for (const InputFile& input : inputs) {
    if (!IsSameFile(output.path, input.path)) continue;
    return Fail({.kind = ErrorKind::kUsage,
                 .message = fmt::format("{}: is the {} that is read", MakePrintable(output.path),
                                        input.what),
                 .hint = "name another file with " + output.option});
  }
  for (const OutputFile& other : outputs) {
    if (other.option == output.option || other.path.empty()) continue;
    if (!IsSameFile(output.path, other.path)) continue;
    return Fail({.kind = ErrorKind::kUsage,
                 .message = fmt::format("{}: wanted a file for each of {} and {}",
                                        MakePrintable(output.path), output.option, other.option),
                 .hint = "name another file with one of them"});
  }
  return {};
}

}  // namespace

Result<void> CheckOutputs(const std::vector<OutputFile>& outputs,
                          const std::vector<InputFile>& inputs) {
  for (const OutputFile& output : outputs) {
    if (output.path.empty()) continue;
    if (auto alone = CheckAlone(output, outputs, inputs); !alone) return alone;
    auto writable = output.replaced ? CheckReplaceable(output.path) : CheckWritable(output.path);
    if (!writable) return writable;
  }
  return {};
}

namespace {

// Beside `target`, until it takes its place; otherwise it is removed.
class FileBeside {
 public:
  // errno is that of the attempt, where it is not open.
  explicit FileBeside(const std::string& target)
      : target_(target),
        path_(target + ".XXXXXX"),
        file_(mkostemp(path_.data(), O_CLOEXEC)),
        is_left_(file_.Open()) {}
  ~FileBeside() {
    if (is_left_) unlink(path_.c_str());
  }
  FileBeside(const FileBeside&) = delete;
  FileBeside& operator=(const FileBeside&) = delete;

  bool Open() const { return file_.Open(); }

  // Whether it has the owner and the group of `like` then.
  bool TakeOwner(const struct stat& like) const {
    if (fchown(file_.Get(), like.st_uid, like.st_gid) == 0) return true;
    std::ignore = fchown(file_.Get(), static_cast<uid_t>(-1), like.st_gid);
    struct stat own {};
    return fstat(file_.Get(), &own) == 0 && own.st_uid == like.st_uid && own.st_gid == like.st_gid;
  }

  // errno; 0: done. Some file systems have no modes, or cannot be synced.
  int Write(mode_t mode, const std::string& text) const {
    if (const int code = WriteAll(file_.Get(), text); code != 0) return code;
    const auto is_done = [](int result) {
      return result == 0 || errno == EPERM || errno == ENOTSUP || errno == EINVAL;
    };
    return is_done(fchmod(file_.Get(), mode & 07777)) && is_done(fsync(file_.Get())) ? 0 : errno;
  }

  // errno; 0: done.
  int TakePlace() {
    if (rename(path_.c_str(), target_.c_str()) != 0) return errno;
    is_left_ = false;
    return 0;
  }

 private:
  std::string target_;
  std::string path_;
  UniqueFd file_;
  bool is_left_;
};

// Of a file that is not there yet, as open() would make it.
struct stat MakeFreshStat(mode_t mode) {
  struct stat fresh {};
  fresh.st_mode = mode;
  fresh.st_uid = geteuid();
  fresh.st_gid = getegid();
  return fresh;
}

// Whether one of this process's first `count` descriptors is that file, as stdout or /dev/fd/3 may
// be: whoever reads it there would not see a file that takes its place.
bool IsOpenHere(const struct stat& found, int count) {
  for (int fd = 0; fd < count; ++fd) {
    struct stat own {};
    if (fstat(fd, &own) == 0 && IsSame(own, found)) return true;
  }
  return false;
}

// A file that takes the place of this one would not be the same to all: it has other names, or
// a program has it open.
bool IsTied(const struct stat& found) {
  constexpr int kPassedOn = 256;  // what a shell passes on has a low number
  return !S_ISREG(found.st_mode) || found.st_nlink > 1 || IsOpenHere(found, kPassedOn);
}

// Not where there is no room: what is there would be lost.
bool MayOverwriteAfter(int code) {
  return code == EACCES || code == EPERM || code == EROFS || code == EBUSY || code == ENAMETOOLONG;
}

// nullopt: the mode of a new file is 0644, and another one keeps its own.
Result<void> Overwrite(const std::string& path, const std::string& text,
                       std::optional<mode_t> mode) {
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, mode.value_or(0644)));
  if (!file.Open()) return Fail(MakeWriteError(path, errno));
  // A device or a pipe keeps its mode, and has no length.
  struct stat found {};
  const bool ready = fstat(file.Get(), &found) == 0 &&
                     (!S_ISREG(found.st_mode) ||
                      ((!mode || fchmod(file.Get(), *mode) == 0) && ftruncate(file.Get(), 0) == 0));
  if (!ready) return Fail(MakeWriteError(path, errno));
  if (const int code = WriteAll(file.Get(), text); code != 0) {
    return Fail(MakeWriteError(path, code));
  }
  if (close(file.Release()) != 0) return Fail(MakeWriteError(path, errno));
  return {};
}

// A half-written file is removed.
Result<void> WriteFresh(const std::string& path, const std::string& text, mode_t mode) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file.Open()) return Fail(MakeWriteError(path, errno));
  const int code = WriteAll(file.Get(), text);
  if (code == 0) return {};
  unlink(path.c_str());
  return Fail(MakeWriteError(path, code));
}

// See WritePrivateFile; `mode` as in Overwrite. A private file belongs to this user.
Result<void> WriteWhole(const std::string& path, const std::string& text,
                        std::optional<mode_t> mode) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return WriteFresh(path, text, mode.value_or(0644));
  const bool leads_somewhere = stat(path.c_str(), &found) == 0;
  if (!leads_somewhere || IsTied(found)) return Overwrite(path, text, mode);
  if (access(path.c_str(), W_OK) != 0) return Fail(MakeWriteError(path, errno));
  std::error_code unresolved;
  const auto target = std::filesystem::weakly_canonical(path, unresolved);
  FileBeside beside(unresolved ? path : target.string());
  int code = beside.Open() ? 0 : errno;
  if (code == 0) {
    if (!mode && !beside.TakeOwner(found)) return Overwrite(path, text, mode);
    code = beside.Write(mode.value_or(found.st_mode), text);
    if (code != 0) return Fail(MakeWriteError(path, code));
    code = beside.TakePlace();
  }
  if (code == 0) return {};
  return MayOverwriteAfter(code) ? Overwrite(path, text, mode) : Fail(MakeWriteError(path, code));
}

}  // namespace

Result<void> WritePrivateFile(const std::string& path, const std::string& text) {
  return WriteWhole(path, text, 0600);
}

Result<void> WriteResultFile(const std::string& path, const std::string& text) {
  return WriteWhole(path, text, std::nullopt);
}

Result<void> WriteNewFile(const std::string& path, const std::string& text) {
  struct stat found {};
  const bool is_there = lstat(path.c_str(), &found) == 0;
  auto written = WriteFresh(path, text, 0644);
  if (!written && is_there)
    written.error().hint = "name another file, or '-' to print the manifest";
  return written;
}

namespace {

// `path`: as the user named it.
Result<void> Replace(const std::string& path, const std::string& target, const struct stat& like,
                     const std::string& text) {
  FileBeside beside(target);
  int code = beside.Open() ? 0 : errno;
  if (code == 0) {
    std::ignore = beside.TakeOwner(like);
    code = beside.Write(like.st_mode, text);
  }
  if (code == 0) code = beside.TakePlace();
  if (code == 0) return {};
  return Fail(MakeWriteError(path, code));
}

}  // namespace

Result<void> ReplaceFile(const std::string& path, const std::string& text) {
  const std::unique_ptr<char, decltype(&std::free)> target(realpath(path.c_str(), nullptr),
                                                           &std::free);
  struct stat was {};
  if (target == nullptr || stat(target.get(), &was) != 0) {
    return Fail(MakeWriteError(path, errno));
  }
  return Replace(path, target.get(), was, text);
}

Result<void> PublishFile(const std::string& path, const std::string& text) {
  constexpr int kStreams = 3;  // any other reader that has it open reads the old file to its end
  struct stat found {};
  if (stat(path.c_str(), &found) == 0) {
    const bool is_replaced = S_ISREG(found.st_mode) && !IsOpenHere(found, kStreams);
    return is_replaced ? ReplaceFile(path, text) : Overwrite(path, text, std::nullopt);
  }
  return Replace(path, path, MakeFreshStat(0644), text);
}

Result<void> ReplaceUnchanged(const std::string& path, const std::string& was,
                              const std::string& text) {
  const auto now = ReadTextFile(path);
  if (!now) return Fail(now.error());
  if (*now == was) return ReplaceFile(path, text);
  return Fail({.kind = ErrorKind::kUsage,
               .message = MakePrintable(path) + ": was changed meanwhile",
               .hint = "run the command again"});
}

pid_t FindLockHolder(std::string_view locks, dev_t device, ino_t inode) {
  const std::string file = fmt::format("{:02x}:{:02x}:{}", major(device), minor(device), inode);
  for (const std::string& line : SplitLines(locks)) {
    std::vector<std::string> words = Split(line, ' ');
    std::erase(words, "");  // "1: FLOCK  ADVISORY  WRITE 4711 fd:01:262146 0 EOF"
    if (words.size() < 6 || words[1] != "FLOCK" || words[5] != file) continue;
    return ParseNumber<pid_t>(words[4]).value_or(0);
  }
  return 0;
}

namespace {

std::string FormatFolderWait(const std::string& folder, int fd) {
  struct stat found {};
  const auto locks = ReadTextFile("/proc/locks");
  const pid_t holder =
      locks && fstat(fd, &found) == 0 ? FindLockHolder(*locks, found.st_dev, found.st_ino) : 0;
  return fmt::format("waiting for another edit of a file in {}{}\n", MakePrintable(folder),
                     holder > 0 ? fmt::format(" (process {})", holder) : "");
}

}  // namespace

FolderLock::FolderLock(const std::string& path)
    : FolderLock(path, std::cerr, std::chrono::seconds(1)) {}

FolderLock::FolderLock(const std::string& path, std::ostream& notes,
                       std::chrono::milliseconds patience) {
  constexpr int kTries = 100;
  constexpr std::chrono::milliseconds kPause{100};
  std::error_code failed;
  const auto file =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, failed), failed);
  const std::string folder = file.parent_path();
  folder_ = UniqueFd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  bool is_said = false;
  for (int i = 0; folder_.Open() && i < kTries; ++i) {
    if (flock(folder_.Get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
    if (!is_said && i * kPause >= patience) {
      notes << FormatFolderWait(folder, folder_.Get()) << std::flush;
      is_said = true;
    }
    std::this_thread::sleep_for(kPause);
  }
}

std::string FormatArgument(const std::string& path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+=:,@%-";
  const bool is_plain =
      !path.empty() && path.front() != '-' && path.find_first_not_of(kPlain) == std::string::npos;
  return is_plain ? path : MakePrintable(QuoteForShell(path));
}

}  // namespace reconciler::cli
