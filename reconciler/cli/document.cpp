#include "reconciler/cli/document.h"

#include <fmt/chrono.h>

#include <ctime>
#include <nlohmann/json.hpp>

namespace reconciler::cli {

nlohmann::ordered_json BeginDocument(std::string_view format) {
  return {{"format", format},
          {"program", SPARK_VERSION},
          {"time", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))}};
}

}  // namespace reconciler::cli
