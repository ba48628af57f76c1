#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "plugins/registry.h"
#include "reconciler/base/text.h"
#include "reconciler/cabling/observe/observe_cabling.h"
#include "reconciler/cli/choose_hosts.h"
#include "reconciler/cli/context.h"
#include "reconciler/cli/document.h"
#include "reconciler/cli/exit_code.h"
#include "reconciler/discovery/adopt.h"
#include "reconciler/discovery/discovery.h"
#include "reconciler/fabric/found/locate_ports.h"
#include "reconciler/manifest/read/host_port.h"
#include "reconciler/manifest/starter.h"
#include "reconciler/planning/adopt/find_adoptable.h"
#include "reconciler/planning/plan_maker.h"

namespace reconciler::cli {
namespace {

struct DiscoverOptions {
  std::vector<std::string> hosts = {};
  std::string user = "nvidia";
  std::vector<std::string> users = {};  // of each host; empty: as for all
  std::string out = "-";
  std::string format = "text";
  bool accept_new = false;
  bool mdns = false;
  bool known_hosts = false;
  std::string match = {};
};

// Of USER@ADDRESS, the user. One that all hosts have is that of the cluster.
void TakeUsers(DiscoverOptions& options) {
  for (std::string& host : options.hosts) {
    const std::size_t at = host.find('@');
    const bool has_user = at != std::string::npos && at > 0;
    options.users.push_back(has_user ? host.substr(0, at) : options.user);
    if (has_user) host.erase(0, at + 1);
  }
  if (options.users.empty()) return;
  const std::string& first = options.users.front();
  const bool is_one = std::all_of(options.users.begin(), options.users.end(),
                                  [&](const std::string& user) { return user == first; });
  if (is_one) options.user = first;
  for (std::string& user : options.users) {
    if (user == options.user) user.clear();
  }
}

// The hosts as nodes, by their order, while they are read.
std::optional<Cluster> MakeHosts(const DiscoverOptions& options) {
  const Starter starter{.topology = Topology::kSwitch,
                        .nodes = options.hosts.size(),
                        .addresses = options.hosts,
                        .user = options.user,
                        .users = options.users};
  if (const std::string why = ExplainBadStarter(starter); !why.empty()) {
    std::cerr << fmt::format("wanted the addresses of 2 to 64 nodes, found {}\n",
                             options.hosts.size());
    return std::nullopt;
  }
  for (const std::string& host : options.hosts) {
    if (!HasPort(host)) continue;
    PrintError({.kind = ErrorKind::kUsage,
                .message = fmt::format("wanted an address without a port, found '{}'",
                                       MakePrintable(host)),
                .hint = "give it an entry in ~/.ssh/config with its Port, and name that"},
               kUsageOrManifest);
    return std::nullopt;
  }
  auto hosts = LoadGenerated(FormatStarter(starter), "the given addresses");
  if (!hosts) return std::nullopt;
  for (NodeSpec& node : hosts->spec.nodes) {
    if (options.accept_new) node.access.host_keys = HostKeys::kAcceptNew;
  }
  return hosts;
}

std::optional<Plan> MakePlanOf(const std::string& manifest, const std::string& name,
                               const ClusterFacts& facts) {
  const auto cluster = LoadCluster(manifest, name, {});
  if (!cluster) return std::nullopt;
  auto plan = MakePlan(cluster->spec, cluster->fabric, facts, plugins::GetAll());
  if (plan) return std::move(*plan);
  std::cerr << FormatError(plan.error());
  return std::nullopt;
}

// Adds what the plugins find on the nodes: what the manifest must name, what is still in the way of
// its plan, and what others set that it could manage. Whether the manifest is valid with that.
bool AddFromPlugins(const ClusterFacts& facts, const std::string& name, Discovery& discovery) {
  const std::vector<Plugin>& plugins = plugins::GetAll();
  const auto found = LoadCluster(FormatDiscovery(discovery), name, {});
  if (!found) return false;
  const LocatedCluster located(found->spec, found->fabric, facts);
  AddAdopt(FindAdoptable(located.spec(), located.fabric(), facts, plugins), discovery);
  const auto plan = MakePlanOf(FormatDiscovery(discovery), name, facts);
  if (!plan) return false;
  AddObstacles(plan->diagnostics, discovery);
  AddLostSettings(*plan, discovery);
  const auto noted = MakePlanOf(FormatWithSections(discovery, plugins), name, facts);
  if (noted) AddNotes(noted->diagnostics, plugins, discovery);
  return true;
}

// What the manifest cannot say, on stderr, and the manifest where it goes to stdout.
void PrintText(const Discovery& discovery, bool is_valid, const std::string& out) {
  for (const std::string& gap : discovery.gaps) std::cerr << "not as found: " << gap << '\n';
  for (const std::string& note : discovery.notes) std::cerr << "note: " << note << '\n';
  if (out == "-") {
    std::cout << FormatDiscovery(discovery);
    return;
  }
  std::cout << out << " is written. "
            << (is_valid ? "Next: spark-reconcile plan " + out
                         : "It is not valid yet: see the errors above")
            << '\n';
}

int PrintDiscovery(const Discovery& discovery, bool is_valid, const DiscoverOptions& options) {
  if (options.out != "-") {
    const auto written = WriteNewFile(options.out, FormatDiscovery(discovery));
    if (!written) return PrintError(written.error(), kUsageOrManifest);
  }
  if (options.format == "json") {
    std::cout << FormatDocument(ToJson(discovery, is_valid));
  } else {
    PrintText(discovery, is_valid, options.out);
  }
  return discovery.gaps.empty() && is_valid ? kFine : kPending;
}

// Connections of its own: the nodes have other names now.
int CompleteDiscovery(Discovery discovery, const DiscoverOptions& options, const Context& context) {
  const std::string name = options.out == "-" ? "cluster.yaml" : options.out;
  const auto found = LoadCluster(FormatWithSections(discovery, plugins::GetAll()), name, {});
  if (!found) return PrintDiscovery(discovery, false, options);
  NodePool pool(context.dial, context.at_once);
  const ClusterFacts facts = GatherWithProgress(*found, {}, pool, Purpose::kVerification);
  if (!facts.unreachable.empty()) return kNodeUnreadable;
  const bool is_valid = AddFromPlugins(facts, name, discovery);
  return PrintDiscovery(discovery, is_valid, options);
}

int RunDiscover(DiscoverOptions options, const Context& context) {
  if (options.out != "-" && access(options.out.c_str(), F_OK) == 0) {
    return PrintError({.kind = ErrorKind::kUsage,
                       .message = options.out + ": is there already",
                       .hint = "name another file, or '-' to print the manifest"},
                      kUsageOrManifest);
  }
  if (int{options.mdns} + int{options.known_hosts} + int{!options.hosts.empty()} != 1) {
    return PrintError({.kind = ErrorKind::kUsage,
                       .message = "wanted either addresses of nodes, --mdns or --known-hosts",
                       .hint = "see `spark-reconcile discover --help`"},
                      kUsageOrManifest);
  }
  if (!options.hosts.empty() && !options.match.empty()) {
    return PrintError(
        {.kind = ErrorKind::kUsage,
         .message = "--match: wanted --mdns or --known-hosts with it, found addresses",
         .hint = "give the addresses alone"},
        kUsageOrManifest);
  }
  if (options.hosts.empty()) {
    if (options.match.empty()) options.match = "spark*";
    auto found =
        FindHosts(options.mdns ? HostSource::kMdns : HostSource::kKnownHosts, options.match);
    if (!found) return PrintError(found.error(), kUsageOrManifest);
    options.hosts = std::move(*found);
  }
  TakeUsers(options);
  const auto hosts = MakeHosts(options);
  if (!hosts) return kUsageOrManifest;
  NodePool pool(context.dial, context.at_once);
  const ClusterFacts facts = GatherWithProgress(*hosts, {}, pool, Purpose::kVerification);
  if (!facts.unreachable.empty()) {
    if (!options.accept_new) {
      std::cerr << "where a host key is not known: compare it as said above, then give "
                   "--accept-new\n";
    }
    return kNodeUnreadable;
  }
  const LocatedCluster located(hosts->spec, hosts->fabric, facts);
  const CablingViews views = ObserveCabling(located.spec(), SelectNodes(hosts->spec, {}), pool);
  Errors errors;
  for (const auto& [node, view] : views) {
    if (view.failure) errors.push_back(*view.failure);
  }
  std::cerr << FormatErrors(errors);
  if (!errors.empty()) return kNodeUnreadable;
  return CompleteDiscovery(Discover(located.spec(), facts, views, options.user, plugins::GetAll()),
                           options, context);
}

}  // namespace

void AddDiscover(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "discover", "Write the manifest of nodes as they are; changes no file on them");
  auto options = std::make_shared<DiscoverOptions>();
  command->add_option(
      "address", options->hosts,
      "The nodes' management addresses; USER@ADDRESS where a node has another user");
  command->add_flag("--mdns", options->mdns,
                    "In place of addresses: machines that announce ssh by mDNS on this machine's "
                    "networks (needs avahi-browse)");
  command->add_flag("--known-hosts", options->known_hosts,
                    "In place of addresses: machines in ~/.ssh/known_hosts");
  command->add_option("--match", options->match,
                      "Shell pattern of their names or addresses, with --mdns and --known-hosts "
                      "('spark*' unless given)");
  command->add_option("--user", options->user, "Who logs in")->capture_default_str();
  command->add_option("--out,-o", options->out, "The file to write, '-' to print it")
      ->capture_default_str();
  command
      ->add_option("--format", options->format, "How to print it; json has what it cannot say, too")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command->add_flag("--accept-new", options->accept_new,
                    "Add unknown host keys to known_hosts, on a network that you trust");
  command->callback([&context, options] { context.exit_code = RunDiscover(*options, context); });
}

}  // namespace reconciler::cli
