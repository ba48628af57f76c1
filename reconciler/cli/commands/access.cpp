#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>

#include "reconciler/base/text.h"
#include "reconciler/cli/apply/apply_report.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/cli/terminal.h"
#include "reconciler/transport/first_access.h"
#include "reconciler/transport/ssh/dial.h"
#include "reconciler/transport/ssh/host_key.h"
#include "reconciler/transport/ssh/password.h"

namespace reconciler::cli {
namespace {

struct AccessOptions {
  Selection selection = {};
  bool fix = false;
  bool sudoers = false;
  bool yes = false;
};

// What is there of the way in to a node, up to the first thing that is missing.
struct NodeAccess {
  std::string host_key = "-";
  std::string login = "-";
  std::string root = "-";
  bool wants_sudo_password = false;
  std::optional<Error> missing = std::nullopt;
};

std::optional<Error> CheckRoot(const NodeSpec& node, Transport& transport, NodeAccess& access) {
  const auto reply =
      RunScript(transport, "id -u\n", std::chrono::seconds(node.access.command_timeout_s));
  if (!reply) return AddContext(reply.error(), node.name);
  if (auto refusal = FindSudoRefusal(node, *reply)) {
    access.wants_sudo_password = WantsSudoPassword(*reply);
    return refusal;
  }
  // Startup files of the login may print something before.
  const std::string said = FindLastLine(reply->out.empty() ? reply->err : reply->out);
  if (said == "0") return std::nullopt;
  return Error{.kind = ErrorKind::kTransport,
               .message = fmt::format("wanted a root shell (user id 0), found '{}'", said),
               .context = {node.name},
               .hint = "log in as root, or as a user with sudo and `become: sudo` in `access`"};
}

// With the strict rule for host keys: what only looks adds none.
NodeAccess CheckAccess(NodeSpec node) {
  node.access.host_keys = HostKeys::kStrict;
  NodeAccess access;
  if (node.access.transport == TransportKind::kSsh) {
    const auto key = ReadHostKey(node);
    if (!key) {
      access.missing = key.error();
      return access;
    }
    access.host_key = key->known ? "known" : "new";
  }
  const auto transport = DialNode(node);
  if (!transport) {
    if (access.host_key != "new") access.login = "no";
    access.missing = transport.error();
    return access;
  }
  access.login = "yes";
  access.missing = CheckRoot(node, **transport, access);
  access.root = access.missing ? "no" : "yes";
  return access;
}

std::string FormatAccess(const std::vector<const NodeSpec*>& nodes,
                         const std::map<NodeName, NodeAccess>& found) {
  std::vector<std::vector<std::string>> rows = {{"NODE", "ADDRESS", "HOST KEY", "LOGIN", "ROOT"}};
  for (const NodeSpec* node : nodes) {
    const auto access = found.find(node->name);
    if (access == found.end()) continue;
    const NodeAccess& one = access->second;
    rows.push_back({node->name, node->address, one.host_key, one.login, one.root});
  }
  return FormatTable(rows);
}

// Every node at once, so that all that is missing is reported at once.
struct AccessReport {
  std::map<NodeName, NodeAccess> nodes = {};
  Errors errors = {};
};

AccessReport CheckAll(const std::vector<const NodeSpec*>& nodes) {
  AccessReport report;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(nodes, [&](const NodeSpec& node) {
    NodeAccess access = CheckAccess(node);
    const std::lock_guard lock(mutex);
    report.nodes[node.name] = std::move(access);
  });
  for (const NodeSpec* node : nodes) {
    const auto access = report.nodes.find(node->name);
    if (access != report.nodes.end() && access->second.missing) {
      report.errors.push_back(*access->second.missing);
    }
  }
  AppendErrors(std::move(thrown), report.errors);
  return report;
}

// The nodes of which `holds` is true, as far as they were checked.
template <class Predicate>
std::vector<const NodeSpec*> FindWhere(const std::vector<const NodeSpec*>& nodes,
                                       const AccessReport& report, Predicate holds) {
  std::vector<const NodeSpec*> found;
  for (const NodeSpec* node : nodes) {
    const auto access = report.nodes.find(node->name);
    if (access != report.nodes.end() && holds(access->second)) found.push_back(node);
  }
  return found;
}

bool LacksLogin(const NodeAccess& access) { return access.login == "no"; }
bool LacksSudo(const NodeAccess& access) { return access.wants_sudo_password; }

// A shell of the user who logs in, not of root.
NodeSpec AsUser(NodeSpec node) {
  node.access.become = Become::kNone;
  return node;
}

// Adds what is missing, node after node, with passwords that are typed on the terminal. They are
// kept until the command ends, so that each is typed once.
class AccessFixer {
 public:
  // The error that ends the whole: there is no terminal, or no password was typed.
  std::optional<Error> AddKeys(const std::vector<const NodeSpec*>& nodes) {
    for (const NodeSpec* node : nodes) {
      const auto key = FindOwnKey(*node);
      const auto user = FindLoginUser(*node);
      if (!key || !user) {
        std::cerr << FormatErrors({key ? user.error() : key.error()});
        continue;
      }
      const auto password = FindPassword(*node, *user);
      if (!password) return password.error();
      AddKey(*node, *user, *key, *password);
    }
    return std::nullopt;
  }

