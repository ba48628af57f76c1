#pragma once

#include <string>

#include "reconciler/apply/guard/guard_script.h"

namespace CLI {
class App;
}

namespace reconciler::cli {

// What apply, rollback and uninstall let the user choose.
struct ApplyFlags {
  std::string events_file = {};
  std::string progress = "live";  // "plain", "none"
  int verbosity = 0;              // 1: triggers too; 2: connections too
  std::string log_file = {};      // empty: none
  bool has_node = true;           // whether the command has --node, as it is in hints
  bool yes = false;
  bool brief = false;
  bool no_verify = false;
  bool allow_node_removal = false;
  bool allow_unreached = false;
  bool allow_unproven = false;
  bool allow_silent_beacons = false;
  bool allow_half_cables = false;
  bool allow_wrong_cables = false;
  bool interrupt = false;
  int lock_timeout_s = 0;  // how long to wait while another apply runs
  GuardTimes times = {};
};

void AddApplyFlags(CLI::App& command, ApplyFlags& flags);

}  // namespace reconciler::cli
