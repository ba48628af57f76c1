#pragma once

#include <string>
#include <string_view>

#include "reconciler/base/result.h"

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

// Only its owner may read it, also when it was there before: plans hold what stands in root's
// files.
Result<void> WritePrivateFile(const std::string& path, const std::string& text);

// Everyone may read it; what is there is overwritten. It may be a device or a pipe.
Result<void> WriteResultFile(const std::string& path, const std::string& text);

// Everyone may read it, as a manifest. Never over a file that is there.
Result<void> WriteNewFile(const std::string& path, const std::string& text);

// A file beside it, then a rename: it is the old one or the new one, never half of it. A link stays
// a link; the file keeps its mode, and its owner where that is allowed.
Result<void> ReplaceFile(const std::string& path, const std::string& text);

// The same, also where there is no file yet; everyone may read a new one. It may be a device or a
// pipe, which is written as it is.
Result<void> PublishFile(const std::string& path, const std::string& text);

// A path as it stands in a command that a person may copy: quoted where a shell needs that.
std::string FormatArgument(const std::string& path);

}  // namespace reconciler::cli
