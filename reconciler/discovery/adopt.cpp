#include "reconciler/discovery/adopt.h"

#include <fmt/format.h>

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler {
namespace {

constexpr std::size_t kWrittenDigits = 12;
// The comments that a manifest ends with begin with one of these.
constexpr std::string_view kEnds[] = {"# Not as found: ", "# Note: "};

// YAML reads digits alone, and those with an exponent, as a number.
std::string FormatDigest(const std::string& digest) {
  const std::string prefix = digest.substr(0, kWrittenDigits);
  const bool is_number = prefix.find_first_not_of("0123456789e") == std::string::npos;
  return is_number ? fmt::format("\"{}\"", prefix) : prefix;
}

}  // namespace

void AddAdopt(const std::vector<FoundFile>& files, Discovery& discovery) {
  if (files.empty()) return;
  std::vector<std::string> entries;
  for (const FoundFile& file : files) {
    const bool is_new = std::find(entries.begin(), entries.end(), file.entry) == entries.end();
    if (is_new) entries.push_back(file.entry);
  }
  std::string text =
      "adopt:                           # of others: apply takes them over, uninstall writes them "
      "back\n";
  for (const std::string& entry : entries) {
    std::vector<std::string> nodes;
    std::string owner;
    for (const FoundFile& file : files) {
      if (file.entry != entry) continue;
      nodes.push_back(fmt::format("{}: {}", file.node, FormatDigest(file.digest)));
      owner = file.owner;
    }
    text += fmt::format("  - {{{}, nodes: {{{}}}}}{}\n", entry, Join(nodes, ", "),
                        owner.empty() ? "" : "  # probably written by " + owner);
  }
  std::size_t place = discovery.manifest.size();
  for (const std::string_view end : kEnds) place = std::min(place, discovery.manifest.find(end));
  discovery.manifest.insert(place, text);
}

}  // namespace reconciler
