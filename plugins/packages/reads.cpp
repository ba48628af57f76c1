#include "plugins/packages/reads.h"

#include <fmt/format.h>

#include "plugins/common/commands/failure.h"
#include "plugins/packages/read_packages.sh.h"
#include "plugins/packages/read_tools.sh.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::packages {
namespace {

constexpr const char* kPackages = "packages.apt";
constexpr const char* kTools = "packages.tools";
constexpr const char* kAny = "-";
// apt reads its lists again for each package that does not hold. Below the limit of a whole read,
// 60 s unless access says otherwise, so that the rest of the node is known.
constexpr int kPackagesLimitS = 45;
constexpr int kToolsLimitS = 10;
constexpr std::string_view kToolNames[] = {"driver", "cuda", "docker", "container_toolkit"};

std::string TakeVersion(const std::string& word) { return word == kAny ? "" : MakePrintable(word); }

void AddStep(const std::vector<std::string>& words, PackageFact& package) {
  PackageStep step{
      .name = MakePrintable(words[2]), .from = TakeVersion(words[3]), .to = TakeVersion(words[4])};
  if (!package.steps) package.steps = std::vector<PackageStep>();
  if (auto* steps = std::get_if<std::vector<PackageStep>>(&*package.steps)) {
    steps->push_back(std::move(step));
  }
}

// See read_packages.sh.
void ReadPackageLine(const std::string& line, PackageFacts& facts) {
  const std::vector<std::string> words = Split(line, ' ');
  if (words.size() < 2) return;
  const std::string& what = words[0];
  if (what == "apt") {
    facts.apt = words[1] == "yes";
    return;
  }
  PackageFact& package = facts.packages[MakePrintable(words[1])];
  if (what == "package" && words.size() == 5) {
    package.held = words[2] == "hold";
    package.status = MakePrintable(words[3]);
    package.version = TakeVersion(words[4]);
  } else if (what == "available" && words.size() == 3) {
    package.available.push_back(MakePrintable(words[2]));
  } else if (what == "step" && words.size() == 5) {
    AddStep(words, package);
  } else if (what == "simulated" && !package.steps) {
    package.steps = std::vector<PackageStep>();
  } else if (what == "refused") {
    const std::size_t text = what.size() + words[1].size() + 2;
    package.steps = Unknown{MakePrintable(Trim(line.size() > text ? line.substr(text) : ""))};
  } else if (what == "unreachable" && words.size() == 3) {
    package.unreachable.push_back(MakePrintable(words[2]));
  }
}

}  // namespace

RunProbe MakePackagesProbe(const std::vector<PackageSpec>& packages) {
  RunProbe probe{.id = kPackages,
                 .argv = {"sh", "-c", std::string(kReadPackagesSh), "sh"},
                 .time_limit_s = kPackagesLimitS};
  for (const PackageSpec& package : packages) {
    probe.argv.push_back(package.name);
    probe.argv.push_back(package.at_least.empty() ? kAny : package.at_least);
  }
  return probe;
}

void StorePackages(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kPackages);
  if (found == reply.commands.end()) return;
  if (found->second.exit_code != 0) {  // the last package may be half read
    facts.packages.apt = ExplainFailure(found->second, "apt-get", kPackagesLimitS);
    return;
  }
  facts.packages.apt = Unknown{"nothing was read about apt"};
  for (const std::string& line : SplitLines(found->second.out)) {
    ReadPackageLine(line, facts.packages);
  }
}

RunProbe MakeToolsProbe() {
  return {
      .id = kTools, .argv = {"sh", "-c", std::string(kReadToolsSh)}, .time_limit_s = kToolsLimitS};
}

void StoreTools(const ProbeReply& reply, NodeFacts& facts) {
  const auto found = reply.commands.find(kTools);
  if (found == reply.commands.end()) return;
  std::map<std::string, Observed<std::string>>& tools = facts.packages.tools;
  for (const std::string_view tool : kToolNames) {
    Observed<std::string>& version = tools[std::string(tool)];
    version = Absent{};
    if (found->second.exit_code != 0) version = ExplainFailure(found->second, "sh", kToolsLimitS);
  }
  for (const std::string& line : SplitLines(found->second.out)) {
    const std::vector<std::string> words = Split(line, ' ');
    const auto tool = words.size() == 2 ? tools.find(words[0]) : tools.end();
    if (tool == tools.end()) continue;
    tool->second = words[1] == "?" ? Observed<std::string>(Unknown{"it does not say its version"})
                                   : MakePrintable(words[1]);
  }
}

}  // namespace reconciler::plugins::packages
