#include "plugins/netplan/reads/boot_services.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <tuple>

#include "plugins/common/commands/failure.h"
#include "plugins/netplan/reads/boot_services.sh.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr const char* kBootServices = "netplan.boot_services";
constexpr std::size_t kLongestWord = 255;

// By path. Without a digest: it is too large.
using Files = std::map<std::string, BootFile>;

struct Found {
  std::map<std::string, BootService> services = {};
  std::map<std::string, std::vector<std::string>> parts = {};  // paths by service
  Files files = {};
};

// As boot_services.sh prints them; whoever reads a plan may copy them into a command.
bool IsPlain(std::string_view word, std::string_view signs) {
  return !word.empty() && word.size() <= kLongestWord &&
         std::all_of(word.begin(), word.end(), [&](unsigned char c) {
           return std::isalnum(c) != 0 || signs.find(static_cast<char>(c)) != signs.npos;
         });
}

bool IsUnitName(std::string_view word) {
  return IsPlain(word, ":_.@-") && std::isalnum(static_cast<unsigned char>(word.front())) != 0;
}

bool IsPlainPath(std::string_view word) {
  return word.starts_with('/') && IsPlain(word, "/:_.@+-");
}

void AddSorted(std::string word, std::vector<std::string>& words) {
  const auto place = std::lower_bound(words.begin(), words.end(), word);
  if (place == words.end() || *place != word) words.insert(place, std::move(word));
}

void ReadServiceLine(const std::vector<std::string>& words, Found& found) {
  if (!IsUnitName(words[1])) return;
  if (words[0] == "service" && words[1].ends_with(".service")) {
    found.services[words[1]] = {.name = words[1], .linked = words[2] == "link"};
    return;
  }
  const auto service = found.services.find(words[1]);
  if (service == found.services.end()) return;
  if (words[0] == "part" && IsPlainPath(words[2])) found.parts[words[1]].push_back(words[2]);
  if (!IsUnitName(words[2])) return;
  if (words[0] == "wanted") AddSorted(words[2], service->second.wanted_by);
  if (words[0] == "install") AddSorted(words[2], service->second.installs);
}

// Units that would be stopped with it, whether a folder or their own text says so:
// "RequiredBy=a.target b.service".
void ReadRequiring(const std::string& line, BootService& service) {
  for (const std::string& unit : Split(line.substr(line.find('=') + 1), ' ')) {
    if (IsUnitName(unit)) AddSorted(unit + ".requires", service.wanted_by);
  }
}

bool IsRequiring(const std::string& line) {
  return line.starts_with("RequiredBy=") || line.starts_with("RequisiteOf=") ||
         line.starts_with("BoundBy=") || line.starts_with("ConsistsOf=");
}

// See boot_services.sh.
void ReadLine(const std::string& line, std::string& shown, Found& found) {
  const std::vector<std::string> words = Split(MakePrintable(line), ' ');
  if (line.starts_with("Id=")) {
    shown = line.substr(3);
  } else if (IsRequiring(line)) {
    const auto service = found.services.find(shown);
    if (service != found.services.end()) ReadRequiring(line, service->second);
  } else if (line.starts_with("ActiveState=")) {
    const auto service = found.services.find(shown);
    if (service != found.services.end()) {
      service->second.active = MakePrintable(line.substr(line.find('=') + 1));
    }
  } else if (words.size() == 4 && words[0] == "digest") {
    found.files[words[3]].digest = words[1];
  } else if (words.size() == 2 && words[0] == "large") {
    found.files[words[1]].digest.clear();
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
    if (file == files.end()) continue;
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
