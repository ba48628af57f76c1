#include "reconciler/verify/links/run/script.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "reconciler/base/text.h"
#include "reconciler/node/frames.h"

namespace reconciler {
namespace {

constexpr std::size_t kPingLanes = 16;
// sshd begins to drop connections at ten that have not logged in yet (MaxStartups).
constexpr std::size_t kSshLanes = 4;
constexpr int kPingLimitS = 4;
constexpr int kSshLimitS = 12;
constexpr int kKillAfterS = 2;  // more, for a program that ignores the end of its limit
constexpr int kSlackS = 15;     // login shell, process starts on a busy machine

// Background jobs write to files, so that answers do not interleave. The first ping is small: it
// makes the neighbour entries on both sides, so that a jumbo packet that is lost counts. A loss is
// measured again, longer: a busy node loses answers in its own socket buffers while all pings run.
// Logins use the node's own keys alone and leave known_hosts as it is.
constexpr std::string_view kFunctions = R"sh(cd / || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' HUP INT TERM
run() {
  label=$1; shift; rc=0
  "$@" >"$work/$label.out" 2>"$work/$label.err" </dev/null || rc=$?
  echo "$rc" >"$work/$label.rc"
}
count_errors() { # LABEL IFACE…
  label=$1; shift
  run "$label" timeout -k @KILL@ @PING@ sh -c '
    for port do
      read -r count <"/sys/class/net/$port/carrier_down_count" && echo "$port carrier_down_count $count"
      ethtool -S "$port" | sed -n "s/^ *\(@COUNTERS@\): */\1 /p" |
        while read -r name count; do echo "$port $name $count"; done
    done 2>/dev/null' sh "$@"
}
probe_ping() {
  run "small.$1" timeout -k @KILL@ @PING@ ping -n -c 2 -i 0.2 -W 1 -I "$2" "$3"
  [ "$rc" = 0 ] || return 0
  run "jumbo.$1" timeout -k @KILL@ @PING@ ping -n -M do -s "$4" -c 2 -i 0.2 -W 1 -I "$2" "$3"
  [ "$rc" = 0 ] && ! grep -q ' 0% packet loss' "$work/jumbo.$1.out" || return 0
  sleep 1
  run "jumbo.$1" timeout -k @KILL@ @PING@ ping -n -M do -s "$4" -c 10 -i 0.2 -W 1 -I "$2" "$3"
}
if [ "$(id -un)" = "$user" ]; then as_user() { "$@"; }; else as_user() { runuser -u "$user" -- "$@"; }; fi
login() {
  as_user timeout -k @KILL@ @SSH@ ssh -n -T -x -a -o BatchMode=yes -o ConnectTimeout=5 \
    -o StrictHostKeyChecking=yes -o UpdateHostKeys=no -o ControlMaster=no -o ControlPath=none \
    -o IdentityAgent=none -o LogLevel=ERROR -- "$1" true
}
probe_ssh() {
  run "ssh.$1" login "$2"
  if [ "$rc" = 255 ] && grep -q kex_exchange_identification "$work/ssh.$1.err"; then
    sleep 1
    run "ssh.$1" login "$2"
  fi
}
)sh";

// Bad frames, frames dropped at the port, lost links: zero growth is healthy for each. Not those
// that grow on a good cable, such as what FEC corrects (rx_corrected_bits_phy). mlx5 counts them
// per cage.
constexpr std::string_view kCounters =
    "rx_crc_errors_phy\\|rx_symbol_err_phy\\|rx_discards_phy\\|link_down_events_phy";

constexpr std::string_view kAnswer = R"sh(for file in "$work"/*.rc; do
  [ -e "$file" ] || continue
  label=${file##*/}; label=${label%.rc}
  frame "$label"
  cat "$file" "$work/$label.out"
  cat "$work/$label.err" >&2
done
)sh";

std::string Replace(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
  }
  return text;
}

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

int ComputeRounds(std::size_t probes, std::size_t lanes) {
  return static_cast<int>((probes + lanes - 1) / lanes);
}

}  // namespace

std::string BuildVerifyScript(const NodeProbes& probes, std::string_view nonce) {
  std::string functions = Replace(std::string(kFunctions), "@KILL@", std::to_string(kKillAfterS));
  functions = Replace(std::move(functions), "@PING@", std::to_string(kPingLimitS));
  functions = Replace(std::move(functions), "@SSH@", std::to_string(kSshLimitS));
  functions = Replace(std::move(functions), "@COUNTERS@", kCounters);

  std::vector<std::string> pings;
  for (std::size_t i = 0; i < probes.pings.size(); ++i) {
    const PingProbe& ping = probes.pings[i];
    constexpr int kHeaders = 28;  // bytes: IPv4 without options, ICMP
    pings.push_back(fmt::format("probe_ping {} {} {} {}\n", i, QuoteForShell(ping.netdev),
                                QuoteForShell(ping.address), ping.mtu - kHeaders));
  }
  std::vector<std::string> logins;
  for (std::size_t i = 0; i < probes.logins.size(); ++i) {
    logins.push_back(fmt::format("probe_ssh {} {}\n", i, QuoteForShell(probes.logins[i].host)));
  }
  const std::string netdevs = ListNetdevs(probes);
  const auto count_errors = [&netdevs](std::string_view when) {
    return netdevs.empty() ? "" : fmt::format("count_errors errors.{}{}\n", when, netdevs);
  };
  return BuildScriptPreamble(nonce) +
         fmt::format("user={}\n",
                     probes.user.empty() ? "${SUDO_USER:-$(id -un)}" : QuoteForShell(probes.user)) +
         functions + count_errors("before") + RunInLanes(pings, probes.first_ping, kPingLanes) +
         RunInLanes(logins, probes.first_login, kSshLanes) + count_errors("after") +
         std::string(kAnswer);
}

Milliseconds ComputeVerifyLimit(const NodeProbes& probes) {
  const int ping = 3 * (kPingLimitS + kKillAfterS) + 1;
  const int login = 2 * (kSshLimitS + kKillAfterS) + 1;
  const int counting = probes.pings.empty() ? 0 : 2 * (kPingLimitS + kKillAfterS);
  return std::chrono::seconds(kSlackS + counting +
                              ComputeRounds(probes.pings.size(), kPingLanes) * ping +
                              ComputeRounds(probes.logins.size(), kSshLanes) * login);
}

}  // namespace reconciler
