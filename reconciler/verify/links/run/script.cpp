#include "reconciler/verify/links/run/script.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "reconciler/base/shell_values.h"
#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"
#include "reconciler/verify/links/run/links.sh.h"

namespace reconciler {
namespace {

constexpr std::size_t kPingLanes = 16;
// sshd begins to drop connections at ten that have not logged in yet (MaxStartups).
constexpr std::size_t kSshLanes = 4;
constexpr int kHeaders = 28;      // bytes: IPv4 without options, ICMP
constexpr int kIpv6Headers = 48;  // the same of IPv6
constexpr int kPingLimitS = 4;
constexpr int kSshLimitS = 12;
constexpr int kNamesLimitS = 5;
constexpr int kKillAfterS = 2;  // more, for a program that ignores the end of its limit
constexpr int kSlackS = 15;     // login shell, process starts on a busy machine

// Bad frames, frames dropped at the port, lost links: zero growth is healthy for each. Not those
// that grow on a good cable, such as what FEC corrects (rx_corrected_bits_phy). mlx5 counts them
// per cage.
constexpr std::string_view kCounters =
    "rx_crc_errors_phy\\|rx_symbol_err_phy\\|rx_discards_phy\\|link_down_events_phy";

// Lanes run side by side, the probes of one lane one after the other.
std::string RunInLanes(const std::vector<std::string>& lines, std::size_t first,
                       std::size_t lanes) {
  std::string text;
  for (std::size_t lane = 0; lane < std::min(lanes, lines.size()); ++lane) {
    text += "{\n";
    for (std::size_t i = lane; i < lines.size(); i += lanes) {
      text += lines[(first + i) % lines.size()];
    }
    text += "} </dev/null &\n";
  }
  return text + "wait\n";
}

// Each sender's port once, every one after a blank.
std::string ListNetdevs(const NodeProbes& probes) {
  std::set<std::string> netdevs;
  for (const PingProbe& ping : probes.pings) netdevs.insert(ping.netdev);
  std::string text;
  for (const std::string& netdev : netdevs) text += " " + QuoteForShell(netdev);
  return text;
}

// One call for all names: "probe_names spark-2-rail0 192.168.177.2 …".
std::string CallForNames(const NodeProbes& probes) {
  if (probes.names.empty()) return {};
  std::string text = "probe_names";
  for (const NameProbe& name : probes.names) {
    text += ' ' + QuoteForShell(name.name) + ' ' + QuoteForShell(name.address);
  }
  return text + '\n';
}

int CountHeaders(const PingProbe& ping) {
  return ping.address.find(':') == std::string::npos ? kHeaders : kIpv6Headers;
}

int ComputeRounds(std::size_t probes, std::size_t lanes) {
  return static_cast<int>((probes + lanes - 1) / lanes);
}

}  // namespace

std::string BuildVerifyScript(const NodeProbes& probes, std::string_view nonce) {
  std::vector<std::string> pings;
  for (std::size_t i = 0; i < probes.pings.size(); ++i) {
    const PingProbe& ping = probes.pings[i];
    pings.push_back(fmt::format("probe_ping {} {} {} {}\n", i, QuoteForShell(ping.netdev),
                                QuoteForShell(ping.address), ping.mtu - CountHeaders(ping)));
  }
  std::vector<std::string> logins;
  for (std::size_t i = 0; i < probes.logins.size(); ++i) {
    logins.push_back(fmt::format("probe_ssh {} {}\n", i, QuoteForShell(probes.logins[i].host)));
  }
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < probes.paths.size(); ++i) {
    const PathProbe& path = probes.paths[i];
    paths.push_back(
        fmt::format("probe_path {} {} {}\n", i, QuoteForShell(path.address), path.mtu - kHeaders));
  }
  const std::string netdevs = ListNetdevs(probes);
  const auto count_errors = [&netdevs](std::string_view when) {
    return netdevs.empty() ? "" : fmt::format("count_errors errors.{}{}\n", when, netdevs);
  };
  const std::string functions = BuildScriptPreamble(nonce) +
                                AssignForShell({{"LOGIN", probes.user},
                                                {"KILL_AFTER", std::to_string(kKillAfterS)},
                                                {"PING_LIMIT", std::to_string(kPingLimitS)},
                                                {"SSH_LIMIT", std::to_string(kSshLimitS)},
                                                {"NAMES_LIMIT", std::to_string(kNamesLimitS)},
                                                {"COUNTERS", kCounters}}) +
                                std::string(kLinksSh);
  const std::string lanes = RunInLanes(logins, probes.first_login, kSshLanes);
  return AssignForShell({{"FUNCTIONS", functions}}) + "eval \"$FUNCTIONS\"\n" +
         count_errors("before") + CallForNames(probes) +
         RunInLanes(pings, probes.first_ping, kPingLanes) +
         (pings.empty() ? "" : "list_neighbours\n") + RunInLanes(paths, 0, kPingLanes) +
         (logins.empty() ? ""
                         : fmt::format("log_in {} {}\n", logins.size(), QuoteForShell(lanes))) +
         count_errors("after") + "answer\n";
}

Milliseconds ComputeVerifyLimit(const NodeProbes& probes) {
  const int ping = 4 * (kPingLimitS + kKillAfterS) + 1;
  const int login = 2 * (kSshLimitS + kKillAfterS) + 1;
  const int naming = probes.names.empty() ? 0 : 3 * (kNamesLimitS + kKillAfterS);
  // Error counters twice, and the neighbours.
  const int counting = probes.pings.empty() ? 0 : 3 * (kPingLimitS + kKillAfterS);
  return std::chrono::seconds(kSlackS + counting + naming +
                              ComputeRounds(probes.pings.size(), kPingLanes) * ping +
                              ComputeRounds(probes.paths.size(), kPingLanes) * ping +
                              ComputeRounds(probes.logins.size(), kSshLanes) * login);
}

}  // namespace reconciler
