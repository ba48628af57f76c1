#include "plugins/sysctl/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "reconciler/base/number.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::sysctl {
namespace {

constexpr std::int64_t kInt = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kLong = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kPort = 65535;
constexpr int kWord = 0;

struct Rule {
  std::string_view key = {};  // `*` is one interface, or all, or default
  int count = 1;              // of whole numbers; kWord: one word
  std::int64_t least = 0;
  std::int64_t most = kInt;
  bool rising = false;            // no number is less than the one before
  std::string_view meaning = {};  // of several numbers
  std::string_view example = {};  // a value; without one, GetExample finds a number
  bool power_of_two = false;      // or 0; the kernel rounds another number up
};

constexpr std::string_view kBuffer = "268435456";
constexpr std::string_view kBytes = "least, default and most bytes";
constexpr std::string_view kPages = "low, pressure and high, in pages";

// Keys, ranges and meanings are those of the kernel's documentation: Documentation/admin-guide/
// sysctl/{fs,kernel,net,vm}.rst, Documentation/networking/ip-sysctl.rst, and for yama
// Documentation/admin-guide/LSM/Yama.rst. Where it gives no range, the one of the kernel's type
// (int or long) stands here. The least socket buffers depend on the architecture; these are below
// all.
constexpr Rule kRules[] = {
    {"fs.aio-max-nr", 1, 0, kLong},
    {"fs.file-max", 1, 0, kLong},
    {"fs.inotify.max_queued_events"},
    {"fs.inotify.max_user_instances"},
    {"fs.inotify.max_user_watches"},
    {"fs.nr_open", 1, 8},
    {.key = "fs.pipe-max-size", .least = 4096, .power_of_two = true},
    {"fs.protected_hardlinks", 1, 0, 1},
    {"fs.protected_symlinks", 1, 0, 1},
    {"fs.suid_dumpable", 1, 0, 2},
    {"kernel.core_uses_pid", 1, 0, 1},
    {"kernel.dmesg_restrict", 1, 0, 1},
    {"kernel.hung_task_panic", 1, 0, 1},
    {"kernel.hung_task_timeout_secs", 1, 0, kLong},
    {"kernel.io_uring_disabled", 1, 0, 2},
    {"kernel.kptr_restrict", 1, 0, 2},
    {"kernel.msgmax"},
    {"kernel.msgmnb"},
    {"kernel.nmi_watchdog", 1, 0, 1},
    {"kernel.numa_balancing", 1, 0, 3},
    {"kernel.panic", 1, -kInt},
    {"kernel.panic_on_oops", 1, 0, 1},
    {"kernel.perf_event_paranoid", 1, -1, 4},
    {"kernel.pid_max", 1, 301, 4194304},
    {"kernel.printk", 4, 0, kInt, false, "console, default, least and default console log level",
     "4 4 1 7"},
    {"kernel.randomize_va_space", 1, 0, 2},
    {"kernel.sem", 4, 0, kInt, false, "SEMMSL, SEMMNS, SEMOPM and SEMMNI",
     "32000 1024000000 500 32000"},
    {"kernel.shmall", 1, 0, kLong},
    {"kernel.shmmax", 1, 0, kLong},
    {"kernel.shmmni", 1, 0, 32768},
    {"kernel.softlockup_panic", 1, 0, 1},
    {"kernel.sysrq", 1, 0, 511},
    {"kernel.threads-max", 1, 1},
    {"kernel.unprivileged_bpf_disabled", 1, 0, 2},
    {"kernel.watchdog_thresh", 1, 0, 60},
    {"kernel.yama.ptrace_scope", 1, 0, 3},
    {"net.core.bpf_jit_enable", 1, 0, 2},
    {"net.core.busy_poll"},
    {"net.core.busy_read"},
    {"net.core.default_qdisc", kWord, 0, 0, false, "", "fq"},
    {"net.core.netdev_budget"},
    {"net.core.netdev_budget_usecs"},
    {"net.core.netdev_max_backlog"},
    {"net.core.optmem_max"},
    {"net.core.rmem_default", 1, 2048},
    {"net.core.rmem_max", 1, 2048, kInt, false, "", kBuffer},
    {.key = "net.core.rps_sock_flow_entries", .most = std::int64_t{1} << 29, .power_of_two = true},
    {"net.core.somaxconn"},
    {"net.core.wmem_default", 1, 4096},
    {"net.core.wmem_max", 1, 4096, kInt, false, "", kBuffer},
    {"net.ipv4.conf.*.accept_local", 1, 0, 1},
    {"net.ipv4.conf.*.accept_redirects", 1, 0, 1},
    {"net.ipv4.conf.*.accept_source_route", 1, 0, 1},
    {"net.ipv4.conf.*.arp_accept", 1, 0, 2},
    {"net.ipv4.conf.*.arp_announce", 1, 0, 2},
    {"net.ipv4.conf.*.arp_filter", 1, 0, 1},
    {"net.ipv4.conf.*.arp_ignore", 1, 0, 8},
    {"net.ipv4.conf.*.arp_notify", 1, 0, 1},
    {"net.ipv4.conf.*.forwarding", 1, 0, 1},
    {"net.ipv4.conf.*.log_martians", 1, 0, 1},
    {"net.ipv4.conf.*.promote_secondaries", 1, 0, 1},
    {"net.ipv4.conf.*.proxy_arp", 1, 0, 1},
    {"net.ipv4.conf.*.rp_filter", 1, 0, 2},
    {"net.ipv4.conf.*.secure_redirects", 1, 0, 1},
    {"net.ipv4.conf.*.send_redirects", 1, 0, 1},
    {"net.ipv4.icmp_echo_ignore_all", 1, 0, 1},
    {"net.ipv4.icmp_echo_ignore_broadcasts", 1, 0, 1},
    {"net.ipv4.ip_default_ttl", 1, 1, 255},
    {"net.ipv4.ip_forward", 1, 0, 1},
    {"net.ipv4.ip_local_port_range", 2, 1, kPort, true, "first and last port", "32768 60999"},
    {"net.ipv4.ip_unprivileged_port_start", 1, 0, kPort},
    {"net.ipv4.neigh.default.gc_thresh1"},
    {"net.ipv4.neigh.default.gc_thresh2"},
    {"net.ipv4.neigh.default.gc_thresh3"},
    {"net.ipv4.tcp_adv_win_scale", 1, -31, 31},
    {"net.ipv4.tcp_congestion_control", kWord, 0, 0, false, "", "bbr"},
    {"net.ipv4.tcp_fastopen"},
    {"net.ipv4.tcp_fin_timeout"},
    {"net.ipv4.tcp_keepalive_intvl", 1, 1},
    {"net.ipv4.tcp_keepalive_probes", 1, 1, 255},
    {"net.ipv4.tcp_keepalive_time", 1, 1},
    {"net.ipv4.tcp_max_syn_backlog"},
    {"net.ipv4.tcp_mem", 3, 0, kLong, true, kPages, "190785 254381 381570"},
    {"net.ipv4.tcp_moderate_rcvbuf", 1, 0, 1},
    {"net.ipv4.tcp_mtu_probing", 1, 0, 2},
    {"net.ipv4.tcp_no_metrics_save", 1, 0, 1},
    {"net.ipv4.tcp_rmem", 3, 1, kInt, true, kBytes, "4096 131072 268435456"},
    {"net.ipv4.tcp_sack", 1, 0, 1},
    {"net.ipv4.tcp_slow_start_after_idle", 1, 0, 1},
    {"net.ipv4.tcp_syncookies", 1, 0, 2},
    {"net.ipv4.tcp_timestamps", 1, 0, 2},
    {"net.ipv4.tcp_tw_reuse", 1, 0, 2},
    {"net.ipv4.tcp_window_scaling", 1, 0, 1},
    {"net.ipv4.tcp_wmem", 3, 1, kInt, true, kBytes, "4096 65536 268435456"},
    {"net.ipv4.udp_mem", 3, 0, kLong, true, kPages, "190785 254381 381570"},
    {"net.ipv4.udp_rmem_min", 1, 1},
    {"net.ipv4.udp_wmem_min", 1, 1},
    {"net.ipv6.conf.*.accept_ra", 1, 0, 2},
    {"net.ipv6.conf.*.accept_redirects", 1, 0, 1},
    {"net.ipv6.conf.*.addr_gen_mode", 1, 0, 3},
    {"net.ipv6.conf.*.autoconf", 1, 0, 1},
    {"net.ipv6.conf.*.disable_ipv6", 1, 0, 1},
    {"net.ipv6.conf.*.forwarding", 1, 0, 1},
    {"vm.compaction_proactiveness", 1, 0, 100},
    {"vm.dirty_background_bytes", 1, 1, kLong},
    {"vm.dirty_background_ratio", 1, 0, 100},
    {"vm.dirty_bytes", 1, 8192, kLong},
    {"vm.dirty_expire_centisecs"},
    {"vm.dirty_ratio", 1, 0, 100},
    {"vm.dirty_writeback_centisecs"},
    {"vm.max_map_count"},
    {"vm.min_free_kbytes"},
    {"vm.mmap_min_addr", 1, 0, kLong},
    {"vm.nr_hugepages", 1, 0, kLong},
    {"vm.overcommit_kbytes", 1, 0, kLong},
    {"vm.overcommit_memory", 1, 0, 2},
    {"vm.overcommit_ratio"},
    {"vm.panic_on_oom", 1, 0, 2},
    {"vm.swappiness", 1, 0, 200},
    {"vm.vfs_cache_pressure"},
    {"vm.watermark_scale_factor", 1, 1, 3000},
    {"vm.zone_reclaim_mode", 1, 0, 7},
};

// Real keys that differ in two letters or fewer from one of the table.
constexpr std::array<std::string_view, 4> kNearOnes = {
    "kernel.msgmni", "net.ipv4.tcp_dsack", "net.ipv4.tcp_fack", "net.ipv6.conf.*.accept_dad"};

bool Fits(std::string_view pattern, const std::vector<std::string>& parts) {
  const std::vector<std::string> wanted = Split(pattern, '.');
  return std::equal(wanted.begin(), wanted.end(), parts.begin(), parts.end(),
                    [](const std::string& a, const std::string& b) { return a == "*" || a == b; });
}

const Rule* FindRule(const std::string& key) {
  const std::vector<std::string> parts = Split(key, '.');
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const Rule& rule) { return Fits(rule.key, parts); });
  return found == std::end(kRules) ? nullptr : found;
}

