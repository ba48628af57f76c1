#include "reconciler/transport/revoked_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "reconciler/base/base64.h"
#include "reconciler/base/text.h"
#include "reconciler/transport/run_program.h"
#include "reconciler/transport/text_file.h"

namespace reconciler {
namespace {

constexpr std::string_view kKrlBegin("SSHKRL\n\0", 8);

Error MakeRevokedKeysError(const std::string& file, std::string_view what) {
  return {.kind = ErrorKind::kTransport,
          .message = fmt::format("{}: {}", MakePrintable(file), what)};
}

// "ssh-ed25519 AAAA…" of a line that has a key and may have a comment behind it; nothing: no key.
// The bytes of a key begin with its kind, behind the 4 bytes of that name's length.
std::optional<std::string> ParsePublicKey(std::string_view line) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t kind_end = std::min(line.find_first_of(kBlanks), line.size());
  const std::string kind(line.substr(0, kind_end));
  const std::string_view rest = Trim(line.substr(kind_end));
  const std::string_view base64 = rest.substr(0, rest.find_first_of(kBlanks));
  const auto bytes = DecodeBase64(base64);
  const std::string begin = std::string(3, '\0') + static_cast<char>(kind.size()) + kind;
  if (!bytes || !bytes->starts_with(begin)) return std::nullopt;
  return fmt::format("{} {}", kind, base64);
}

Result<std::optional<SourceMark>> FindInText(const std::string& file, std::string_view text,
                                             const std::string& key) {
  int number = 0;
  for (const std::string& whole : SplitLines(text)) {
    ++number;
    const std::string_view line = Trim(whole);
    if (line.empty() || line.front() == '#') continue;
    const auto listed = ParsePublicKey(line);
    if (!listed) {
      return Fail(MakeRevokedKeysError(
          file, fmt::format("line {}: wanted a public key, found '{}'", number,
                            MakePrintable(line.substr(0, line.find_first_of(" \t"))))));
    }
    if (*listed == key) return SourceMark{file, {number, 0}};
  }
  return std::nullopt;
}

// `ssh-keygen -Q` ends with 1 for a revoked key, and also where it knows no -Q.
Result<std::optional<SourceMark>> FindInKrl(const std::string& file, const std::string& key,
                                            Deadline deadline) {
  const std::vector<std::string> argv = {"ssh-keygen", "-Q", "-f", file, kProgramInput};
  const auto reply = RunProgram(argv, key + "\n", deadline);
  if (!reply) {
    return Fail(MakeRevokedKeysError(
        file, "it is a KRL, which ssh-keygen has to read: " + reply.error().message));
  }
  if (!*reply) return Fail(MakeRevokedKeysError(file, "ssh-keygen did not read it in time"));
  const ScriptReply& ended = **reply;
  if (ended.exit_code == 0) return std::nullopt;
  if (ended.exit_code == 1 && ended.out.find("REVOKED") != std::string::npos) {
    return SourceMark{file, {}};
  }
  const std::string why = FindLastLine(ended.err);
  return Fail(MakeRevokedKeysError(
      file, fmt::format("ssh-keygen cannot read it: {}",
                        why.empty() ? fmt::format("exit {}", ended.exit_code) : why)));
}

}  // namespace

Result<std::optional<SourceMark>> FindRevokedKey(const std::string& file, const std::string& key,
                                                 Deadline deadline) {
  const auto text = ReadTextFile(file);
  if (!text) return Fail(text.error());
  return text->starts_with(kKrlBegin) ? FindInKrl(file, key, deadline)
                                      : FindInText(file, *text, key);
}

}  // namespace reconciler
