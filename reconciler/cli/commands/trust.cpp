#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "reconciler/access/host_keys.h"
#include "reconciler/base/text.h"
#include "reconciler/cli/apply/apply_report.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/layout.h"
#include "reconciler/transport/ssh/host_key.h"

namespace reconciler::cli {
namespace {

struct TrustOptions {
  Selection selection = {};
  std::string format = "text";
  bool yes = false;
};

std::vector<const NodeSpec*> SelectSshNodes(const Cluster& cluster, const Selection& selection) {
  std::vector<const NodeSpec*> nodes = SelectNodes(cluster.spec, selection.scope.nodes);
  std::erase_if(
      nodes, [](const NodeSpec* node) { return node->access.transport == TransportKind::kLocal; });
  return nodes;
}

std::string FormatKeys(const std::vector<const NodeSpec*>& nodes,
                       const std::map<NodeName, HostKey>& keys) {
  std::vector<std::vector<std::string>> rows = {{"NODE", "ADDRESS", "HOST KEY", "KNOWN HOSTS"}};
  for (const NodeSpec* node : nodes) {
    const auto found = keys.find(node->name);
    if (found == keys.end()) {
      rows.push_back({node->name, node->address, "-", "see the error"});
      continue;
    }
    const HostKey& key = found->second;
    rows.push_back(
        {node->name, node->address, key.type + " " + key.fingerprint, key.known ? "known" : "new"});
  }
  return FormatTable(rows);
}

std::string FormatJson(const std::vector<const NodeSpec*>& nodes,
                       const std::map<NodeName, HostKey>& keys) {
  nlohmann::ordered_json document = BeginDocument("spark-reconcile/host-keys/1");
  document["nodes"] = nlohmann::ordered_json::array();
  for (const NodeSpec* node : nodes) {
    nlohmann::ordered_json one = {{"name", node->name}, {"address", node->address}};
    if (const auto found = keys.find(node->name); found != keys.end()) {
      one["type"] = found->second.type;
      one["fingerprint"] = found->second.fingerprint;
      one["known"] = found->second.known;
    }
    document["nodes"].push_back(std::move(one));
  }
  return Dump(document);
}

std::string FormatShared(const std::map<NodeName, HostKey>& keys) {
  std::string text;
  for (const std::vector<NodeName>& names : FindSharedKeys(keys)) {
    text += fmt::format(
        "warning: {} have the same host key: they are one machine, or were made from one image\n"
        "  hint: on a copied machine: rm /etc/ssh/ssh_host_*_key* && ssh-keygen -A, and restart "
        "sshd\n",
        Join(names, ", "));
  }
  return text;
}

std::string FormatComparison(const std::vector<const HostKey*>& keys) {
  std::set<std::string> files;
  for (const HostKey* key : keys) files.insert(key->machine_file);
  std::string text =
      "\nCompare each new key with what the machine itself prints, at its own screen or console:\n";
  for (const std::string& file : files) text += fmt::format("  ssh-keygen -lf {}\n", file);
  return text + '\n';
}

std::string FormatQuestion(const std::vector<const HostKey*>& keys) {
  std::set<std::string> files;
  for (const HostKey* key : keys) files.insert(key->known_hosts);
  return fmt::format("Add {} to {}?", FormatPlural(keys.size(), "host key", "host keys"),
                     Join({files.begin(), files.end()}, " and "));
}

int RunTrust(const TrustOptions& options, const Context& context) {
  const auto cluster = OpenCluster(options.selection);
  if (!cluster) return kUsageOrManifest;
  const std::vector<const NodeSpec*> nodes = SelectSshNodes(*cluster, options.selection);
  if (nodes.empty() && options.format == "text") {
    std::cout << "no node is reached over ssh: there is no host key to know\n";
    return kFine;
  }
  const HostKeyReport report = ReadHostKeys(nodes, context.at_once, ReadHostKey);
  const bool prints_json = options.format == "json";
  const std::size_t columns = context.ColumnsOnStdout();
  std::cout << (prints_json ? FormatJson(nodes, report.keys)
                            : WrapLines(FormatKeys(nodes, report.keys), columns))
            << std::flush;
  std::cerr << FormatErrors(report.errors) << FormatShared(report.keys);
  std::vector<const HostKey*> fresh;
  for (const auto& [node, key] : report.keys) {
    if (!key.known) fresh.push_back(&key);
  }
  const int code = report.errors.empty() ? kFine : kNodeUnreadable;
  if (fresh.empty() || prints_json) return code;
  std::cout << WrapLines(FormatComparison(fresh), columns) << std::flush;
  if (!Confirm(FormatQuestion(fresh), options.yes,
               "give --yes after the comparison, or to trust the network for once")) {
    return kUsageOrManifest;
  }
  for (const HostKey* key : fresh) {
    if (const auto added = AddHostKey(*key); !added) {
      return PrintError(added.error(), kUsageOrManifest);
    }
    std::cout << fmt::format("added: {}\n", key->place);
  }
  return code;
}

}  // namespace

void AddTrust(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("trust", "Show all host keys, and add the new ones to known_hosts");
  auto options = std::make_shared<TrustOptions>();
  AddManifest(*command, options->selection);
  AddNodes(*command, options->selection);
  CLI::Option* yes = command->add_flag("--yes,-y", options->yes, "Add them without a question");
  command->add_option("--format", options->format, "text; or json, which adds none")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->excludes(yes);
  command->callback([&context, options] { context.exit_code = RunTrust(*options, context); });
}

}  // namespace reconciler::cli
