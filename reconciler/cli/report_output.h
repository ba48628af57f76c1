#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconciler/cli/files.h"
#include "reconciler/verify/report/report.h"

namespace CLI {
class App;
}

namespace reconciler::cli {

// How a report is printed, and into which files besides.
struct ReportOutput {
  std::string format = "text";
  std::string junit = {};       // a path; empty: none
  std::string html = {};        // likewise
  std::string prometheus = {};  // likewise
};

void AddReportOutput(CLI::App& command, ReportOutput& output);

// Whether its files can be written, as far as that can be known before there is a report, and are
// none of `inputs`; what is wrong is printed.
bool CanWriteReport(const ReportOutput& output, const std::vector<InputFile>& inputs);

// Prints the report and writes its files. kFine, or what a file that could not be written makes of
// it; that error is printed.
int WriteReport(const Report& report, const ReportOutput& output);

// A saved report; what is wrong with the file is printed.
std::optional<Report> ReadReportFile(const std::string& path);

}  // namespace reconciler::cli
