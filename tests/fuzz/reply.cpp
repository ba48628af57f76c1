// The bytes of a node's answers: the end of an answer in pieces, its frames, what was gathered and
// what steps said. Stdout and stderr are the parts before and behind "=err=".
#include "reconciler/apply/steps/apply_script.h"
#include "reconciler/gather/gather_script.h"
#include "reconciler/node/frames.h"
#include "reconciler/node/shell_answer.h"
#include "tests/fuzz/pair.h"
#include "tests/fuzz/target.h"

namespace reconciler::fuzz {
namespace {

constexpr std::string_view kNonce = "N";

// A shell that answers in pieces of a few bytes, and then ends.
class PiecesChannel : public Channel {
 public:
  PiecesChannel(std::string_view out, std::string_view err) : out_(out), err_(err) {}

  Result<void> Write(std::string_view, Deadline) override { return {}; }
  Result<void> CloseInput() override { return {}; }
  Result<Output> Read(Deadline) override {
    Output output{.out = Take(out_), .err = Take(err_)};
    if (output.out.empty() && output.err.empty()) output.exit_code = 0;
    return output;
  }

 private:
  std::string Take(std::string_view& rest) {
    length_ = length_ % 7 + 1;
    const std::string piece(rest.substr(0, length_));
    rest.remove_prefix(piece.size());
    return piece;
  }

  std::string_view out_;
  std::string_view err_;
  std::size_t length_ = 0;
};

}  // namespace

void Run(std::string_view input) {
  std::string_view err = input;
  const std::string_view out = TakePart(err, "=err=");
  PiecesChannel channel(out, err);
  const auto answer = ReadShellAnswer(channel, kNonce, Deadline::max());
  if (!answer) CheckError(answer.error());
  const ScriptReply reply{.out = std::string(out), .err = std::string(err)};
  ParseApplyReply(reply, kNonce);
  const auto gathered = ParseGatherReply(reply, GetReads(), kNonce);
  if (!gathered) return CheckError(gathered.error());
  ParseReply(0, *gathered);
}

}  // namespace reconciler::fuzz
