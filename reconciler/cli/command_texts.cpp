#include "reconciler/cli/command_texts.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/planning/layout.h"

namespace reconciler::cli {
namespace {

constexpr const char* kManifest = "Write a manifest";
constexpr const char* kAccess = "Reach the nodes";
constexpr const char* kChange = "Change the nodes";
constexpr const char* kInspect = "Inspect the cluster";
constexpr const char* kRun = "Run programs on the nodes";
constexpr const char* kHelp = "Find out more";

// An exit code of a command, and what it means there where it is not the usual meaning.
struct CodeText {
  // NOLINTNEXTLINE(google-explicit-constructor): most codes of the table stand alone.
  CodeText(ExitCode its_code, const char* its_text = nullptr) : code(its_code), text(its_text) {}

  ExitCode code;
  const char* text;
};

struct CommandText {
  const char* name = nullptr;     // with that of the command it belongs to, as "lock list"
  const char* group = nullptr;    // nullptr: not one of its own
  const char* example = nullptr;  // what follows "spark-reconcile "
  std::vector<CodeText> codes = {};
  const char* instead = "";  // of --format, where the command has none: what a program reads
};

constexpr const char* kRefused =
    "wrong arguments, a manifest that is not valid, a question that was not answered with yes, or "
    "a node of another cluster";
constexpr const char* kChanged = "more differs than the question listed";

// Of an apply that ends with a verification. `stale`: what 8 means.
std::vector<CodeText> ListApplyCodes(const char* stale) {
  return {kFine,
          {kUsageOrManifest, kRefused},
          kPending,
          kNodeUnreadable,
          kReverted,
          kMixed,
          kVerifyFailed,
          kNotMeasured,
          {kStalePlan, stale},
          kLocked,
          kInterrupted};
}

const std::vector<CommandText>& ListTexts() {
  static const std::vector<CommandText> texts = {
      {"init",
       kManifest,
       "init cluster.yaml --topology direct",
       {kFine, kUsageOrManifest},
       "it writes a manifest, which programs read as it is"},
      {"discover",
       kManifest,
       "discover spark-1 spark-2 --out cluster.yaml",
       {kFine,
        kUsageOrManifest,
        {kPending, "the manifest does not have all that was found, as said on stderr"},
        kNodeUnreadable}},
      {"validate", kManifest, "validate cluster.yaml", {kFine, kUsageOrManifest}},
      {"add-node",
       kManifest,
       "add-node spark-3 192.168.1.23 cluster.yaml",
       {kFine, kUsageOrManifest},
       "it writes the manifest, which programs read as it is"},
      {"remove-node",
       kManifest,
       "remove-node spark-3 cluster.yaml",
       {kFine, kUsageOrManifest},
       "it writes the manifest, which programs read as it is"},
      {"trust", kAccess, "trust cluster.yaml", {kFine, kUsageOrManifest, kNodeUnreadable}},
      {"access", kAccess, "access cluster.yaml --fix", {kFine, kUsageOrManifest, kNodeUnreadable}},
      {"access sudoers",
       nullptr,
       "access sudoers cluster.yaml",
       {kFine, kUsageOrManifest},
       "it prints lines for sudoers"},
      {"plan",
       kChange,
       "plan cluster.yaml --out plan.json",
       {kFine,
        {kUsageOrManifest,
         "wrong arguments, a manifest that is not valid, or a saved plan that apply refuses"},
        {kPending, "with --detailed-exitcode: something differs from the manifest, or is blocked"},
        kNodeUnreadable}},
      {"apply", kChange, "apply cluster.yaml",
       ListApplyCodes("the saved plan is stale, or more differs than the question listed"),
       "`--events -` writes JSON on stdout, one object per line"},
      {"rollback", kChange, "rollback cluster.yaml --to 3", ListApplyCodes(kChanged),
       "`--events -` writes JSON on stdout, one object per line"},
      {"uninstall",
       kChange,
       "uninstall cluster.yaml",
       {kFine,
        {kUsageOrManifest, kRefused},
        kPending,
        kNodeUnreadable,
        kReverted,
        kMixed,
        {kStalePlan, kChanged},
        kLocked,
        kInterrupted},
       "`--events -` writes JSON on stdout, one object per line"},
      {"drill",
       kChange,
       "drill cluster.yaml --node spark-1",
       {kFine,
        kUsageOrManifest,
        kNodeUnreadable,
        {kMixed, "a node did not revert, or could not be drilled"},
        kLocked}},
      {"lock",
       kChange,
       "lock list cluster.yaml",
       {kFine,
        kUsageOrManifest,
        kNodeUnreadable,
        {kMixed, "`break` failed on a node"},
        {kLocked, "`break` kept a lock, as its holder may be running"}}},
      {"lock list", nullptr, "lock list cluster.yaml", {kFine, kUsageOrManifest, kNodeUnreadable}},
      {"lock break",
       nullptr,
       "lock break cluster.yaml --node spark-1",
       {kFine,
        kUsageOrManifest,
        kNodeUnreadable,
        {kMixed, "it failed on a node"},
        {kLocked, "a lock is kept, as its holder may be running"}}},
      {"drift",
       kInspect,
       "drift cluster.yaml --format json",
       {kFine, kUsageOrManifest, kPending, kNodeUnreadable}},
      {"verify",
       kInspect,
       "verify cluster.yaml --report report.html",
       {kFine, kUsageOrManifest, kNodeUnreadable, kVerifyFailed, kNotMeasured}},
      {"report",
       kInspect,
       "report yesterday.json today.json",
       {kFine,
        {kUsageOrManifest, "wrong arguments, or a report that is not valid"},
        {kVerifyFailed, "of two reports: something got worse"},
        {kNotMeasured, "of two reports: something was not measured again, and nothing got worse"}}},
      {"status",
       kInspect,
       "status cluster.yaml --wait 120",
       {kFine,
        kUsageOrManifest,
        {kPending, "the time of --wait is over, and something differs from the manifest"},
        kNodeUnreadable,
        {kLocked, "the time of --wait is over, and another apply is running"}}},
      {"history", kInspect, "history cluster.yaml", {kFine, kUsageOrManifest, kNodeUnreadable}},
      {"cabling",
       kInspect,
       "cabling cluster.yaml",
       {kFine,
        kUsageOrManifest,
        kNodeUnreadable,
        {kVerifyFailed, "a cable is not where the manifest has it"},
        {kNotMeasured, "where a cable ends is unknown"}}},
      {"graph", kInspect, "graph cluster.yaml --format svg >fabric.svg", {kFine, kUsageOrManifest}},
      {"hostfile",
       kRun,
       "hostfile cluster.yaml --format openmpi >hostfile",
       {kFine, kUsageOrManifest}},
      {"env",
       kRun,
       "env spark-1 cluster.yaml --format docker",
       {kFine, kUsageOrManifest, kNodeUnreadable}},
      {"explain", kHelp, "explain path-mtu", {kFine, kUsageOrManifest}},
      {"schema",
       kHelp,
       "schema plan >plan.schema.json",
       {kFine, kUsageOrManifest},
       "it always prints JSON"},
      {"completion",
       kHelp,
       "completion bash >/etc/bash_completion.d/spark-reconcile",
       {kFine, kUsageOrManifest},
       "it prints a script for a shell"},
      {"help",
       kHelp,
       "help apply",
       {kFine, kUsageOrManifest},
       "it prints text for people; `version --format json` lists the formats of documents"},
      {"man",
       kHelp,
       "man plan | man -l -",
       {kFine, kUsageOrManifest},
       "it prints a manual page, which programs such as man read"},
      {"version", kHelp, "version --format json", {kFine, kUsageOrManifest}},
  };
  return texts;
}

const char* Describe(ExitCode code) {
  switch (code) {
    case kFine:
      return "done, and nothing is wrong";
    case kUsageOrManifest:
      return "wrong arguments, or a manifest that is not valid";
    case kPending:
      return "something differs from the manifest, or is blocked";
    case kNodeUnreadable:
      return "a node could not be read";
    case kReverted:
      return "the apply failed, and every node was reverted";
    case kMixed:
      return "the apply failed, and not every node was reverted";
    case kVerifyFailed:
      return "verification failed";
    case kNotMeasured:
      return "something could not be measured";
    case kStalePlan:
      return "the saved plan is stale";
    case kLocked:
      return "another apply is running";
    case kInterrupted:
      return "interrupted, and every node was reverted; where a signal ended the program at once, "
             "128 and its number: SIGHUP 129, SIGINT 130, SIGTERM 143";
  }
  return "";
}

// Whether those words call it.
bool IsNamed(const CLI::App& command, std::string_view words) {
  const CLI::App* above = command.get_parent();
  const bool is_inner = above != nullptr && above->get_parent() != nullptr;
  return words == (is_inner ? above->get_name() + " " : "") + command.get_name();
}

std::string MakeFooter(const CommandText& text) {
  std::string footer = fmt::format("Example:\n  spark-reconcile {}\n\nExit codes:\n", text.example);
  for (const auto& [code, meaning] : text.codes) {
    footer += fmt::format("  {:<3} {}\n", static_cast<int>(code),
                          meaning == nullptr ? Describe(code) : meaning);
  }
  return footer +
         "\nEvery command also takes --no-color, --parallelism and --prompt-sudo-password.";
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t columns) : columns_(columns) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const std::string help = Formatter::make_help(app, std::move(name), mode);
    std::string wrapped;
    for (const std::string& line : SplitLines(help)) {
      const bool is_example = line.starts_with("  spark-reconcile ");
      wrapped += is_example ? line + "\n" : WrapColumns(line + "\n", columns_);
    }
    return wrapped;
  }

