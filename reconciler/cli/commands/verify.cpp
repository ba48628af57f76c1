#include <fmt/chrono.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/files.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/fabric/drawing/picture.h"
#include "reconciler/model/json/json.h"
#include "reconciler/verify/report/html.h"
#include "reconciler/verify/report/junit.h"
#include "reconciler/verify/report/markdown.h"
#include "reconciler/verify/report/render.h"
#include "reconciler/verify/report/section.h"

namespace reconciler::cli {
namespace {

// How the report is printed, and into which file besides.
struct Output {
  std::string format = "text";
  std::string junit = {};  // a path; empty: none
  std::string html = {};   // likewise
};

std::string Render(const Report& report, const std::string& format) {
  if (format == "json") return Dump(ToJson(report));
  return format == "markdown" ? RenderMarkdown(report) : RenderReport(report);
}

using Clock = std::chrono::system_clock;

std::string RenderPage(const Report& report, const Cluster& cluster, Clock::time_point began) {
  const std::chrono::duration<double> took = Clock::now() - began;
  return RenderHtml(report, {.when = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(began)),
                             .seconds = took.count(),
                             .version = SPARK_VERSION,
                             .drawing = DrawSvg(BuildDrawing(cluster.spec, cluster.fabric))});
}

int RunVerify(const Selection& selection, const Output& output, const std::string& level,
              const VerifyChoice& choice, const Context& context) {
  auto cluster = OpenCluster(selection);
  if (!cluster) return kUsageOrManifest;
  if (!level.empty()) SetVerifyLevel(cluster->spec, level);
  const Clock::time_point began = Clock::now();
  NodePool pool(context.dial);
  const ClusterFacts facts = GatherWithProgress(*cluster, selection, pool);
  const Report report = RunLevels(*cluster, facts, pool, choice);
  std::cout << Render(report, output.format);
  const int verified = reconciler::FindExitCode(report);
  int written = kFine;
  const auto write = [&](const std::string& path, const std::string& text) {
    if (path.empty()) return;
    const auto done = WriteResultFile(path, text);
    if (!done) written = PrintError(done.error(), kUsageOrManifest);
  };
  write(output.junit, RenderJunit(report));
  write(output.html, output.html.empty() ? "" : RenderPage(report, *cluster, began));
  return verified != kFine ? verified : written;
}

}  // namespace

void AddVerify(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "verify", "Measure the fabric and name the cause of whatever does not hold");
  auto selection = std::make_shared<Selection>();
  auto output = std::make_shared<Output>();
  AddManifest(*command, *selection);
  command->add_option("--format", output->format, "How to print it")
      ->check(CLI::IsMember({"text", "json", "markdown"}))
      ->capture_default_str();
  command->add_option("--junit", output->junit,
                      "Write the report to this file too, as JUnit XML for CI systems");
  command->add_option("--report", output->html,
                      "Write the report to this file too, as one HTML page that needs no network");
  auto choice = std::make_shared<VerifyChoice>();
  auto level = std::make_shared<std::string>();
  command->add_option("--level", *level, "Last level to run; default: the manifest's")
      ->check(CLI::IsMember({"auto", "link", "rdma", "nccl"}));
  command->add_flag("--skip-rdma", choice->skip_rdma,
                    "Run NCCL without writing to each rail before");
  command
      ->add_option("--nccl-limit", choice->nccl_limit_s,
                   "Seconds for each phase of an NCCL run; otherwise 20 to find each other, 15 to "
                   "connect, 30 for each test")
      ->check(CLI::Range(1, 3600));
  command->add_flag("--allow-busy", choice->allow_busy,
                    "Run NCCL although other programs use the GPUs");
  command->add_flag("--keep-program", choice->keep_program,
                    "Leave spark-verify on the nodes, for the next run");
  command->callback([&context, selection, output, level, choice] {
    context.exit_code = RunVerify(*selection, *output, *level, *choice, context);
  });
}

}  // namespace reconciler::cli
