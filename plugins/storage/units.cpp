#include "plugins/storage/units.h"

#include <fmt/format.h>

#include "plugins/common/systemctl/escape.h"
#include "reconciler/base/digest.h"
#include "reconciler/base/text.h"

namespace reconciler::plugins::storage {
namespace {

constexpr std::size_t kDigits = 12;  // of the digest of an NQN, whose signs and length no unit has

// A file system that is mounted read-only writes its journal all the same, unless an option says
// otherwise: see ext4(5), xfs(5) and btrfs(5). That of btrfs needs Linux 5.9.
std::string_view FindJournalOption(const std::string& filesystem) {
  if (filesystem == "ext4") return "noload";
  if (filesystem == "xfs") return "norecovery";
  if (filesystem == "btrfs") return "rescue=nologreplay";
  return "";
}

std::string FormatOptions(const Volume& volume) {
  std::vector<std::string> options = {"_netdev", "nofail"};
  if (volume.read_only) options.emplace_back("ro");
  const std::string_view journal = FindJournalOption(volume.filesystem);
  if (volume.read_only && !journal.empty()) options.emplace_back(journal);
  options.insert(options.end(), volume.options.begin(), volume.options.end());
  return Join(options, ",");
}

}  // namespace

std::string NameConnectUnit(const Volume& volume) {
  return fmt::format("spark-reconcile-nvme-{}.service",
                     ComputeSha256Hex(volume.nqn).substr(0, kDigits));
}

std::string NameMountUnit(const Volume& volume) {
  return EscapePathForUnit(volume.mount) + ".mount";
}

std::string FormatConnectUnit(const Volume& volume) {
  const std::string target = fmt::format("{} {} {}", volume.nqn, volume.address, volume.port);
  return fmt::format(
      "[Unit]\n"
      "Description=NVMe over TCP: {}\n"
      "Wants=network-online.target\n"
      "After=network-online.target\n"
      "StartLimitIntervalSec=0\n"
      "[Service]\n"
      "Type=oneshot\n"
      "RemainAfterExit=yes\n"
      "RuntimeDirectory={}\n"
      "ExecStart=/bin/sh {} connect {}\n"
      "ExecStop=/bin/sh {} disconnect {}\n"
      "TimeoutStartSec=30\n"
      "Restart=on-failure\n"
      "RestartSec=10\n"
      "[Install]\n"
      "WantedBy=multi-user.target\n",
      volume.nqn, NameConnectUnit(volume), kScript, target, kScript, target);
}

std::string FormatMountUnit(const Volume& volume) {
  return fmt::format(
      "[Unit]\n"
      "Description={} of {}\n"
      "After={}\n"
      "[Mount]\n"
      "What={}\n"
      "Where={}\n"
      "Type={}\n"
      "Options={}\n"
      "TimeoutSec=60\n"
      "[Install]\n"
      "WantedBy={}.device\n",
      volume.mount, volume.nqn, NameConnectUnit(volume), volume.Device(), volume.mount,
      volume.filesystem, FormatOptions(volume), EscapePathForUnit(volume.Device()));
}

}  // namespace reconciler::plugins::storage
