#include "reconciler/cli/document.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "reconciler/base/json/document.h"
#include "reconciler/model/json/json.h"

namespace reconciler::cli {
namespace {

using Clock = std::chrono::system_clock;

std::string FormatSeconds(Clock::time_point time) {
  return fmt::format("{:%FT%T}", fmt::gmtime(Clock::to_time_t(time)));
}

DocumentHead MakeHead() { return {SPARK_VERSION, FormatSeconds(Clock::now()) + "Z"}; }

}  // namespace

nlohmann::ordered_json BeginDocument(std::string_view format) {
  return AddHead(nlohmann::ordered_json{{"format", format}});
}

nlohmann::ordered_json AddHead(nlohmann::ordered_json document) {
  return reconciler::AddHead(std::move(document), MakeHead());
}

std::string FormatDocument(nlohmann::ordered_json document) {
  return Dump(AddHead(std::move(document)));
}

// "2026-11-24T03:12:05.123Z"
nlohmann::ordered_json BeginLine(std::string_view format) {
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(Clock::now());
  const auto milliseconds = now.time_since_epoch().count() % 1000;
  return reconciler::AddHead(
      {{"format", format}},
      {SPARK_VERSION, fmt::format("{}.{:03}Z", FormatSeconds(now), milliseconds)});
}

}  // namespace reconciler::cli
