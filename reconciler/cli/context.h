#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/cli/files.h"
#include "reconciler/cluster/cluster.h"
#include "reconciler/gather/gather.h"
#include "reconciler/node/node_pool.h"
#include "reconciler/planning/plan_maker.h"
#include "reconciler/transport/ssh/dial.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace reconciler::cli {

// What every command shares. Results go to stdout, everything else to stderr.
struct Context {
  int exit_code = 0;  // set by the command that ran
  // The code says what became of nodes that were changed. Where it is not 0, output that is lost
  // changes nothing about it.
  bool judges_nodes = false;
  bool no_colour = false;
  bool prompt_sudo_password = false;
  std::size_t at_once = 0;  // nodes, see ForEachNode
  Dial dial = DialNode;     // how nodes are reached

  bool ColourOnStdout() const;
  bool ColourOnStderr() const;
  std::size_t ColumnsOnStdout() const;  // 0: no terminal, so that no line is wrapped
  std::size_t ColumnsOnStderr() const;  // the same
};

// The options that select what a command works on.
struct Selection {
  std::string manifest = "cluster.yaml";
  PlanScope scope = {};
};

// An option, or an argument, that is the path of a file; an empty one is refused. It would pass for
// one that is not given.
CLI::Option* AddPath(CLI::App& command, const std::string& name, std::string& path,
                     const std::string& text);

CLI::Option* AddManifest(CLI::App& command, Selection& selection);
// --node and --exclude: names, or patterns such as 'spark-[1-4]'.
CLI::Option* AddNodes(CLI::App& command, Selection& selection);
// The same, and --only.
void AddScope(CLI::App& command, Selection& selection);

constexpr std::size_t kMostManifest = 1u << 20;  // bytes, as many as the reader of YAML takes

// A manifest's bytes. Where the file of the default name is missing, the hint says how to get one.
Result<std::string> ReadManifest(const std::string& path, std::size_t most = kMostManifest);

// Prints the problems, those of the selection too, and yields nothing when there are any.
std::optional<Cluster> OpenCluster(const Selection& selection);
// The same for a manifest that was read already, or is no file; `name` stands for one in what is
// printed.
std::optional<Cluster> LoadCluster(const std::string& text, const std::string& name,
                                   const PlanScope& scope);

// Facts of the selected nodes with a line of progress; failures are reported on stderr.
ClusterFacts GatherWithProgress(const Cluster& cluster, const Selection& selection, NodePool& pool,
                                Purpose purpose, const Trials& trials = {});

// The same without a line of progress and without messages on failures. `on_node` is called for
// each node that was read, or could not be.
ClusterFacts GatherQuietly(const Cluster& cluster, const Selection& selection, NodePool& pool,
                           Purpose purpose, const Trials& trials,
                           const std::function<void(const NodeName&)>& on_node = {});

// Of a manifest that was made of `source`, such as "the given addresses", and lies in no file.
std::optional<Cluster> LoadGenerated(const std::string& text, const std::string& source);

int PrintError(const Error& error, int exit_code);  // prints and returns the code
int PrintError(const Error& error);  // returns 3 where it is that nodes cannot be read, else 1

// One function per command: adds it to the program.
void AddValidate(CLI::App& app, Context& context);
void AddPlan(CLI::App& app, Context& context);
void AddDrift(CLI::App& app, Context& context);
void AddApply(CLI::App& app, Context& context);
void AddRollback(CLI::App& app, Context& context);
void AddUninstall(CLI::App& app, Context& context);
void AddVerify(CLI::App& app, Context& context);
void AddReport(CLI::App& app, Context& context);
void AddStatus(CLI::App& app, Context& context);
void AddHistory(CLI::App& app, Context& context);
void AddGraph(CLI::App& app, Context& context);
void AddHostfile(CLI::App& app, Context& context);
void AddLock(CLI::App& app, Context& context);
void AddCabling(CLI::App& app, Context& context);
void AddDrill(CLI::App& app, Context& context);
void AddExplain(CLI::App& app, Context& context);
void AddEnv(CLI::App& app, Context& context);
void AddDiscover(CLI::App& app, Context& context);
void AddInit(CLI::App& app, Context& context);
void AddAddNode(CLI::App& app, Context& context);
void AddRemoveNode(CLI::App& app, Context& context);
void AddTrust(CLI::App& app, Context& context);
void AddAccess(CLI::App& app, Context& context);
// A command of `access`, whose manifest counts where it has none of its own.
CLI::App* AddSudoers(CLI::App& access, const CLI::Option& manifest, Context& context);
void AddSchema(CLI::App& app, Context& context);
void AddCompletion(CLI::App& app, Context& context);
void AddHelp(CLI::App& app, Context& context);
void AddMan(CLI::App& app, Context& context);
void AddVersion(CLI::App& app, Context& context);

}  // namespace reconciler::cli
