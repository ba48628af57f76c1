#pragma once

#include <sys/types.h>

#include <chrono>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/transport/posix.h"

// The files that the user names on this machine.
namespace reconciler::cli {

// All of `text`, also where the system takes it in pieces. errno of the write that failed; 0: none
// did.
int WriteAll(int fd, std::string_view text);

// "PATH: cannot be written: No space left on device". `code`: errno's.
Error MakeWriteError(const std::string& path, int code);

// Whether a write to that path would begin well: an error that is worth knowing before long work.
// Nothing is made.
Result<void> CheckWritable(const std::string& path);

// The same for a file that is replaced by a rename, which wants the folder alone.
Result<void> CheckReplaceable(const std::string& path);

struct OutputFile {
  std::string option = {};  // that names it, such as "--out"
  std::string path = {};    // empty: none
  bool replaced = false;    // by a rename, which wants the folder alone
};

struct InputFile {
  std::string path = {};
  std::string what = {};  // "manifest"
};

// Whether all of `outputs` can be written, and none of them is a file that is read, or that of
// another option. Devices and pipes may be named twice.
Result<void> CheckOutputs(const std::vector<OutputFile>& outputs,
                          const std::vector<InputFile>& inputs);

// The two below write a file beside it and rename that, so that a full disk leaves the old file.
// Where no file may take its place, and where it is a device, a pipe or this program's stdout or
// stderr, they overwrite what is there.

// Only its owner may read it, also when it was there before: plans hold what stands in root's
// files.
Result<void> WritePrivateFile(const std::string& path, const std::string& text);

// Everyone may read a new one, as far as the umask allows; another one keeps its mode.
Result<void> WriteResultFile(const std::string& path, const std::string& text);

// Everyone may read it, as a manifest. Never over a file that is there.
Result<void> WriteNewFile(const std::string& path, const std::string& text);

// A file beside it, then a rename: it is the old one or the new one, never half of it. A link stays
// a link; the file keeps its mode, and its owner where that is allowed.
Result<void> ReplaceFile(const std::string& path, const std::string& text);

// The same, also where there is no file yet; everyone may read a new one. It may be a device or a
// pipe, which is written as it is.
Result<void> PublishFile(const std::string& path, const std::string& text);

// ReplaceFile where the file still holds `was`, which `text` was made from; otherwise an error.
Result<void> ReplaceUnchanged(const std::string& path, const std::string& was,
                              const std::string& text);

// As long as one lives, another one for a file of the same folder waits: from a file's reading to
// its replacement. Not for long, since a caller may hold such a lock itself; and a file system may
// have no locks. ReplaceUnchanged finds what happened without one. A wait of a second is said on
// stderr.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path);
  // Says on `notes`, once, that it waits, when it has waited for `patience`.
  FolderLock(const std::string& path, std::ostream& notes, std::chrono::milliseconds patience);

 private:
  UniqueFd folder_;
};

// The process that holds a flock of that file, by the text of /proc/locks. 0: none is there; it may
// run in another container, or the file system may count its files otherwise there.
pid_t FindLockHolder(std::string_view locks, dev_t device, ino_t inode);

// A path as it stands in a command that a person may copy: quoted where a shell needs that.
std::string FormatArgument(const std::string& path);

}  // namespace reconciler::cli