std::string FormatWanted(const Rule& rule) {
  if (rule.count == kWord) return "one word";
  if (rule.count == 1 && rule.least == 0 && rule.most == 1) return "0 or 1";
  if (rule.power_of_two) {
    return fmt::format("{}a power of two from {} to {}", rule.least == 0 ? "0 or " : "",
                       std::max<std::int64_t>(rule.least, 1),
                       std::bit_floor(static_cast<std::uint64_t>(rule.most)));
  }
  return fmt::format(
      "{} from {} to {}",
      rule.count == 1 ? "a whole number" : fmt::format("{} whole numbers", rule.count), rule.least,
      rule.most);
}

// The kernel takes a leading zero for octal, and shows it in decimal.
std::optional<std::int64_t> ParseDecimal(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  return ParseNumber<std::int64_t>(text);
}

// "256M" as bytes; nullopt: it has no unit that is meant so.
std::optional<std::int64_t> ReadUnit(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  const auto number = ParseDecimal(text.substr(0, end));
  if (end == std::string_view::npos || !number || *number > kInt) return std::nullopt;
  std::string unit = ToLower(text.substr(end));
  while (!unit.empty() && (unit.back() == 'b' || unit.back() == 'i')) unit.pop_back();
  const std::size_t power = std::string_view("kmg").find(unit);
  if (unit.size() != 1 || power == std::string_view::npos) return std::nullopt;
  return *number << (10 * (power + 1));
}

