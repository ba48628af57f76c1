#include "reconciler/node/node_program.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "reconciler/base/base64.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/model/ledger.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/program.sh.h"

namespace reconciler {
namespace {

constexpr Milliseconds kProgramLimit = std::chrono::seconds(60);
constexpr std::size_t kLineWidth = 76;  // of base64, as `base64` itself writes it
constexpr std::string_view kFolder = "/var/lib/spark-reconcile/bin";

constexpr int kDoesNotStart = 3;        // exit status of an upload
constexpr std::size_t kRunDigits = 16;  // at the end of a path that belongs to one run

Error MakeRefusedError(const NodeSpec& node, const ScriptReply& reply) {
  return {.kind = ErrorKind::kVerify,
          .message = fmt::format("wanted spark-verify copied to {}, found: {}", node.name,
                                 MakePrintable(Trim(reply.err.empty() ? reply.out : reply.err)))};
}

// The loader's line is "PATH: LIBRARY: version `GLIBC_N' not found (required by PATH)", the shell's
// "sh: LINE: PATH: Permission denied".
Error MakeNotStartedError(const NodeSpec& node, const ScriptReply& reply) {
  constexpr std::string_view kDenied = "Permission denied";
  std::string said = FindLastLine(reply.err);
  const std::size_t version = said.find("version `GLIBC_");
  if (version != std::string::npos) {
    said = said.substr(version, said.find(" (required by", version) - version);
  } else if (said.ends_with(kDenied)) {
    said = kDenied;
  } else if (said.empty()) {
    said = "nothing";
  }
  std::string hint;
  if (version != std::string::npos) {
    hint = fmt::format(
        "the libc of {} is too old: use a spark-reconcile built on a release no newer than the "
        "node's",
        node.name);
  } else if (said == kDenied) {
    hint = fmt::format("mount the file system of {} without noexec", kFolder);
  }
  return {.kind = ErrorKind::kVerify,
          .message = fmt::format("wanted spark-verify to start on {}, found: {}", node.name, said),
          .hint = std::move(hint)};
}

// It is a part of a file's name here, and of messages.
bool IsMachineType(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

Result<std::string> ReadMachine(const NodeSpec& node, NodePool& pool) {
  const auto reply = pool.Run(node, "uname -m\n", kProgramLimit);
  if (!reply) return Fail(reply.error());
  return std::string(Trim(reply->out));
}

}  // namespace

std::string ChooseProgramFolder(const std::string& own) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::path(own) / "spark-verify", error)) return own;
  const auto installed = std::filesystem::path(own).parent_path() / "libexec" / "spark-reconcile";
  return std::filesystem::is_directory(installed, error) ? installed.string() : own;
}

Result<std::string> ReadProgram(const std::string& folder, const std::string& machine) {
  if (!IsMachineType(machine)) {
    return Fail(
        {.kind = ErrorKind::kVerify,
         .message = fmt::format("wanted a machine type like aarch64 of uname -m, found '{}'",
                                MakePrintable(machine))});
  }
  utsname own = {};
  uname(&own);
  const std::string name = machine == own.machine ? "spark-verify" : "spark-verify-" + machine;
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) {
    return Fail({.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted the program {} for a node of type {}, found none",
                                        path.string(), machine),
                 .hint = machine == own.machine
                             ? "install or build it together with spark-reconcile"
                             : fmt::format("build it and put it there: cmake --build build "
                                           "--target {} (with {}-linux-gnu-g++ installed)",
                                           name, machine)});
  }
  return bytes;
}

std::string GetProgramPath(std::string_view program) {
  return fmt::format("{}/spark-verify-{}", kFolder, ComputeSha256Hex(program).substr(0, 16));
}

std::string BuildClaimScript(const std::string& kept, const std::string& own) {
  return fmt::format("{}claim_program {} {}\n", kProgramSh, QuoteForShell(kept),
                     QuoteForShell(own));
}

std::string BuildUploadScript(std::string_view program, const std::string& path) {
  return AssignForShell({{"PROGRAM_PATH", path},
                         {"DIGEST", ComputeSha256Hex(program)},
                         {"BASE64", EncodeBase64(program, kLineWidth)}}) +
         std::string(kProgramSh) + "upload\n";
}

Result<std::string> PushProgram(const NodeSpec& node, NodePool& pool, const std::string& folder) {
  const auto machine = ReadMachine(node, pool);
  if (!machine) return Fail(machine.error());
  const auto program = ReadProgram(folder, *machine);
  if (!program) return Fail(program.error());
  const std::string kept = GetProgramPath(*program);
  const std::string path = kept + MakeNonce().substr(0, kRunDigits);
  const auto there = pool.Run(node, BuildClaimScript(kept, path), kProgramLimit);
  if (!there) return Fail(there.error());
  if (Trim(there->out) == ComputeSha256Hex(*program)) return path;
  const auto reply = pool.Run(node, BuildUploadScript(*program, path), kProgramLimit);
  if (!reply) return Fail(reply.error());
  if (reply->exit_code == 0) return path;
  RemoveProgram(node, pool, path);  // and the folders that were made for it
  return Fail(reply->exit_code == kDoesNotStart ? MakeNotStartedError(node, *reply)
                                                : MakeRefusedError(node, *reply));
}

void KeepProgram(const NodeSpec& node, NodePool& pool, const std::string& path) {
  const std::string kept = path.substr(0, path.size() - kRunDigits);
  std::ignore = pool.Run(
      node,
      fmt::format("{}keep_program {} {}\n", kProgramSh, QuoteForShell(path), QuoteForShell(kept)),
      kProgramLimit);
}

void RemoveProgram(const NodeSpec& node, NodePool& pool, const std::string& path) {
  const std::string script = fmt::format("{}remove_program {} {} {}\n", kProgramSh,
                                         QuoteForShell(path), kFolder, kStateFolder);
  // A connection that broke in the run is made again.
  if (!pool.Run(node, script, kProgramLimit)) std::ignore = pool.Run(node, script, kProgramLimit);
}

}  // namespace reconciler
