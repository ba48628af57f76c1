#include <CLI/CLI.hpp>
#include <csignal>

#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"

int main(int argc, char** argv) {
  using namespace reconciler::cli;  // NOLINT(google-build-using-namespace): this file is its main
  // A reader that goes away (`plan | head`) ends us by a write error, not by a signal in mid-apply.
  std::signal(SIGPIPE, SIG_IGN);

  CLI::App app{"Declarative reconciler for clusters of NVIDIA DGX Spark machines"};
  app.set_version_flag("--version", SPARK_VERSION);
  app.require_subcommand(1);

  Context context;
  app.add_flag("--no-color", context.no_colour, "No colours, also on a terminal");
  AddValidate(app, context);
  AddPlan(app, context);
  AddApply(app, context);
  AddVerify(app, context);
  AddDrift(app, context);
  AddStatus(app, context);
  AddSchema(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kUsageOrManifest;
  }
  return context.exit_code;
}
