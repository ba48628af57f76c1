#include "plugins/ssh/foreign_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "plugins/ssh/blocks.h"
#include "plugins/ssh/config_line.h"
#include "reconciler/base/mark.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::ssh {
namespace {

constexpr const char* kRemove = "remove that line, or give it our value";
constexpr const char* kRemoveOrSetPort =
    "remove that line; where sshd has that port, write it into access.port";

struct NumberedLine {
  int number = 0;         // from 1
  bool is_above = false;  // read before our block
  std::vector<std::string> words = {};
};

struct BlockLines {
  std::size_t first = 0;  // from 0
  std::size_t count = 0;  // 0: there is no block
  bool Has(std::size_t line) const { return line >= first && line - first < count; }
};

BlockLines FindBlockLines(const std::string& content, const std::string& cluster) {
  const std::size_t others = SplitLines(SetBlock(content, cluster, kTopic, "")).size();
  return {.first = SplitLines(ReadAboveBlock(content, cluster, kTopic)).size(),
          .count = SplitLines(content).size() - others};
}

std::vector<NumberedLine> ListOtherLines(const ConfigFile& config) {
  const BlockLines ours = FindBlockLines(config.content, config.cluster);
  std::vector<BlockLines> former;
  for (const std::string& cluster : config.former_clusters) {
    former.push_back(FindBlockLines(config.content, cluster));
  }
  const std::vector<std::string> all = SplitLines(config.content);
  std::vector<NumberedLine> lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto has_it = [i](const BlockLines& block) { return block.Has(i); };
    if (ours.Has(i) || std::any_of(former.begin(), former.end(), has_it)) continue;
    const bool is_above = ours.count > 0 && i < ours.first;  // a new block goes to the top
    lines.push_back({.number = static_cast<int>(i + 1),
                     .is_above = is_above,
                     .words = SplitConfigLine(all[i])});
  }
  return lines;
}

bool IsOwnAddress(const Peer& peer, const std::string& address) {
  if (address == peer.address || address == peer.host_name) return true;
  for (const RailPort& rail : peer.rails) {
    if (ToString(rail.address.address) == address) return true;
  }
  return false;
}

// What our lines have instead of that value; empty: the same, or it cannot be compared.
std::string FindOurs(const Peer& peer, const std::string& keyword, const std::string& value) {
  if (keyword == "user") return value == peer.user ? "" : "User " + peer.user;
  if (keyword == "port") {
    const std::string port = fmt::format("{}", peer.port == 0 ? 22 : peer.port);
    return value == port ? "" : "Port " + port;
  }
  // Another name may lead to the same node.
  const bool differs = keyword == "hostname" && ParseIpv4(value) && !IsOwnAddress(peer, value);
  if (!differs) return {};
  return "HostName " + (peer.host_name.empty() ? peer.address : peer.host_name);
}

// Our block has no port where it is 22.
bool WinsOverOurs(const NumberedLine& line, const Peer& peer) {
  const bool without_port = peer.port == 0 || peer.port == 22;
  return line.is_above || (line.words[0] == "port" && without_port);
}

Diagnostic MakeForeignLine(const ConfigFile& config, const NumberedLine& line,
                           const std::string& name, const Peer& peer, const std::string& ours) {
  static const std::map<std::string, std::string> kWritten = {
      {"user", "User"}, {"port", "Port"}, {"hostname", "HostName"}};
  const std::string place = fmt::format("{}:{}", config.path, line.number);
  const std::string theirs =
      fmt::format("{} {}", kWritten.at(line.words[0]), MakePrintable(line.words[1]));
  const bool wins = WinsOverOurs(line, peer);
  return {.severity = wins ? Severity::kWarns : Severity::kInforms,
          .code = "ssh-foreign-host",
          .message = fmt::format("{} has {} for {}, and {}: {}", place, theirs, name,
                                 wins ? "wins over ours" : "our lines are read first", ours),
          .next_step = line.words[0] == "port" ? kRemoveOrSetPort : kRemove,
          .subject = place};
}

}  // namespace

std::vector<Diagnostic> DiagnoseForeignLines(const ConfigFile& config,
                                             const std::vector<Peer>& peers,
                                             const SourceMark& where) {
  std::map<std::string, const Peer*> by_name;
  for (const Peer& peer : peers) {
    for (const std::string& name : ListHostNames(peer)) by_name.emplace(name, &peer);
  }
  std::vector<Diagnostic> found;
  std::vector<std::string> section;  // names of peers
  std::set<std::string> seen;        // of one keyword for one name the first counts
  for (const NumberedLine& line : ListOtherLines(config)) {
    if (line.words.size() < 2) continue;
    const std::string& keyword = line.words[0];
    if (keyword == "host" || keyword == "match") {
      section.clear();
      for (std::size_t i = 1; keyword == "host" && i < line.words.size(); ++i) {
        if (by_name.contains(line.words[i])) section.push_back(line.words[i]);
      }
      continue;
    }
    for (const std::string& name : section) {
      const Peer& peer = *by_name.at(name);
      if (!seen.insert(keyword + ' ' + name).second) continue;
      const std::string ours = FindOurs(peer, keyword, line.words[1]);
      if (ours.empty()) continue;
      found.push_back(MakeForeignLine(config, line, name, peer, ours));
      found.back().where = where;
      break;  // one line, one warning
    }
  }
  return found;
}

}  // namespace reconciler::plugins::ssh
