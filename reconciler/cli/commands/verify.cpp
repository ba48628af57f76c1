#include <fmt/chrono.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>

#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/range.h"
#include "reconciler/cli/report_output.h"
#include "reconciler/cli/verify_run.h"
#include "reconciler/verify/report/section.h"

namespace reconciler::cli {
namespace {

using Clock = std::chrono::system_clock;

int RunVerify(const Selection& selection, const ReportOutput& output, const std::string& level,
              const VerifyChoice& choice, const Context& context) {
  auto cluster = OpenCluster(selection);
  if (!cluster || !CanWriteReport(output, {{selection.manifest, "manifest"}}))
    return kUsageOrManifest;
  if (!level.empty()) SetVerifyLevel(cluster->spec, level);
  const Clock::time_point began = Clock::now();
  NodePool pool(context.dial, context.at_once);
  const ClusterFacts facts = GatherWithProgress(*cluster, selection, pool, Purpose::kVerification);
  Report report = RunLevels(*cluster, facts, pool, choice);
  const std::chrono::duration<double> took = Clock::now() - began;
  report.run =
      ReportRun{.began = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(Clock::to_time_t(began))),
                .seconds = took.count(),
                .program = SPARK_VERSION};
  const int written = WriteReport(report, output);
  const int verified = reconciler::FindExitCode(report);
  return verified != kFine ? verified : written;
}

}  // namespace

void AddVerify(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "verify", "Measure the fabric and name the cause of whatever does not hold");
  auto selection = std::make_shared<Selection>();
  auto output = std::make_shared<ReportOutput>();
  AddManifest(*command, *selection);
  AddReportOutput(*command, *output);
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
      ->transform(InRange(1, 3600));
  command->add_flag("--allow-busy", choice->allow_busy,
                    "Run NCCL although other programs use the GPUs");
  command->add_flag("--keep-program", choice->keep_program,
                    "Leave spark-verify on the nodes, for the next run");
  command->callback([&context, selection, output, level, choice] {
    context.exit_code = RunVerify(*selection, *output, *level, *choice, context);
  });
}

}  // namespace reconciler::cli