// What the kernel makes of a number of the rule's key, or the most that the key takes.
std::int64_t RoundUp(const Rule& rule, std::int64_t number) {
  if (!rule.power_of_two || number <= 0) return number;
  const auto rounded = std::bit_ceil(static_cast<std::uint64_t>(number));
  const auto most = static_cast<std::uint64_t>(rule.most);
  return static_cast<std::int64_t>(rounded <= most ? rounded : std::bit_floor(most));
}

// A right value of the rule's key, as it is written in a manifest.
std::string GetExample(const Rule& rule) {
  constexpr std::int64_t kUsual = 4096;
  if (rule.example.empty()) return fmt::format("{}", std::clamp(kUsual, rule.least, rule.most));
  const bool is_several = rule.example.find(' ') != std::string_view::npos;
  return is_several ? fmt::format("'{}'", rule.example) : std::string(rule.example);
}

std::string WriteHint(const Rule& rule, const std::vector<std::string>& words) {
  std::vector<std::string> bytes;
  bool has_unit = false;
  for (const std::string& word : words) {
    const auto read = ReadUnit(word);
    has_unit |= read.has_value();
    bytes.push_back(read ? fmt::format("{}", RoundUp(rule, *read)) : word);
  }
  if (has_unit) {
    return fmt::format("the kernel knows no units: write {}{}{}", words.size() > 1 ? "'" : "",
                       MakePrintable(Join(bytes, " ")), words.size() > 1 ? "'" : "");
  }
  const std::string example = GetExample(rule);
  if (!rule.meaning.empty()) {
    return fmt::format("{}, with blanks between them, such as {}", rule.meaning, example);
  }
  if (rule.count == kWord) return "such as " + example;
  return "in decimal digits alone, such as " + example;
}

