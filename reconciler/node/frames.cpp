#include "reconciler/node/frames.h"

#include <fmt/format.h>

#include <random>

#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.sh.h"

namespace reconciler {
namespace {

struct Slice {
  std::string label;
  std::string bytes;
};

std::vector<Slice> SliceStream(std::string_view stream, std::string_view nonce) {
  const std::string marker = fmt::format("\n{} ", nonce);
  std::vector<Slice> slices;
  for (std::size_t at = stream.find(marker); at != std::string_view::npos;) {
    const std::size_t label = at + marker.size();
    const std::size_t newline = stream.find('\n', label);
    if (newline == std::string_view::npos) break;  // cut within the marker
    const std::size_t next = stream.find(marker, newline + 1);
    const std::size_t body = newline + 1;
    const std::size_t body_end = next == std::string_view::npos ? stream.size() : next;
    slices.push_back({std::string(stream.substr(label, newline - label)),
                      std::string(stream.substr(body, body_end - body))});
    at = next;
  }
  return slices;
}

}  // namespace

std::string MakeNonce() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

std::string BuildScriptPreamble(std::string_view nonce) {
  return AssignForShell({{"NONCE", nonce}}) + std::string(kFramesSh);
}

std::vector<Frame> ParseFrames(const ScriptReply& reply, std::string_view nonce) {
  std::vector<Frame> frames;
  for (Slice& slice : SliceStream(reply.out, nonce)) {
    frames.push_back({std::move(slice.label), std::move(slice.bytes), {}});
  }
  // Both streams carry the same markers in the same order.
  std::size_t i = 0;
  for (Slice& slice : SliceStream(reply.err, nonce)) {
    if (i < frames.size() && frames[i].label == slice.label) {
      frames[i].err = std::move(slice.bytes);
    }
    ++i;
  }
  return frames;
}

}  // namespace reconciler