 private:
  std::size_t columns_ = 0;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter(std::size_t columns) {
  return std::make_shared<HelpFormatter>(columns);
}

void AddCommandTexts(CLI::App& app) {
  for (const CommandText& text : ListTexts()) {
    CLI::App* command = &app;
    for (const std::string& word : Split(text.name, ' ')) command = command->get_subcommand(word);
    command->footer(MakeFooter(text));
    if (text.group != nullptr) command->group(text.group);
  }
  app.footer(
      "`spark-reconcile help COMMAND` shows the options of one command, an example, and its exit "
      "codes.");
}

std::vector<const CLI::App*> ListCommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
}

std::optional<Error> ExplainNoFormat(const CLI::App& command, std::string_view option) {
  if (option != "--format") return std::nullopt;
  for (const CommandText& text : ListTexts()) {
    if (!IsNamed(command, text.name) || *text.instead == '\0') continue;
    return Error{.kind = ErrorKind::kUsage,
                 .message = fmt::format("{} has no --format", text.name),
                 .hint = text.instead};
  }
  return std::nullopt;
}

Error MakeUnknownError(const std::string& what, const std::string& word,
                       const std::vector<std::string>& known, std::string hint) {
  const auto close = FindClosestMatch(word, known);
  return {.kind = ErrorKind::kUsage,
          .message = fmt::format("unknown {} '{}'{}", what, MakePrintable(word),
                                 close ? fmt::format(", did you mean '{}'?", *close) : ""),
          .hint = std::move(hint)};
}

Result<const CLI::App*> FindNamedCommand(const CLI::App& app,
                                         const std::vector<std::string>& words) {
  const CLI::App* found = &app;
  for (const std::string& word : words) {
    std::vector<std::string> names;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : ListCommands(*found)) {
      names.push_back(command->get_name());
      if (command->get_name() == word) next = command;
    }
    if (next == nullptr) {
      return Fail(
          MakeUnknownError("command", word, names, "`spark-reconcile help` lists all commands"));
    }
    found = next;
  }
  return found;
}

std::string FormatHelp(const CLI::App& app) {
  std::string parents;
  for (const CLI::App* part = app.get_parent(); part != nullptr; part = part->get_parent()) {
    parents = part->get_name() + " " + parents;
  }
  return app.get_formatter()->make_help(&app, parents + app.get_name(), CLI::AppFormatMode::Normal);
}

}  // namespace reconciler::cli