  // The same.
  std::optional<Error> AllowSudo(const std::vector<const NodeSpec*>& nodes) {
    for (const NodeSpec* node : nodes) {
      const auto user = FindLoginUser(*node);
      if (!user) {
        std::cerr << FormatErrors({user.error()});
        continue;
      }
      const auto password = FindPassword(*node, *user);
      if (!password) return password.error();
      AllowSudoOn(*node, *user, *password);
    }
    return std::nullopt;
  }

 private:
  Result<std::string> FindPassword(const NodeSpec& node, const std::string& user) {
    const auto found = passwords_.find(node.name);
    if (found != passwords_.end()) return found->second;
    auto typed =
        PromptPassword(fmt::format("password of {} on {} ({}): ", user, node.name, node.address));
    if (typed) passwords_[node.name] = *typed;
    return typed;
  }

  void AddKey(const NodeSpec& node, const std::string& user, const OwnKey& key,
              const std::string& password) {
    const auto transport = DialWithPassword(AsUser(node), password);
    if (!transport) {
      std::cerr << FormatErrors({transport.error()});
      return;
    }
    const auto added = InstallKey(node, **transport, key.line);
    if (!added) {
      std::cerr << FormatErrors({added.error()});
      return;
    }
    std::cout << fmt::format("{}: {} {} in ~{}/.ssh/authorized_keys ({})\n", node.name,
                             *added ? "added" : "found", key.fingerprint, user, key.file)
              << std::flush;
  }

  void AllowSudoOn(const NodeSpec& node, const std::string& user, const std::string& password) {
    const auto transport = DialNode(AsUser(node));
    const Result<void> done =
        transport ? GrantSudo(node, **transport, user, password) : Fail(transport.error());
    if (!done) {
      std::cerr << FormatErrors({done.error()});
      return;
    }
    std::cout << fmt::format("{}: wrote {}\n", node.name, kSudoersFile) << std::flush;
  }

  std::map<NodeName, std::string> passwords_ = {};
};

int PrintAccess(const std::vector<const NodeSpec*>& nodes, const AccessReport& report) {
  std::cout << FormatAccess(nodes, report.nodes) << std::flush;
  std::cerr << FormatErrors(report.errors);
  return report.errors.empty() ? kFine : kNodeUnreadable;
}

// Before anything is changed, so that a refusal leaves all as it was.
bool ConfirmSudoers(const std::vector<const NodeSpec*>& nodes, const AccessReport& report,
                    bool yes) {
  const auto may_want = [](const NodeAccess& one) { return LacksLogin(one) || LacksSudo(one); };
  if (FindWhere(nodes, report, may_want).empty()) return true;
  std::cout << fmt::format("into {}, where sudo wants a password:\n  {}\n", kSudoersFile,
                           FormatSudoersRule("USER"))
            << std::flush;
  return Confirm("Write this line, for the user of each login?", yes, "give --yes");
}

// nullopt: all was tried.
std::optional<Error> FixAccess(const std::vector<const NodeSpec*>& nodes, bool sudoers,
                               AccessReport& report) {
  AccessFixer fixer;
  if (auto error = fixer.AddKeys(FindWhere(nodes, report, LacksLogin))) return error;
  report = CheckAll(nodes);
  if (!sudoers) return std::nullopt;
  if (auto error = fixer.AllowSudo(FindWhere(nodes, report, LacksSudo))) return error;
  report = CheckAll(nodes);
  return std::nullopt;
}

int RunAccess(const AccessOptions& options) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const auto nodes = SelectNodes(cluster->spec, options.selection.scope.nodes);
  AccessReport report = CheckAll(nodes);
  const int code = PrintAccess(nodes, report);
  if (code == kFine || !options.fix) return code;
  if (options.sudoers && !ConfirmSudoers(nodes, report, options.yes)) return kUsageOrManifest;
  if (const auto error = FixAccess(nodes, options.sudoers, report)) {
    return PrintError(*error, kUsageOrManifest);
  }
  return PrintAccess(nodes, report);
}

}  // namespace

void AddAccess(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "access", "Show what each node's login still lacks: host key, key, root; --fix adds it");
  auto options = std::make_shared<AccessOptions>();
  AddManifest(*command, options->selection);
  command
      ->add_option("--node", options->selection.scope.nodes,
                   "Only this node (may be given several times)")
      ->allow_extra_args(false);
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
  command->callback([&context, options] { context.exit_code = RunAccess(*options); });
}

}  // namespace reconciler::cli
