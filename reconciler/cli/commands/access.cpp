#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>

#include "reconciler/base/text.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/transport/ssh/dial.h"
#include "reconciler/transport/ssh/host_key.h"

namespace reconciler::cli {
namespace {

// What is there of the way in to a node, up to the first thing that is missing.
struct NodeAccess {
  std::string host_key = "-";
  std::string login = "-";
  std::string root = "-";
  std::optional<Error> missing = std::nullopt;
};

std::optional<Error> CheckRoot(const NodeSpec& node, Transport& transport) {
  const auto reply =
      RunScript(transport, "id -u\n", std::chrono::seconds(node.access.command_timeout_s));
  if (!reply) return AddContext(reply.error(), node.name);
  if (auto refusal = FindSudoRefusal(node, *reply)) return refusal;
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
  access.missing = CheckRoot(node, **transport);
  access.root = access.missing ? "no" : "yes";
  return access;
}

std::string FormatAccess(const std::vector<const NodeSpec*>& nodes,
                         const std::map<NodeName, NodeAccess>& found) {
  std::vector<std::vector<std::string>> rows = {{"NODE", "ADDRESS", "HOST KEY", "LOGIN", "ROOT"}};
  for (const NodeSpec* node : nodes) {
    const auto access = found.find(node->name);
    if (access == found.end()) continue;
    const auto& [host_key, login, root, missing] = access->second;
    rows.push_back({node->name, node->address, host_key, login, root});
  }
  return FormatTable(rows);
}

int RunAccess(const Selection& selection) {
  const auto cluster = OpenCluster(selection);
  if (!cluster) return kUsageOrManifest;
  const auto nodes = SelectNodes(cluster->spec, selection.scope.nodes);
  std::map<NodeName, NodeAccess> found;
  std::mutex mutex;
  NodeErrors thrown = ForEachNode(nodes, [&](const NodeSpec& node) {
    NodeAccess access = CheckAccess(node);
    const std::lock_guard lock(mutex);
    found[node.name] = std::move(access);
  });
  Errors errors;
  for (const NodeSpec* node : nodes) {
    const auto access = found.find(node->name);
    if (access != found.end() && access->second.missing) errors.push_back(*access->second.missing);
  }
  AppendErrors(std::move(thrown), errors);
  std::cout << FormatAccess(nodes, found) << std::flush;
  std::cerr << FormatErrors(errors);
  return errors.empty() ? kFine : kNodeUnreadable;
}

}  // namespace

void AddAccess(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "access", "Show what each node's login still lacks: host key, key, root; changes nothing");
  auto selection = std::make_shared<Selection>();
  AddManifest(*command, *selection);
  command
      ->add_option("--node", selection->scope.nodes, "Only this node (may be given several times)")
      ->allow_extra_args(false);
  command->callback([&context, selection] { context.exit_code = RunAccess(*selection); });
}

}  // namespace reconciler::cli
