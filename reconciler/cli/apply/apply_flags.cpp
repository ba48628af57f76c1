#include "reconciler/cli/apply/apply_flags.h"

#include <CLI/CLI.hpp>

#include "reconciler/cli/context.h"
#include "reconciler/cli/range.h"

namespace reconciler::cli {

void AddApplyFlags(CLI::App& command, ApplyFlags& flags) {
  AddPath(command, "--events", flags.events_file,
          "Write one JSON object per event to this file (- is stdout; all else goes to stderr)");
  command
      .add_option("--progress", flags.progress,
                  "live: a line per node that is redrawn, on a terminal that can; plain: a line "
                  "per change; none: failures only")
      ->check(CLI::IsMember({"live", "plain", "none"}))
      ->capture_default_str();
  command.add_flag(
      "-v,--verbose", flags.verbosity,
      "Show the commands that run besides the listed changes too; -vv: connections too");
  AddPath(command, "--log-file", flags.log_file,
          "Append all that -vv shows to this file, with times, whatever is shown");
  command.add_flag("--yes", flags.yes, "Do not prompt for confirmation");
  command.add_flag("--brief", flags.brief, "Show the plan without the files' diffs");
  command.add_flag("--no-verify", flags.no_verify, "Do not end with the manifest's verification");
  command
      .add_option("--revert-after", flags.times.revert_after,
                  "Seconds without progress after which a node reverts the plan")
      ->transform(InRange(5, 3600))
      ->capture_default_str();
  command
      .add_option("--lock-timeout", flags.lock_timeout_s,
                  "Seconds to wait while another apply runs, instead of ending with exit code 9")
      ->transform(InRange(0, 86400))
      ->capture_default_str();
  command.add_flag("--allow-unreached", flags.allow_unreached,
                   "Go on without the nodes that cannot be reached");
  command.add_flag("--allow-unproven", flags.allow_unproven,
                   "Keep the change though pairs of nodes do not reach each other");
  command.add_flag(
      "--allow-silent-beacons", flags.allow_silent_beacons,
      "Commit though nodes cannot see that their peers are ready, so that they may end "
      "apart when the controller is lost");
  command.add_flag("--allow-half-cables", flags.allow_half_cables,
                   "Change links although the other end cannot be changed with them");
  command.add_flag("--allow-wrong-cables", flags.allow_wrong_cables,
                   "Go on although cables differ from the manifest");
  command.add_flag("--interrupt", flags.interrupt,
                   "Go on although a change ends work that runs now: RDMA connections, the GPU "
                   "access of containers");
}

}  // namespace reconciler::cli
