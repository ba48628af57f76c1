#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "reconciler/base/json/json_reader.h"
#include "reconciler/base/text.h"
#include "reconciler/verify/nccl/evidence/summary.h"

// Pieces of a saved report.
namespace reconciler {

inline constexpr std::int64_t kMostCounted = std::int64_t{1} << 60;

std::string ReadLine(const JsonReader& reader);  // printable
std::string ReadName(const JsonReader& reader);  // likewise, and not longer than names are
int ReadRail(const JsonReader& reader);          // "rail0"
double ReadNumber(const JsonReader& reader);     // not negative, and not beyond what is measured

template <class Number>
Number ReadCount(const JsonReader& reader, std::int64_t most) {
  const std::int64_t number = reader.Integer();
  if (number < 0 || number > most) {
    reader.Fail(fmt::format("wanted a number from 0 to {}, found {}", most, number));
  }
  return static_cast<Number>(number);
}

// Whichever of `values` ToString writes so.
template <class Values>
auto ReadWord(const JsonReader& reader, const Values& values) {
  const std::string text = reader.PlainText();
  for (const auto value : values) {
    if (text == ToString(value)) return value;
  }
  reader.Fail("unknown word \"" + MakePrintable(text) + "\"");
}

NcclSummary ReadNccl(const JsonReader& reader);

}  // namespace reconciler
