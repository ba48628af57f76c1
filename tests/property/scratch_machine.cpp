#include "tests/property/scratch_machine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <tuple>

namespace reconciler::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolders[] = {"/etc", "/run", "/var/lib", "/usr/local/sbin"};
constexpr const char* kAccounts[] = {"/etc/passwd", "/etc/group", "/etc/nsswitch.conf"};
const std::string kCount = "/usr/local/sbin/.syncs";
const std::string kKillAt = "/usr/local/sbin/.kill-at";

constexpr std::string_view kSync = R"sh(#!/bin/sh
n=$(($(cat {count}) + 1)); echo $n >{count}
[ $n = "$(cat {kill_at})" ] || exit 0
parent=$PPID; all=
while [ "$parent" -gt 1 ] && [ "$parent" != {controller} ]; do
  all="$all $parent"
  read -r _ _ _ parent _ <"/proc/$parent/stat"
done
kill -KILL $all
)sh";

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Under the PATH that the scripts have, and with what they say kept out of the test's own output.
void Run(const std::string& script) {
  const std::string quiet =
      "export PATH=/usr/local/sbin:/usr/bin:/bin; { " + script + "\n} >/dev/null 2>&1";
  std::ignore = std::system(quiet.c_str());
}

void Must(bool done, const std::string& what) {
  if (!done) throw std::runtime_error(what);
}

}  // namespace

bool ScratchMachine::Enter() {
  static const bool entered = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
                              mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return entered;
}

ScratchMachine::ScratchMachine() {
  Must(Enter(), "a mount namespace of its own");
  std::map<std::string, std::string> accounts;
  for (const char* path : kAccounts) accounts[path] = ReadAll(path);
  for (const char* folder : kFolders) {
    Must(mount("scratch", folder, "tmpfs", 0, "mode=0755") == 0, folder);
  }
  for (const auto& [path, content] : accounts) Write(path, content);
  for (const char* name : {"systemd-run", "netplan", "logger", "sleep"}) {
    Write(std::string("/usr/local/sbin/") + name, "#!/bin/sh\nexit 0\n", 0755);
  }
  // Every unit is active.
  Write("/usr/local/sbin/systemctl",
        "#!/bin/sh\n[ \"$1\" != is-active ] || for unit do echo active; done\n", 0755);
  // A live value, as a kernel setting is one.
  Write("/usr/local/sbin/set-live", "#!/bin/sh\nprintf %s \"$2\" >\"/run/live-$1\"\n", 0755);
  Write("/usr/local/sbin/sync",
        fmt::format(fmt::runtime(kSync), fmt::arg("count", kCount), fmt::arg("kill_at", kKillAt),
                    fmt::arg("controller", getpid())),
        0755);
  fs::create_directories("/etc/systemd/system/sysinit.target.wants");
  KillAtSync(0);
}

ScratchMachine::~ScratchMachine() {
  for (const char* folder : kFolders) umount2(folder, MNT_DETACH);
}

void ScratchMachine::Write(const std::string& path, const std::string& content, mode_t mode) const {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
  Must(chmod(path.c_str(), mode) == 0, path);
}

Tree ScratchMachine::ReadTree(const std::string& folder) const {
  Tree tree;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (std::find(std::begin(kAccounts), std::end(kAccounts), entry.path()) != std::end(kAccounts))
      continue;
    struct stat at = {};
    Must(lstat(entry.path().c_str(), &at) == 0, entry.path());
    std::string& line = tree[entry.path()];
    line = fmt::format("{:o} {}:{}", at.st_mode, at.st_uid, at.st_gid);
    if (entry.is_symlink()) {
      line += " -> " + fs::read_symlink(entry.path()).string();
    } else if (entry.is_regular_file()) {
      line += "\n" + ReadAll(entry.path());
    }
  }
  return tree;
}

void ScratchMachine::KillAtSync(int number) const {
  Write(kCount, "0\n");
  Write(kKillAt, fmt::format("{}\n", number));
}

int ScratchMachine::Syncs() const { return std::stoi(ReadAll(kCount)); }

void ScratchMachine::LosePower() const {
  for (const auto& entry : fs::directory_iterator("/run")) fs::remove_all(entry.path());
  Run("for unit in /etc/systemd/system/sysinit.target.wants/*; do\n"
      "  [ ! -e \"$unit\" ] || eval \"$(sed -n 's/^ExecStart=//p' \"$unit\")\"\ndone");
}

void ScratchMachine::TimePasses() const {
  Run("for journal in /var/lib/spark-reconcile/journal/*; do\n"
      "  [ ! -e \"$journal/guard\" ] || { echo -100000 >\"$journal/progress\"; sh "
      "\"$journal/guard\" watch; }\n"
      "done");
}

std::vector<std::string> Differing(const Tree& one, const Tree& other) {
  std::vector<std::string> lines;
  const auto at = [](const Tree& tree, const std::string& path) {
    const auto found = tree.find(path);
    return found == tree.end() ? std::string("nothing") : found->second;
  };
  Tree all = one;
  all.insert(other.begin(), other.end());
  for (const auto& [path, line] : all) {
    if (at(one, path) == at(other, path)) continue;
    lines.push_back(path + ": " + at(one, path) + " | " + at(other, path));
  }
  return lines;
}

std::optional<FileState> ReadFileState(const std::string& path) {
  struct stat at = {};
  if (stat(path.c_str(), &at) != 0) return std::nullopt;
  return FileState{.content = ReadAll(path), .mode = at.st_mode & 07777};
}

}  // namespace reconciler::test
