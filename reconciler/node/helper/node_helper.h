#pragma once

#include <string>

#include "reconciler/model/ledger.h"

namespace reconciler {

// Shell functions, in POSIX sh, that every session on a node begins with (nothing is installed).
// They stand behind BuildScriptPreamble and work in the journal directory $J, one folder per step:
//
//   path     the target       new     the file to come, with its mode and owner
//   before   what stood there trial   where it is tried until it is committed (see Resource::trial)
//   absent   nothing did      begun   the step was carried out, or at least begun
//   home     the target as "~USER/PATH", where it lies below a home; `absent` then holds the first
//            part of PATH that is not there
//   command  instead of path, for a step that runs one
//   placed   instead of trial, once it is committed
//   foreign  what another program wrote to the target, and a revert or a commit replaced
//
// Beside the steps: `progress` (seconds of /proc/uptime from which the guard counts, never a wall
// clock), `made` (directories that the apply made), `aside` (what it set aside for a revert),
// `decision` (a symbolic link to "commit" or "revert": made at once and never changed), `outside`
// and `fabric` (what must not be lost, see outside.sh).
std::string BuildNodeHelper();

// The parts of it that the scripts left on the node need as well: they run without us.
std::string GetJournalFunctions();

}  // namespace reconciler
