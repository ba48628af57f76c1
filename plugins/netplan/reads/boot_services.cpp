#include "plugins/netplan/reads/boot_services.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "plugins/common/commands/failure.h"
#include "plugins/netplan/reads/boot_services.sh.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr const char* kBootServices = "netplan.boot_services";

// By path. What has a digest could be read whole.
using Files = std::map<std::string, BootFile>;

struct Found {
  std::map<std::string, BootService> services = {};
  std::map<std::string, std::vector<std::string>> parts = {};  // paths by service
  Files files = {};
};

void AddSorted(std::string word, std::vector<std::string>& words) {
  const auto place = std::lower_bound(words.begin(), words.end(), word);
  if (place == words.end() || *place != word) words.insert(place, std::move(word));
}

void ReadServiceLine(const std::vector<std::string>& words, Found& found) {
  if (words[0] == "service") {
    found.services[words[1]] = {.name = words[1], .linked = words[2] == "link"};
    return;
  }
  const auto service = found.services.find(words[1]);
  if (service == found.services.end()) return;
  if (words[0] == "wanted") AddSorted(words[2], service->second.wanted_by);
  if (words[0] == "install") AddSorted(words[2], service->second.installs);
  if (words[0] == "part") found.parts[words[1]].push_back(words[2]);
}

// See boot_services.sh.
void ReadLine(const std::string& line, std::string& shown, Found& found) {
  const std::vector<std::string> words = Split(MakePrintable(line), ' ');
  if (line.starts_with("Id=")) {
    shown = line.substr(3);
  } else if (line.starts_with("ActiveState=")) {
    const auto service = found.services.find(shown);
    if (service != found.services.end()) {
      service->second.active = MakePrintable(line.substr(line.find('=') + 1));
    }
  } else if (words.size() == 4 && words[0] == "digest") {
    found.files[words[3]].digest = words[1];
  } else if (words.size() == 2 && words[0] == "sets") {
    found.files[words[1]].configures = true;
  } else if (words.size() == 3 && words[0] == "names") {
    AddSorted(words[2], found.files[words[1]].netdevs);
  } else if (words.size() == 3) {
    ReadServiceLine(words, found);
  }
}

// The unit, then the others by their paths; none where no file names an interface.
std::vector<BootFile> CollectFiles(const std::vector<std::string>& paths, const Files& files) {
  std::vector<BootFile> collected;
  bool names = false;
  for (const std::string& path : paths) {
    const auto file = files.find(path);
    if (file == files.end() || file->second.digest.empty()) continue;
    collected.push_back(file->second);
    collected.back().path = path;
    names |= !file->second.netdevs.empty();
  }
  if (!names) return {};
  std::sort(collected.begin(), collected.end(), [&](const BootFile& a, const BootFile& b) {
    return std::tuple(a.path != paths.front(), a.path) <
           std::tuple(b.path != paths.front(), b.path);
  });
  return collected;
}

}  // namespace

RunProbe MakeBootServicesProbe(const std::vector<std::string>& netdevs) {
  RunProbe probe{.id = kBootServices,
                 .argv = {"sh", "-c", std::string(kBootServicesSh), "sh", "/etc/systemd/system",
                          "/sys/class/net"}};
  probe.argv.insert(probe.argv.end(), netdevs.begin(), netdevs.end());
  return probe;
}

void StoreBootServices(const ProbeReply& reply, NodeFacts& facts) {
  const auto answer = reply.commands.find(kBootServices);
  if (answer == reply.commands.end()) return;
  if (answer->second.exit_code != 0) {
    facts.network.boot_services = ExplainFailure(answer->second, "systemctl show");
    return;
  }
  Found found;
  std::string shown;
  for (const std::string& line : SplitLines(answer->second.out)) ReadLine(line, shown, found);
  std::vector<BootService> services;
  for (auto& [name, service] : found.services) {
    service.files = CollectFiles(found.parts[name], found.files);
    services.push_back(std::move(service));
  }
  facts.network.boot_services = std::move(services);
}

}  // namespace reconciler::plugins::netplan
