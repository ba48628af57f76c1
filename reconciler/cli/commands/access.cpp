#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "reconciler/access/fix_access.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/apply/apply_report.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/terminal.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/layout.h"
#include "reconciler/transport/first_access.h"
#include "reconciler/transport/ssh/host_key.h"
#include "reconciler/transport/ssh/password.h"

namespace reconciler::cli {
namespace {

struct AccessOptions {
  Selection selection = {};
  std::string format = "text";
  bool fix = false;
  bool sudoers = false;
  bool yes = false;
};

LoginFunctions MakeLoginFunctions(const Context& context) {
  return {.read_host_key = ReadHostKey,
          .dial = context.dial,
          .dial_with_password = DialWithPassword,
          .find_user = FindLoginUser,
          .find_own_key = FindOwnKey,
          .check_key_can_be_added = CheckKeyCanBeAdded,
          .at_once = context.at_once};
}

std::string FormatHostKeyState(HostKeyState state) {
  switch (state) {
    case HostKeyState::kUnread:
      return "-";
    case HostKeyState::kNew:
      return "new";
    case HostKeyState::kKnown:
      return "known";
  }
  return "-";
}

std::string FormatStep(AccessStep step) {
  switch (step) {
    case AccessStep::kNotTried:
      return "-";
    case AccessStep::kFailed:
      return "no";
    case AccessStep::kDone:
      return "yes";
  }
  return "-";
}

std::string FormatAccess(const std::vector<const NodeSpec*>& nodes,
                         const std::map<NodeName, NodeAccess>& found) {
  std::vector<std::vector<std::string>> rows = {{"NODE", "ADDRESS", "HOST KEY", "LOGIN", "ROOT"}};
  for (const NodeSpec* node : nodes) {
    const auto access = found.find(node->name);
    if (access == found.end()) continue;
    const NodeAccess& one = access->second;
    rows.push_back({node->name, node->address, FormatHostKeyState(one.host_key),
                    FormatStep(one.login), FormatStep(one.root)});
  }
  return FormatTable(rows);
}

// "unread", "new", "known"; "not-tried", "no", "yes".
std::string_view GetJsonName(HostKeyState state) {
  switch (state) {
    case HostKeyState::kUnread:
      return "unread";
    case HostKeyState::kNew:
      return "new";
    case HostKeyState::kKnown:
      return "known";
  }
  return "";
}

std::string_view GetJsonName(AccessStep step) {
  switch (step) {
    case AccessStep::kNotTried:
      return "not-tried";
    case AccessStep::kFailed:
      return "no";
    case AccessStep::kDone:
      return "yes";
  }
  return "";
}

std::string FormatAccessJson(const std::vector<const NodeSpec*>& nodes,
                             const std::map<NodeName, NodeAccess>& found) {
  nlohmann::ordered_json document = BeginDocument("spark-reconcile/access/1");
  document["nodes"] = nlohmann::ordered_json::array();
  for (const NodeSpec* node : nodes) {
    const auto access = found.find(node->name);
    if (access == found.end()) continue;
    const NodeAccess& one = access->second;
    document["nodes"].push_back({{"name", node->name},
                                 {"address", node->address},
                                 {"host_key", GetJsonName(one.host_key)},
                                 {"login", GetJsonName(one.login)},
                                 {"root", GetJsonName(one.root)}});
    if (!one.missing) continue;
    document["nodes"].back()["missing"] = MakePrintable(one.missing->message);
  }
  return Dump(document);
}

void PrintKey(const NodeSpec& node, const Result<InstalledKey>& installed) {
  if (!installed) {
    std::cerr << FormatErrors({installed.error()});
    return;
  }
  std::cout << fmt::format("{}: {} {} in ~{}/.ssh/authorized_keys ({})\n", node.name,
                           installed->added ? "added" : "found", installed->key.fingerprint,
                           installed->user, installed->key.file)
            << std::flush;
}

void PrintSudo(const NodeSpec& node, const Result<void>& granted) {
  if (!granted) {
    std::cerr << FormatErrors({granted.error()});
    return;
  }
  std::cout << fmt::format("{}: wrote {}\n", node.name, kSudoersFile) << std::flush;
}

FixAccessHooks MakeFixHooks() {
  return {.prompt_password =
              [](const NodeSpec& node, const std::string& user) {
                return PromptPassword(
                    fmt::format("password of {} on {} ({}): ", user, node.name, node.address),
                    "add the key with ssh-copy-id");
              },
          .on_key = PrintKey,
          .on_sudo = PrintSudo};
}

int PrintAccess(const std::vector<const NodeSpec*>& nodes, const AccessReport& report,
                const std::string& format, std::size_t columns) {
  std::cout << (format == "json" ? FormatAccessJson(nodes, report.nodes)
                                 : WrapLines(FormatAccess(nodes, report.nodes), columns))
            << std::flush;
  std::cerr << FormatErrors(report.errors);
  return report.errors.empty() ? kFine : kNodeUnreadable;
}

// Before anything is changed, so that a refusal leaves all as it was.
bool ConfirmSudoers(const AccessReport& report, bool yes) {
  if (!MayWriteSudoers(report)) return true;
  std::cout << fmt::format("into {}, where sudo wants a password:\n  {}\n", kSudoersFile,
                           FormatSudoersRule("USER"))
            << std::flush;
  return Confirm("Write this line, for the user of each login?", yes, "give --yes");
}

int RunAccess(const AccessOptions& options, const Context& context) {
  if (options.sudoers && context.prompt_sudo_password) {
    return PrintError({.kind = ErrorKind::kUsage,
                       .message = "wanted one of --sudoers and --prompt-sudo-password, found both",
                       .hint = "--sudoers prompts for each password that it needs"},
                      kUsageOrManifest);
  }
  const LoginFunctions login = MakeLoginFunctions(context);
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const auto nodes = SelectNodes(cluster->spec, options.selection.scope.nodes);
  const AccessReport report = CheckAccess(nodes, login);
  const std::size_t columns = context.ColumnsOnStdout();
  const int code = PrintAccess(nodes, report, options.format, columns);
  if (code == kFine || !options.fix) return code;
  if (options.sudoers && !ConfirmSudoers(report, options.yes)) return kUsageOrManifest;
  const auto fixed = FixAccess(nodes, report, options.sudoers, login, MakeFixHooks());
  if (!fixed) return PrintError(fixed.error(), kUsageOrManifest);
  return PrintAccess(nodes, *fixed, options.format, columns);
}

}  // namespace

void AddAccess(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "access", "Show what each node's login still lacks: host key, key, root; --fix adds it");
  auto options = std::make_shared<AccessOptions>();
  CLI::Option* manifest = AddManifest(*command, options->selection);
  CLI::Option* node = AddNodes(*command, options->selection);
  CLI::Option* fix = command->add_flag(
      "--fix", options->fix,
      "Add your public key where it is missing; each password is prompted for once");
  CLI::Option* sudoers =
      command
          ->add_flag(
              "--sudoers", options->sudoers,
              "With --fix: also allow sudo without a password, in /etc/sudoers.d/spark-reconcile")
          ->needs(fix);
  command->add_flag("--yes,-y", options->yes, "Write that without a question")->needs(sudoers);
  CLI::Option* format =
      command->add_option("--format", options->format, "How to print it; json goes without --fix")
          ->check(CLI::IsMember({"text", "json"}))
          ->capture_default_str()
          ->excludes(fix);
  CLI::App* printed = AddSudoers(*command, *manifest, context);
  printed->excludes(node)->excludes(fix)->excludes(format);
  command->callback([&context, options, printed] {
    if (printed->parsed()) return;
    context.exit_code = RunAccess(*options, context);
  });
}

}  // namespace reconciler::cli
