#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/range.h"
#include "reconciler/cli/report_output.h"
#include "reconciler/verify/report/compare.h"

namespace reconciler::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> files = {};
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
  const auto before = ReadReportFile(options.files[0]);
  const auto after = ReadReportFile(options.files[1]);
  if (!before || !after) return kUsageOrManifest;
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
  if (options.files.size() == 2) return CompareSaved(options);
  const auto report = ReadReportFile(options.files[0]);
  return report ? WriteReport(*report, options.output) : kUsageOrManifest;
}

}  // namespace

void AddReport(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "report", "Show a report of `verify --format json` again, or what got worse between two");
  auto options = std::make_shared<ReportOptions>();
  command->add_option("reports", options->files, "A report; or an earlier one and a later one")
      ->required()
      ->expected(1, 2);
  AddReportOutput(*command, options->output);
  command
      ->add_option("--noise", options->noise_percent,
                   "Per cent that a bandwidth may differ between two reports; times, four times "
                   "as much")
      ->check(InRange(0.0, 100.0))
      ->capture_default_str();
  command->callback([&context, options] { context.exit_code = RunReport(*options); });
}

}  // namespace reconciler::cli
