#include "reconciler/verify/containers/image_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/neighbours.h"

namespace reconciler {
namespace {

constexpr int kTimedOut = 124;  // timeout(1): the limit ended docker
constexpr int kKilled = 137;    // … which had to be killed for it

std::vector<std::string> ListSaid(std::string_view err) {
  constexpr std::size_t kMost = 3;
  constexpr std::size_t kWidth = 200;
  std::vector<std::string> said;
  for (const std::string& line : SplitLines(err)) {
    const std::string_view trimmed = Trim(line);
    if (!trimmed.empty() && said.size() < kMost) {
      said.push_back(MakePrintable(trimmed.substr(0, kWidth)));
    }
  }
  return said;
}

std::string ExplainEnd(std::string_view what, int exit_code) {
  if (exit_code == kTimedOut || exit_code == kKilled) {
    return fmt::format("{} did not end within its limit", what);
  }
  return fmt::format("{} ended with {}", what, exit_code);
}

// What `ulimit -l` prints: KiB.
std::optional<MemoryLimit> ParseMemlock(std::string_view text) {
  if (text == "unlimited") return MemoryLimit{MemoryLimit::kUnlimited};
  const auto kib = ParseNumber<std::int64_t>(text);
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  if (!kib || *kib < 0 || *kib > kMost) return std::nullopt;
  return MemoryLimit{*kib * 1024};
}

bool IsVersion(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isdigit(c) != 0 || c == '.';
  });
}

// Takes `word` and a blank from the front of a line.
bool ConsumeWord(std::string_view& line, std::string_view word) {
  if (!line.starts_with(word) || line.substr(word.size(), 1) != " ") return false;
  line.remove_prefix(word.size() + 1);
  return true;
}

void ReadLine(std::string_view line, ImageFacts& facts) {
  if (ConsumeWord(line, "id")) {
    facts.id = MakePrintable(line);
  } else if (ConsumeWord(line, "memlock")) {
    facts.memlock = ParseMemlock(line);
  } else if (ConsumeWord(line, "device yes")) {
    facts.devices.push_back(MakePrintable(line));
  } else if (ConsumeWord(line, "device no")) {
    facts.refused.push_back(MakePrintable(line));
  } else if (ConsumeWord(line, "nccl")) {
    facts.library = MakePrintable(line);
  } else if (ConsumeWord(line, "NCCL version")) {
    if (facts.nccl.version.empty() && IsVersion(line)) facts.nccl.version = line;
  } else if (line == kSubnetAware) {
    facts.nccl.pairs_by_subnet = true;
  }
}

}  // namespace

std::vector<ImageProbe> ListImages(const ClusterSpec& cluster, const NodeSpec& node) {
  std::vector<ImageProbe> images;
  const Value* checks = cluster.settings.Find("checks");
  if (checks == nullptr) return images;
  for (const Value& check : checks->List()) {
    std::string image = check.GetText("image");
    const Value* nodes = check.Find("nodes");
    const auto names_node = [&](const Value& name) { return name.ScalarText() == node.name; };
    const bool is_other =
        nodes != nullptr && std::none_of(nodes->List().begin(), nodes->List().end(), names_node);
    const bool is_known = std::any_of(images.begin(), images.end(),
                                      [&](const ImageProbe& one) { return one.image == image; });
    if (!image.empty() && !is_other && !is_known) images.push_back({.image = std::move(image)});
  }
  return images;
}

std::vector<std::string> SplitImageFlags(std::string_view flags) {
  std::vector<std::string> words = SplitLines(flags);
  for (std::string& word : words) {
    if (word.starts_with("--network=")) word = "--network=none";
  }
  return words;
}

ImageFacts ParseImage(std::string_view out, std::string_view err) {
  ImageFacts facts;
  const std::vector<std::string> lines = SplitLines(out);
  if (lines.empty()) return facts;
  std::string_view first = lines.front();
  if (first == "no-docker") {
    facts.state = ImageState::kNoDocker;
  } else if (first == "missing") {
    facts.state = ImageState::kMissing;
  } else if (ConsumeWord(first, "no-answer")) {
    facts.state = ImageState::kNotRead;
    facts.why = ExplainEnd("`docker version`", ParseNumber<int>(first).value_or(-1));
    facts.said = ListSaid(err);
  } else if (ConsumeWord(first, "ran")) {
    const int exit_code = ParseNumber<int>(first).value_or(-1);
    for (std::size_t i = 1; i < lines.size(); ++i) ReadLine(lines[i], facts);
    const bool is_whole = lines.back() == "end";
    facts.state = exit_code == 0 && is_whole ? ImageState::kRead : ImageState::kNotRead;
    if (exit_code != 0) {
      facts.why = ExplainEnd("`docker run`", exit_code);
      facts.said = ListSaid(err);
    } else if (!is_whole) {
      facts.why = "the answer of the container was cut short";
    }
  }
  return facts;
}

}  // namespace reconciler
