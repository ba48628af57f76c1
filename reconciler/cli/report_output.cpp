#include "reconciler/cli/report_output.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/files.h"
#include "reconciler/cli/terminal.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/layout.h"
#include "reconciler/transport/text_file.h"
#include "reconciler/verify/report/html/html.h"
#include "reconciler/verify/report/junit.h"
#include "reconciler/verify/report/markdown.h"
#include "reconciler/verify/report/metrics/verify_metrics.h"
#include "reconciler/verify/report/render.h"

namespace reconciler::cli {

void AddReportOutput(CLI::App& command, ReportOutput& output) {
  command.add_option("--format", output.format, "How to print it")
      ->check(CLI::IsMember({"text", "json", "markdown"}))
      ->capture_default_str();
  AddPath(command, "--junit", output.junit,
          "Write the report to this file too, as JUnit XML for CI systems");
  AddPath(command, "--report", output.html,
          "Write the report to this file too, as one HTML page that needs no network");
  AddPath(command, "--prometheus", output.prometheus,
          "Write metrics to this file, for the textfile collector of node_exporter");
}

bool CanWriteReport(const ReportOutput& output, const std::vector<InputFile>& inputs) {
  const auto fit = CheckOutputs({{"--junit", output.junit},
                                 {"--report", output.html},
                                 {"--prometheus", output.prometheus, /*replaced=*/true}},
                                inputs);
  if (!fit) PrintError(fit.error(), kUsageOrManifest);
  return fit.has_value();
}

int WriteReport(const Report& report, const ReportOutput& output) {
  const std::size_t columns = FindTerminalTraits(STDOUT_FILENO, /*no_colour=*/true).columns;
  if (output.format == "json") {
    std::cout << FormatDocument(ToJson(report));
  } else {
    std::cout << (output.format == "markdown"
                      ? RenderMarkdown(report)
                      : WrapColumns(RenderReport(report, columns), columns));
  }
  int written = kFine;
  const auto note = [&](const Result<void>& done) {
    if (!done) written = PrintError(done.error(), kUsageOrManifest);
  };
  if (!output.junit.empty()) note(WriteResultFile(output.junit, RenderJunit(report)));
  if (!output.html.empty()) note(WriteResultFile(output.html, RenderHtml(report)));
  if (!output.prometheus.empty()) note(PublishFile(output.prometheus, FormatVerifyMetrics(report)));
  return written;
}

std::optional<Report> ReadReportFile(const std::string& path) {
  const auto text = ReadTextFile(path);
  if (!text) {
    PrintError(text.error(), kUsageOrManifest);
    return std::nullopt;
  }
  auto report = ParseReport(*text);
  if (!report) {
    PrintError(AddContext(std::move(report).error(), MakePrintable(path)), kUsageOrManifest);
    return std::nullopt;
  }
  return std::move(*report);
}

}  // namespace reconciler::cli
