#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "reconciler/cli/build_info.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "schema/embedded.h"

namespace reconciler::cli {
namespace {

using nlohmann::ordered_json;

// The format of each document that has one: what its schema requires.
ordered_json ListFormats() {
  ordered_json formats = ordered_json::object();
  for (const std::string_view name : ListEmbeddedSchemas()) {
    const ordered_json schema = ordered_json::parse(FindEmbeddedSchema(name));
    const ordered_json& properties = schema.at("properties");
    for (const char* key : {"format", "api_version"}) {
      if (!properties.contains(key)) continue;
      const ordered_json& format = properties.at(key);
      formats[name] = format.contains("const") ? format.at("const") : format.at("enum").at(0);
    }
  }
  return formats;
}

void PrintVersion(const std::string& format) {
  if (format == "text") {
    std::cout << "spark-reconcile " << SPARK_VERSION << " (commit " << kBuildCommit << " of "
              << kBuildDate << ")\n";
    return;
  }
  std::cout << FormatDocument({{"format", "spark-reconcile/version/2"},
                               {"commit", kBuildCommit},
                               {"date", kBuildDate},
                               {"formats", ListFormats()}});
}

}  // namespace

void AddVersion(CLI::App& app, Context&) {
  CLI::App* command =
      app.add_subcommand("version", "Print the version, its commit, and the formats of documents");
  auto format = std::make_shared<std::string>("text");
  command->add_option("--format", *format, "How to print it")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->callback([format] { PrintVersion(*format); });
}

}  // namespace reconciler::cli
