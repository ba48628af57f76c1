#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reconciler/model/file_state.h"

namespace reconciler::test {

// A file, folder or link of a scratch machine: type, mode, owner and content (a link's target).
using Tree = std::map<std::string, std::string>;

// A machine of which /etc, /run, /var/lib and /usr/local/sbin are this test's own, in a mount
// namespace that ends with the process. systemctl, systemd-run, netplan, logger and sync are
// replaced by what the laws need: sync counts its calls and can kill the shell that it was called
// from.
class ScratchMachine {
 public:
  // Moves this process into a namespace of its own, once; false: it may not (it needs root).
  static bool Enter();

  // Fresh folders; the ones of the last one are gone. Throws where Enter fails.
  ScratchMachine();
  ~ScratchMachine();
  ScratchMachine(const ScratchMachine&) = delete;
  ScratchMachine& operator=(const ScratchMachine&) = delete;

  void Write(const std::string& path, const std::string& content, mode_t mode = 0644) const;
  Tree ReadTree(const std::string& folder) const;

  // From now on the call of sync with this number (from 1) kills the shells above it; 0: none does.
  void KillAtSync(int number) const;
  int Syncs() const;  // calls since KillAtSync

  // What was under /run is gone, and what runs at boot has run, as after a power loss.
  void LosePower() const;

  // The guards' timers have fired, and what they run has ended.
  void TimePasses() const;
};

// One line for each path that is not the same in both.
std::vector<std::string> Differing(const Tree& one, const Tree& other);

// nullopt: there is no such file.
std::optional<FileState> ReadFileState(const std::string& path);

}  // namespace reconciler::test