bool IsRight(const Rule& rule, const std::vector<std::string>& words) {
  if (rule.count == kWord) return words.size() == 1;
  if (words.size() != static_cast<std::size_t>(rule.count)) return false;
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    const auto number = ParseDecimal(word);
    return number && *number >= rule.least && *number <= rule.most;
  });
}

bool Rises(const std::vector<std::string>& words) {
  return std::is_sorted(words.begin(), words.end(), [](const auto& a, const auto& b) {
    return ParseDecimal(a) < ParseDecimal(b);
  });
}

bool IsKnown(const std::string& key) {
  const std::vector<std::string> parts = Split(key, '.');
  return FindRule(key) != nullptr ||
         std::any_of(kNearOnes.begin(), kNearOnes.end(),
                     [&](std::string_view one) { return Fits(one, parts); });
}

// The last parts of the rules whose keys are alike in all others.
std::vector<std::string> ListSiblings(std::vector<std::string> parts) {
  std::vector<std::string> siblings;
  for (const Rule& rule : kRules) {
    parts.back() = std::string(rule.key.substr(rule.key.rfind('.') + 1));
    if (Fits(rule.key, parts)) siblings.push_back(parts.back());
  }
  return siblings;
}

// The key of the table that differs in capitals alone. Names of interfaces may have some.
std::optional<std::string> FindInOtherCase(const std::string& key) {
  const std::vector<std::string> written = Split(key, '.');
  const std::vector<std::string> lower = Split(ToLower(key), '.');
  for (const Rule& rule : kRules) {
    if (!Fits(rule.key, lower)) continue;
    std::vector<std::string> parts = Split(rule.key, '.');
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] == "*") parts[i] = written[i];
    }
    return Join(parts, ".");
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FindMeantKey(const std::string& key) {
  if (IsKnown(key)) return std::nullopt;
  if (auto in_its_case = FindInOtherCase(key)) return in_its_case;
  std::vector<std::string> parts = Split(key, '.');
  const auto meant = FindClosestMatch(parts.back(), ListSiblings(parts));
  if (!meant) return std::nullopt;
  parts.back() = *meant;
  return Join(parts, ".");
}

std::optional<BadValue> JudgeValue(const std::string& key, const std::string& value) {
  const Rule* rule = FindRule(key);
  if (value.empty()) {
    constexpr std::string_view kLeaveOut = "leave the key out to leave the setting as it is";
    if (rule == nullptr) return BadValue{"a value", std::string(kLeaveOut)};
    return BadValue{FormatWanted(*rule),
                    fmt::format("write a value such as {}, or {}", GetExample(*rule), kLeaveOut)};
  }
  if (rule == nullptr) return std::nullopt;
  const std::vector<std::string> words = Split(value, ' ');
  if (!IsRight(*rule, words)) return BadValue{FormatWanted(*rule), WriteHint(*rule, words)};
  if (rule->rising && !Rises(words)) {
    return BadValue{"numbers of which none is less than the one before it",
                    WriteHint(*rule, words)};
  }
  if (!rule->power_of_two) return std::nullopt;
  const std::int64_t number = ParseDecimal(value).value_or(0);
  const std::int64_t rounded = RoundUp(*rule, number);
  if (rounded == number) return std::nullopt;
  return BadValue{FormatWanted(*rule),
                  fmt::format("{}: write {}",
                              rounded > number ? "the kernel rounds it up to a power of two"
                                               : "the largest that the kernel takes",
                              rounded)};
}

}  // namespace reconciler::plugins::sysctl
