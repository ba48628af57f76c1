#include "reconciler/cli/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <tuple>

#include "reconciler/base/text.h"
#include "reconciler/transport/posix.h"

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
          .message = fmt::format("{}: cannot be written: {}", path, std::strerror(code))};
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

Result<void> WritePrivateFile(const std::string& path, const std::string& text) {
  constexpr mode_t kOwnerOnly = 0600;
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kOwnerOnly));
  if (!file.Open()) return Fail(MakeWriteError(path, errno));
  // A device or a pipe keeps its mode.
  struct stat found {};
  const bool narrowed = fstat(file.Get(), &found) == 0 &&
                        (!S_ISREG(found.st_mode) ||
                         (fchmod(file.Get(), kOwnerOnly) == 0 && ftruncate(file.Get(), 0) == 0));
  if (!narrowed) return Fail(MakeWriteError(path, errno));
  if (const int code = WriteAll(file.Get(), text); code != 0) {
    return Fail(MakeWriteError(path, code));
  }
  if (close(file.Release()) != 0) return Fail(MakeWriteError(path, errno));
  return {};
}

Result<void> WriteNewFile(const std::string& path, const std::string& text) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!file.Open()) {
    const int code = errno;
    Error error = MakeWriteError(path, code);
    if (code == EEXIST) error.hint = "name another file, or '-' to print the manifest";
    return Fail(std::move(error));
  }
  const int code = WriteAll(file.Get(), text);
  if (code == 0) return {};
  unlink(path.c_str());
  return Fail(MakeWriteError(path, code));
}

Result<void> WriteResultFile(const std::string& path, const std::string& text) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file.Open()) return Fail(MakeWriteError(path, errno));
  if (const int code = WriteAll(file.Get(), text); code != 0) {
    return Fail(MakeWriteError(path, code));
  }
  return {};
}

namespace {

// A file beside `target` with that mode and, where that is allowed, owner, which then takes its
// place. `path`: as the user named it.
Result<void> Replace(const std::string& path, const std::string& target, const struct stat& like,
                     const std::string& text) {
  std::string beside = target + ".XXXXXX";
  const UniqueFd file(mkostemp(beside.data(), O_CLOEXEC));
  if (!file.Open()) return Fail(MakeWriteError(path, errno));
  std::ignore = fchown(file.Get(), like.st_uid, like.st_gid);
  int code = WriteAll(file.Get(), text);
  const bool replaced = code == 0 && fchmod(file.Get(), like.st_mode & 07777) == 0 &&
                        fsync(file.Get()) == 0 && rename(beside.c_str(), target.c_str()) == 0;
  if (replaced) return {};
  if (code == 0) code = errno;
  unlink(beside.c_str());
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
  struct stat found {};
  if (stat(path.c_str(), &found) == 0) {
    return S_ISREG(found.st_mode) ? ReplaceFile(path, text) : WriteResultFile(path, text);
  }
  struct stat fresh {};
  fresh.st_mode = 0644;
  fresh.st_uid = geteuid();
  fresh.st_gid = getegid();
  return Replace(path, path, fresh, text);
}

std::string FormatArgument(const std::string& path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+=:,@%-";
  const bool is_plain =
      !path.empty() && path.front() != '-' && path.find_first_not_of(kPlain) == std::string::npos;
  return is_plain ? path : MakePrintable(QuoteForShell(path));
}

}  // namespace reconciler::cli
