#include "plugins/netplan/reads/boot_services.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "plugins/common/commands/failure.h"
#include "plugins/common/commands/in_place.h"
#include "plugins/netplan/reads/boot_services.sh.h"
#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr const char* kBootServices = "netplan.boot_services";
// A pattern of awk: bytes that programs hold, and no text.
constexpr std::string_view kBinary = "[\001-\006]";
constexpr std::size_t kLongestWord = 255;

// By path. Without a digest: it is too large.
using Files = std::map<std::string, BootFile>;

struct Found {
  std::map<std::string, BootService> services = {};
  std::map<std::string, std::vector<std::string>> parts = {};  // paths by service
  Files files = {};
  std::map<std::string, std::map<std::string, int>> lines = {};  // by path and interface
  std::set<std::string> hooks = {};                              // paths
  std::map<std::string, std::vector<std::string>> runs = {};     // other programs, by path
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

// nullptr: there is none, and no template of it.
BootService* FindService(const std::string& name, Found& found) {
  const auto service = found.services.find(name);
  if (service != found.services.end()) return &service->second;
  const auto made_of = found.services.find(NameTemplate(name));
  if (made_of == found.services.end()) return nullptr;
  BootService instance{.name = name, .linked = made_of->second.linked};
  return &found.services.emplace(name, std::move(instance)).first->second;
}

void ReadServiceLine(const std::vector<std::string>& words, Found& found) {
  if (!IsUnitName(words[1])) return;
  if (words[0] == "service" && words[1].ends_with(".service")) {
    found.services[words[1]] = {.name = words[1], .linked = words[2] == "link"};
    return;
  }
  if (words[0] == "part" && IsPlainPath(words[2])) found.parts[words[1]].push_back(words[2]);
  if (!IsUnitName(words[2])) return;
  BootService* service = FindService(words[1], found);
  if (service == nullptr) return;
  if (words[0] == "wanted") AddSorted(words[2], service->wanted_by);
  if (words[0] == "install") AddSorted(words[2], service->installs);
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
  } else if (words.size() == 4 && words[0] == "names") {
    AddSorted(words[2], found.files[words[1]].netdevs);
    found.lines[words[1]][words[2]] = ParseNumber<int>(words[3]).value_or(0);
  } else if (words.size() == 2 && words[0] == "hook" && IsPlainPath(words[1])) {
    found.hooks.insert(words[1]);
  } else if (words.size() == 3 && words[0] == "runs") {
    AddSorted(words[2], found.runs[words[1]]);
  } else if (words.size() == 3) {
    ReadServiceLine(words, found);
  }
}

// The unit, then the others by their paths. `names`: whether they count where none of them names an
// interface.
std::vector<BootFile> CollectFiles(const std::vector<std::string>& paths, const Files& files,
                                   bool names) {
  std::vector<BootFile> collected;
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

// An instance has what its template has, and drop-ins of its own.
void AddTemplate(Found& found, BootService& service, std::vector<std::string>& paths) {
  const auto made_of = found.services.find(NameTemplate(service.name));
  if (made_of == found.services.end()) return;
  for (const std::string& folder : made_of->second.installs) AddSorted(folder, service.installs);
  const std::vector<std::string>& parts = found.parts[made_of->first];
  paths.insert(paths.begin(), parts.begin(), parts.end());
}

BootService Complete(const std::string& name, Found& found) {
  BootService service = found.services.at(name);
  std::vector<std::string> paths = found.parts[name];
  const bool is_template = name.ends_with("@.service");
  const bool has_unit = !paths.empty() && GetBasename(paths.front()) == name;
  if (!has_unit) AddTemplate(found, service, paths);
  service.files =
      CollectFiles(paths, found.files, is_template || !NameTemplate(service.name).empty());
  return service;
}

std::vector<BootHook> CollectHooks(const Found& found) {
  std::vector<BootHook> hooks;
  for (const std::string& path : found.hooks) {
    const auto file = found.files.find(path);
    const auto lines = found.lines.find(path);
    if (file == found.files.end() || lines == found.lines.end()) continue;
    if (file->second.configures) hooks.push_back({.path = path, .lines = lines->second});
  }
  return hooks;
}

}  // namespace

std::string NameTemplate(const std::string& service) {
  constexpr std::string_view kEnd = ".service";
  const std::size_t at = service.find('@');
  const bool is_instance =
      at != std::string::npos && service.ends_with(kEnd) && at + 1 + kEnd.size() < service.size();
  return is_instance ? service.substr(0, at + 1) + std::string(kEnd) : std::string();
}

RunProbe MakeBootServicesProbe(const std::map<std::string, std::string>& netdevs) {
  RunProbe probe =
      MakeInPlaceProbe(kBootServices, kBootServicesSh,
                       {"/etc/systemd/system", "/sys/class/net", std::string(kBinary), "/etc"});
  for (const auto& [netdev, pci] : netdevs) {
    probe.argv.push_back(netdev);
    if (!pci.empty()) probe.argv.push_back(netdev + "=" + ToLower(pci));
  }
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
  for (auto& [path, programs] : found.runs) {
    const auto file = found.files.find(path);
    if (file != found.files.end()) file->second.also_runs = std::move(programs);
  }
  std::vector<BootService> services;
  for (const auto& [name, service] : found.services) services.push_back(Complete(name, found));
  facts.network.boot_services = std::move(services);
  facts.network.boot_hooks = CollectHooks(found);
}

}  // namespace reconciler::plugins::netplan
