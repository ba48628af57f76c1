#include "reconciler/transport/run_program.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "reconciler/transport/posix.h"

namespace reconciler {
namespace {

constexpr std::size_t kMostPrinted = 256u << 10;  // bytes

// A file in memory: what a program wrote there can be read once it ended.
UniqueFd MakeMemoryFile() { return UniqueFd(memfd_create("program", MFD_CLOEXEC)); }

std::string ReadMemoryFile(const UniqueFd& file) {
  std::string text(kMostPrinted, '\0');
  const ssize_t size = pread(file.Get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

}  // namespace

Result<std::optional<ScriptReply>> RunProgram(const std::vector<std::string>& argv,
                                              const std::string& input, Deadline deadline) {
  const UniqueFd in = MakeMemoryFile();
  const UniqueFd out = MakeMemoryFile();
  const UniqueFd err = MakeMemoryFile();
  if (!in.Open() || !out.Open() || !err.Open() ||
      pwrite(in.Get(), input.data(), input.size(), 0) != static_cast<ssize_t>(input.size())) {
    return Fail({.kind = ErrorKind::kTransport,
                 .message = fmt::format("cannot run '{}': {}", argv.front(),
                                        std::generic_category().message(errno))});
  }
  auto child = Child::Spawn(argv, {in.Get(), out.Get(), err.Get()});
  if (!child) return Fail(std::move(child.error()));
  const std::optional<int> code = child->Wait(deadline);
  if (!code) return std::nullopt;
  return ScriptReply{*code, ReadMemoryFile(out), ReadMemoryFile(err)};
}

}  // namespace reconciler
