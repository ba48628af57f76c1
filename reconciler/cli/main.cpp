#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "reconciler/access/sudo_password.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/file_output.h"
#include "reconciler/cli/terminal.h"

namespace {

void ReportUnknownCommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  const auto close = reconciler::FindClosestMatch(word, commands);
  std::cerr << "unknown command '" << reconciler::MakePrintable(word) << "'"
            << (close ? ", did you mean '" + *close + "'?" : "")
            << "\n  hint: known: " << reconciler::Join(commands, ", ") << '\n';
}

// Before the command, which uses it in all that it does.
void PromptSudoPassword(reconciler::cli::Context& context) {
  if (!context.prompt_sudo_password) return;
  auto password =
      reconciler::cli::PromptPassword("sudo password on the nodes: ", "allow sudo without one");
  if (!password) {
    std::cerr << FormatError(password.error());
    throw CLI::RuntimeError(reconciler::cli::kUsageOrManifest);
  }
  context.dial = reconciler::UseSudoPassword(std::move(context.dial), std::move(*password));
}

// Runs the command that the arguments name; its exit code goes into the context.
void Run(int argc, char** argv, reconciler::cli::Context& context) {
  using namespace reconciler::cli;  // NOLINT(google-build-using-namespace): a list of their names
  CLI::App app{"Declarative reconciler for clusters of NVIDIA DGX Spark machines"};
  app.set_version_flag("--version", SPARK_VERSION);
  app.require_subcommand(1);

  app.add_flag("--no-color", context.no_colour, "No colours, also on a terminal");
  app.add_flag("--prompt-sudo-password", context.prompt_sudo_password,
               "Prompt once for the password that sudo wants on the nodes");
  app.fallthrough();  // both may also stand behind the command
  app.parse_complete_callback([&context] { PromptSudoPassword(context); });
  AddInit(app, context);
  AddDiscover(app, context);
  AddValidate(app, context);
  AddAddNode(app, context);
  AddRemoveNode(app, context);
  AddTrust(app, context);
  AddAccess(app, context);
  AddPlan(app, context);
  AddApply(app, context);
  AddVerify(app, context);
  AddReport(app, context);
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
  AddExplain(app, context);
  for (CLI::App* command : app.get_subcommands({})) {
    command->footer("Every command also takes --no-color and --prompt-sudo-password.");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // A known command may lack an argument of its own.
    const bool known = !app.get_subcommands().empty();
    context.exit_code = kUsageOrManifest;
    if (argc > 1 && argv[1][0] != '-' && !known) {
      ReportUnknownCommand(app, argv[1]);
    } else {
      app.exit(error);
    }
  } catch (const CLI::ParseError& error) {
    context.exit_code = app.exit(error) == 0 ? kFine : kUsageOrManifest;
  }
}

// A result that did not arrive is none, whatever it said.
int JudgeOutput(reconciler::cli::CheckedStdout& output, const reconciler::cli::Context& context) {
  using reconciler::cli::kFine;
  using reconciler::cli::kUsageOrManifest;
  const int failed = output.Flush();
  if (failed == 0) return context.exit_code;
  std::cerr << FormatError(reconciler::cli::MakeWriteError("stdout", failed));
  const bool keeps = context.judges_nodes && context.exit_code != kFine;
  return keeps ? context.exit_code : kUsageOrManifest;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that goes away (`plan | head`) ends us by a write error, not by a signal in mid-apply.
  std::signal(SIGPIPE, SIG_IGN);
  reconciler::cli::CheckedStdout output;
  reconciler::cli::Context context;
  Run(argc, argv, context);
  return JudgeOutput(output, context);
}
