#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <iostream>

#include "reconciler/access/sudo_password.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/command_texts.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/file_output.h"
#include "reconciler/cli/range.h"
#include "reconciler/cli/terminal.h"

namespace {

constexpr int kMostNodesAtOnce = 1000;

void PrintUnknown(const std::string& what, const std::string& word,
                  const std::vector<std::string>& known, const std::string& hint) {
  std::cerr << FormatError(reconciler::cli::MakeUnknownError(what, word, known, hint));
}

void PrintUnknownCommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> commands;
  for (const CLI::App* command : reconciler::cli::ListCommands(app)) {
    commands.push_back(command->get_name());
  }
  PrintUnknown("command", word, commands, "known: " + reconciler::Join(commands, ", "));
}

// No word is a command: one may be misspelt, or there are options alone.
void PrintNoCommand(const CLI::App& app) {
  const std::vector<std::string> unknown = app.remaining();
  if (unknown.empty()) {
    std::cerr << "wanted a command\n  hint: `spark-reconcile help` lists all commands\n";
    return;
  }
  const std::string& word = unknown.front();
  if (!word.starts_with('-')) {
    PrintUnknownCommand(app, word);
    return;
  }
  std::vector<std::string> options;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  PrintUnknown("option", word.substr(0, word.find('=')), options,
               "`spark-reconcile help` lists all options and commands");
}

// The command that was called, of a command with commands the inner one.
const CLI::App* FindCalled(const CLI::App& app) {
  const CLI::App* called = &app;
  while (!called->get_subcommands().empty()) called = called->get_subcommands().front();
  return called;
}

// Where the command that was called says what it takes.
std::string MakeHelpHint(const CLI::App& app) {
  std::string path;
  for (const CLI::App* part = FindCalled(app); part != &app; part = part->get_parent()) {
    path = " " + part->get_name() + path;
  }
  return "`spark-reconcile" + path + " --help` lists what it takes";
}

// Whether a command such as `lock` was called without one of its own.
bool IsCommandMissing(const CLI::App& app) {
  return FindCalled(app)->get_require_subcommand_min() > 0;
}

// Below a command such as `lock`, also where the word is none of them.
void PrintMissingCommand(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : reconciler::cli::ListCommands(*FindCalled(app))) {
    names.push_back(command->get_name());
  }
  const std::vector<std::string> words = app.remaining(true);
  if (!words.empty() && !words.front().starts_with('-')) {
    return PrintUnknown("command", words.front(), names, MakeHelpHint(app));
  }
  std::cerr << reconciler::FormatError(
      {.message = "wanted one of " + reconciler::Join(names, ", "), .hint = MakeHelpHint(app)});
}

void PrintUnknownArgument(const CLI::App& app) {
  const std::string word = app.remaining(true).front();
  const CLI::App* called = FindCalled(app);
  const std::string hint = MakeHelpHint(app);
  if (!word.starts_with('-')) {
    PrintUnknown("argument", word, {}, hint);
    return;
  }
  const std::string wanted = word.substr(0, word.find('='));
  if (const auto error = reconciler::cli::ExplainNoFormat(*called, wanted)) {
    std::cerr << FormatError(*error);
    return;
  }
  std::vector<std::string> options;
  for (const CLI::App* part : {called, &app}) {
    for (const CLI::Option* option : part->get_options()) {
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
    }
  }
  PrintUnknown("option", wanted, options, hint);
}

// Called alone: what comes next depends on whether there is a manifest here.
void PrintNextStep() {
  const bool has_manifest = std::filesystem::exists(reconciler::cli::Selection().manifest);
  std::cerr << "wanted a command\n  hint: "
            << (has_manifest
                    ? "`spark-reconcile plan` shows what differs from cluster.yaml"
                    : "`spark-reconcile discover HOST HOST` writes a manifest of nodes as they "
                      "are, `spark-reconcile init` one to fill in")
            << "; `spark-reconcile help` lists all commands\n";
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
  CLI::App app{"Declarative reconciler for clusters of NVIDIA DGX Spark machines",
               "spark-reconcile"};
  const std::size_t columns = FindTerminalTraits(STDOUT_FILENO, /*no_colour=*/true).columns;
  app.formatter(MakeHelpFormatter(columns));  // before commands are added, which have the same
  app.failure_message([](const CLI::App* all, const CLI::Error& error) {
    return reconciler::FormatError({.message = error.what(), .hint = MakeHelpHint(*all)});
  });
  app.set_version_flag("-V,--version", SPARK_VERSION, "Print the version");
  app.require_subcommand(1);

  app.add_flag("--no-color", context.no_colour, "No colours, also on a terminal");
  app.add_flag("--prompt-sudo-password", context.prompt_sudo_password,
               "Prompt once for the password that sudo wants on the nodes");
  app.add_option("--parallelism", context.at_once,
                 "How many nodes are read, or changed, at the same time; default: all")
      ->transform(reconciler::InRange(1, kMostNodesAtOnce));
  app.fallthrough();  // all of these may also stand behind the command
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
  AddCompletion(app, context);
  AddHelp(app, context);
  AddMan(app, context);
  AddVersion(app, context);
  AddCommandTexts(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // A known command may lack an argument of its own.
    const bool known = !app.get_subcommands().empty();
    context.exit_code = kUsageOrManifest;
    if (argc == 1) {
      PrintNextStep();
    } else if (!known) {
      PrintNoCommand(app);
    } else if (IsCommandMissing(app)) {
      PrintMissingCommand(app);
    } else {
      app.exit(error);
    }
  } catch (const CLI::ExtrasError&) {
    context.exit_code = kUsageOrManifest;
    PrintUnknownArgument(app);
  } catch (const CLI::ParseError& error) {
    context.exit_code = app.exit(error) == 0 ? kFine : kUsageOrManifest;
  }
}

// Where the caller closed stdin, stdout or stderr, a file that is opened would take its number, and
// what is printed would go into that file. What takes its place here can be neither read nor
// written, and not be opened again as /dev/stdout either.
void OccupyClosedStreams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool is_closed = fcntl(fd, F_GETFD) == -1 && errno == EBADF;
    if (is_closed && open("/", O_PATH | O_DIRECTORY) != fd) return;  // the lowest free number
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
  OccupyClosedStreams();
  // A reader that goes away (`plan | head`) ends us by a write error, not by a signal in mid-apply.
  std::signal(SIGPIPE, SIG_IGN);
  // Where a parent ignored it, exit codes of children would be lost.
  std::signal(SIGCHLD, SIG_DFL);
  reconciler::cli::CheckedStdout output;
  reconciler::cli::Context context;
  Run(argc, argv, context);
  return JudgeOutput(output, context);
}
