#include "reconciler/verify/report/read_parts.h"

#include "reconciler/base/number.h"

namespace reconciler {

std::string ReadLine(const JsonReader& reader) { return MakePrintable(reader.PlainText()); }

std::string ReadName(const JsonReader& reader) {
  constexpr std::size_t kLongest = 256;
  std::string name = ReadLine(reader);
  if (name.size() > kLongest) {
    reader.Fail(fmt::format("wanted at most {} bytes, found {}", kLongest, name.size()));
  }
  return name;
}

int ReadRail(const JsonReader& reader) {
  constexpr std::string_view kWord = "rail";
  constexpr int kMostRails = 100'000;
  const std::string text = reader.PlainText();
  const auto number = text.starts_with(kWord)
                          ? ParseNumber<int>(std::string_view(text).substr(kWord.size()))
                          : std::nullopt;
  if (!number || *number < 0 || *number > kMostRails) {
    reader.Fail("wanted a rail such as \"rail0\", found \"" + MakePrintable(text) + "\"");
  }
  return *number;
}

double ReadNumber(const JsonReader& reader) {
  constexpr double kLargest = 1e15;
  const double number = reader.Number();
  if (number < 0 || number > kLargest) {
    reader.Fail(fmt::format("wanted a number from 0 to {:g}, found {:g}", kLargest, number));
  }
  return number;
}

namespace {

constexpr NcclPath kPaths[] = {NcclPath::kUnknown, NcclPath::kRdma, NcclPath::kSocket,
                               NcclPath::kOther};
constexpr spark_verify::DataType kTypes[] = {spark_verify::DataType::kFloat,
                                             spark_verify::DataType::kBfloat16};

RailUse ReadRailUse(const JsonReader& reader) {
  return {.hca = ReadName(reader.At("hca")),
          .rail = ReadRail(reader.At("rail")),
          .sent = ReadNumber(reader.At("sent")),
          .received = ReadNumber(reader.At("received"))};
}

void ReadRank(const JsonReader& reader, NcclSummary& summary) {
  summary.ranks.push_back({.node = ReadName(reader.At("node")),
                           .version = ReadName(reader.At("version")),
                           .library = ReadLine(reader.At("library")),
                           .gpu = ReadLine(reader.At("gpu"))});
  RankPath path{.node = summary.ranks.back().node,
                .path = ReadWord(reader.At("path"), kPaths),
                .counted = reader.At("counted").Bool()};
  reader.At("rails").ForEachItem(
      [&](const JsonReader& rail) { path.rails.push_back(ReadRailUse(rail)); });
  summary.paths.push_back(std::move(path));
}

NcclFigure ReadFigure(const JsonReader& reader) {
  constexpr std::int64_t kMostIterations = 1'000'000'000;
  return {.collective = ReadWord(reader.At("collective"), spark_verify::kCollectives),
          .bytes = ReadCount<std::uint64_t>(reader.At("bytes"), kMostCounted),
          .type = ReadWord(reader.At("type"), kTypes),
          .in_place = reader.At("in_place").Bool(),
          .iterations = ReadCount<int>(reader.At("iterations"), kMostIterations),
          .time_us = ReadNumber(reader.At("time_us")),
          .p50_us = ReadNumber(reader.At("p50_us")),
          .p95_us = ReadNumber(reader.At("p95_us")),
          .algbw = ReadNumber(reader.At("algbw")),
          .busbw = ReadNumber(reader.At("busbw")),
          .wrong = ReadCount<std::uint64_t>(reader.At("wrong"), kMostCounted)};
}

}  // namespace

NcclSummary ReadNccl(const JsonReader& reader) {
  NcclSummary summary{.root = ReadLine(reader.At("root"))};
  summary.seconds = ReadNumber(reader.At("seconds"));
  if (reader.Has("roofline")) {
    const JsonReader roofline = reader.At("roofline");
    summary.roofline =
        NcclRoofline{ReadNumber(roofline.At("ring")), ReadNumber(roofline.At("most"))};
  }
  reader.At("ranks").ForEachItem([&](const JsonReader& rank) { ReadRank(rank, summary); });
  reader.At("tests").ForEachItem(
      [&](const JsonReader& test) { summary.figures.push_back(ReadFigure(test)); });
  reader.At("pairs").ForEachItem([&](const JsonReader& pair) {
    summary.pairs.push_back({.a = ReadName(pair.At("a")),
                             .b = ReadName(pair.At("b")),
                             .good = pair.At("good").Bool(),
                             .seen = ReadLine(pair.At("seen"))});
  });
  return summary;
}

}  // namespace reconciler
