#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/range.h"
#include "reconciler/cli/report_output.h"
#include "reconciler/verify/report/compare.h"

namespace reconciler::cli {
namespace {

struct ReportOptions {
  std::string report = {};
  std::optional<std::string> later = {};  // to compare with
  ReportOutput output = {};
  double noise_percent = Noise{}.bandwidth;
};

int CompareSaved(const ReportOptions& options) {
  const ReportOutput& output = options.output;
  if (!output.junit.empty() || !output.prometheus.empty()) {
    return PrintError(
        {.message = "two reports are compared as text, markdown, JSON or a page only"},
        kUsageOrManifest);
  }
  const auto before = ReadReportFile(options.report);
  const auto after = ReadReportFile(*options.later);
  if (!before || !after) return kUsageOrManifest;
  if (!CanWriteReport(output, {{options.report, "report"}, {*options.later, "report"}})) {
    return kUsageOrManifest;
  }
  const Noise defaults;
  const Noise noise{.bandwidth = options.noise_percent,
                    .time = options.noise_percent * defaults.time / defaults.bandwidth};
  const auto comparison = CompareReports(*before, *after, noise);
  if (!comparison) return PrintError(comparison.error(), kUsageOrManifest);
  if (output.format == "json") {
    std::cout << FormatDocument(ComparisonToJson(*before, *after, *comparison, noise));
  } else {
    std::cout << (output.format == "markdown"
                      ? RenderComparisonMarkdown(*before, *after, *comparison, noise)
                      : RenderComparison(*before, *after, *comparison, noise));
  }
  if (!output.html.empty()) {
    const std::string page = RenderComparisonHtml(*before, *after, *comparison, noise);
    if (const auto written = WriteResultFile(output.html, page); !written) {
      return PrintError(written.error(), kUsageOrManifest);
    }
  }
  return reconciler::FindExitCode(*comparison);
}

int RunReport(const ReportOptions& options) {
  if (options.later) return CompareSaved(options);
  const auto report = ReadReportFile(options.report);
  if (!report || !CanWriteReport(options.output, {{options.report, "report"}})) {
    return kUsageOrManifest;
  }
  return WriteReport(*report, options.output);
}

}  // namespace

void AddReport(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "report", "Show a report of `verify --format json` again, or what got worse between two");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("file", options->report, "The report to show, or the earlier of two")
      ->required();
  command->add_option("later", options->later, "A later report: compare the two");
  AddReportOutput(*command, options->output);
  command
      ->add_option("--noise", options->noise_percent,
                   "Per cent that a bandwidth may differ between two reports; times, four times "
                   "as much")
      ->transform(InRange(0.0, 100.0))
      ->capture_default_str();
  command->callback([&context, options] { context.exit_code = RunReport(*options); });
}

}  // namespace reconciler::cli
