#include "reconciler/base/mark.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/digest.h"

namespace reconciler {
namespace {

constexpr std::string_view kOwned = "# Written by spark-reconcile";
constexpr std::string_view kForCluster = " for cluster ";
constexpr std::string_view kDigest = " (body sha256 ";
constexpr std::string_view kBegin = "# BEGIN spark-reconcile ";

std::string FormatBeginLine(std::string_view cluster, std::string_view topic) {
  return fmt::format("{}{} {}\n", kBegin, cluster, topic);
}

std::string FormatEndLine(std::string_view cluster, std::string_view topic) {
  return fmt::format("# END spark-reconcile {} {}\n", cluster, topic);
}

// Where a whole line (with its newline, or at the end of the text without) stands.
std::size_t FindLine(std::string_view text, std::string_view line, std::size_t from = 0) {
  const std::string_view bare = line.substr(0, line.size() - 1);
  for (std::size_t at = text.find(bare, from); at != std::string_view::npos;
       at = text.find(bare, at + 1)) {
    const std::size_t after = at + bare.size();
    const bool starts = at == 0 || text[at - 1] == '\n';
    // An editor that turned the file into CR LF lines must not make us blind for our own block.
    const bool carriage = text.substr(after, 2) == "\r\n";
    if (starts && (after == text.size() || text[after] == '\n' || carriage)) return at;
  }
  return std::string_view::npos;
}

struct MarkedBlock {
  std::size_t begin = std::string_view::npos;  // of the begin marker
  std::size_t body = 0;
  std::size_t body_end = 0;
  std::size_t end = 0;  // one past the end marker's newline
};

std::size_t FindLineEnd(std::string_view text, std::size_t at) {
  const std::size_t newline = text.find('\n', at);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

MarkedBlock FindBlock(std::string_view text, std::string_view cluster, std::string_view topic) {
  MarkedBlock block;
  block.begin = FindLine(text, FormatBeginLine(cluster, topic));
  if (block.begin == std::string_view::npos) return block;
  block.body = block.body_end = block.end = FindLineEnd(text, block.begin);
  const std::size_t end = FindLine(text, FormatEndLine(cluster, topic), block.body);
  if (end == std::string_view::npos) return block;
  block.body_end = end;
  block.end = FindLineEnd(text, end);
  return block;
}

std::string ReplaceBlock(std::string_view content, std::string_view cluster, std::string_view topic,
                         std::string_view body, bool first) {
  const std::string inner(body);
  const std::string lines =
      inner.empty() ? "" : FormatBeginLine(cluster, topic) + inner + FormatEndLine(cluster, topic);
  const MarkedBlock block = FindBlock(content, cluster, topic);
  if (block.begin != std::string_view::npos) {
    return std::string(content.substr(0, block.begin)) + lines +
           std::string(content.substr(block.end));
  }
  if (lines.empty()) return std::string(content);
  if (first) return lines + std::string(content);
  const bool needs_newline = !content.empty() && content.back() != '\n';
  return std::string(content) + (needs_newline ? "\n" : "") + lines;
}

}  // namespace

std::string FormatOwnedFile(std::string_view cluster, std::string_view body) {
  return fmt::format(
      "{}{}{}{}{}).\n# Change the manifest and apply it; "
      "an edit made here is reported as drift.\n{}",
      kOwned, kForCluster, cluster, kDigest, ComputeSha256Hex(body).substr(0, 16), body);
}

std::optional<std::string> FindOwner(std::string_view content) {
  const std::string begin = fmt::format("{}{}", kOwned, kForCluster);
  if (!content.starts_with(begin)) return std::nullopt;
  const std::string_view rest =
      content.substr(begin.size(), FindLineEnd(content, 0) - begin.size());
  const std::size_t end = rest.find(kDigest);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(rest.substr(0, end));
}

bool IsOwnedFile(std::string_view content, std::string_view cluster) {
  return FindOwner(content) == cluster;
}

std::string SetBlock(std::string_view content, std::string_view cluster, std::string_view topic,
                     std::string_view body) {
  return ReplaceBlock(content, cluster, topic, body, /*first=*/false);
}

std::string SetBlockFirst(std::string_view content, std::string_view cluster,
                          std::string_view topic, std::string_view body) {
  return ReplaceBlock(content, cluster, topic, body, /*first=*/true);
}

std::optional<std::string> ReadBlock(std::string_view content, std::string_view cluster,
                                     std::string_view topic) {
  const MarkedBlock block = FindBlock(content, cluster, topic);
  if (block.begin == std::string_view::npos || block.body_end == block.end) return std::nullopt;
  return std::string(content.substr(block.body, block.body_end - block.body));
}

std::string_view ReadAboveBlock(std::string_view content, std::string_view cluster,
                                std::string_view topic) {
  return content.substr(0, FindLine(content, FormatBeginLine(cluster, topic)));
}

bool HasBlock(std::string_view content) {
  return content.starts_with(kBegin) || content.find(fmt::format("\n{}", kBegin)) != content.npos;
}

std::string RemoveBlocks(std::string_view content, std::string_view cluster) {
  std::string rest(content);
  const std::string begin = fmt::format("{}{} ", kBegin, cluster);
  for (std::size_t at = rest.find(begin); at != std::string::npos; at = rest.find(begin, at)) {
    const std::size_t topic = at + begin.size();
    const std::size_t end = std::min(rest.find_first_of("\r\n", topic), rest.size());
    const std::string before = rest;
    if (at == 0 || rest[at - 1] == '\n') {
      rest = SetBlock(rest, cluster, rest.substr(topic, end - topic), "");
    }
    if (rest == before) at = end;  // the words in someone's own line
  }
  return rest;
}

}  // namespace reconciler
