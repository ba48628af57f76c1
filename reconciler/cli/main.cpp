#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"

namespace {

int ReportUnknownCommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  const auto close = reconciler::FindClosestMatch(word, commands);
  std::cerr << "unknown command '" << reconciler::MakePrintable(word) << "'"
            << (close ? ", did you mean '" + *close + "'?" : "")
            << "\n  hint: known: " << reconciler::Join(commands, ", ") << '\n';
  return reconciler::cli::kUsageOrManifest;
}

}  // namespace

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
  AddHistory(app, context);
  AddGraph(app, context);
  AddHostfile(app, context);
  AddLock(app, context);
  AddCabling(app, context);
  AddDrill(app, context);
  AddRollback(app, context);
  AddUninstall(app, context);
  AddEnv(app, context);
  AddSchema(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // A known command may lack an argument of its own.
    const bool known = !app.get_subcommands().empty();
    if (argc > 1 && argv[1][0] != '-' && !known) return ReportUnknownCommand(app, argv[1]);
    app.exit(error);
    return kUsageOrManifest;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kUsageOrManifest;
  }
  return context.exit_code;
}
