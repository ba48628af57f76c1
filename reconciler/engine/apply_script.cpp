#include "reconciler/engine/apply_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "reconciler/base/text.h"
#include "reconciler/engine/frames.h"
#include "reconciler/engine/home_path.h"

namespace reconciler {
namespace {

// STEP is a number; T is the target path that `resolve` left behind. Every function returns
// non-zero at the first thing that fails and says on stderr what it was.
constexpr std::string_view kLibrary = R"sh(
say() { printf '%s\n' "$1" >&2; return 1; }

target() {
  resolve "$1" ''
  [ -n "$T" ] || say "no such user on this node: $1" || return 1
  [ ! -L "$T" ] || say "$T is a symbolic link: it is not replaced" || return 1
  if [ -e "$T" ] && [ ! -f "$T" ]; then say "$T is not a regular file"; return 1; fi
}

journal() { # STEP
  d=$J/$1
  mkdir -p "$d" && printf '%s' "$T" >"$d/path" || return 1
  if [ -e "$T" ]; then cp -p -- "$T" "$d/before" && sync "$d/before"
  else : >"$d/absent"; fi && sync "$d/path" "$d" "$J"
}

parents() { # OWNER GROUP; below a home new directories are the owner's alone
  p=${T%/*}
  [ -d "$p" ] && return 0
  if [ -n "$home" ] && [ "${T#"$home"/}" != "$T" ]; then
    mkdir -p -- "$p" && chown -- "$1:$2" "$p" && chmod 0700 "$p"
  else (umask 022 && mkdir -p -- "$p"); fi && printf '%s\n' "$p" >>"$J/made"
}

write_file() { # STEP PATH MODE OWNER GROUP CONTENT
  target "$2" && journal "$1" && parents "$4" "$5" || return 1
  tmp=$(mktemp "${T%/*}/.spark-reconcile.XXXXXXXXXX") || return 1
  printf '%s' "$6" >"$tmp" && chown -- "$4:$5" "$tmp" && chmod "$3" "$tmp" && sync "$tmp" &&
    mv -fT -- "$tmp" "$T" && sync "${T%/*}" && return 0
  rm -f -- "$tmp"
  return 1
}

remove_file() { # STEP PATH
  target "$2" && journal "$1" && rm -f -- "$T" && sync "${T%/*}"
}

command_step() { # STEP LIMIT_S USER ARGV…
  step=$1; limit=$2; user=$3; shift 3
  mkdir -p "$J/$step" && printf '%s\n' "$*" >"$J/$step/command" || return 1
  if [ -z "$user" ]; then timeout -k 2 "$limit" "$@" </dev/null; return; fi
  resolve "~$user/." ''
  [ -n "$T" ] || say "no such user on this node: $user" || return 1
  if [ "$(id -un)" = "$user" ]; then (cd "$home" && timeout -k 2 "$limit" "$@" </dev/null)
  else (cd "$home" && HOME=$home timeout -k 2 "$limit" runuser -u "$user" -- "$@" </dev/null); fi
}

begin() { # what the node's guard counts as progress; it may have come before us
  if [ -e "$J/decision" ]; then say 'this node has taken the plan back'; return 1; fi
  read -r up _ </proc/uptime && echo "$up" >"$J/progress"
}

ended() { # EXIT
  frame "exit $1"
  [ "$1" -eq 0 ] || exit 0
}
)sh";

std::string StepCall(const Action& action, std::size_t number) {
  struct Visitor {
    std::size_t number;
    std::string operator()(const WriteFile& write) const {
      return fmt::format("write_file {} {} {:04o} {} {} {}", number, ShellQuote(write.path),
                         write.state.mode, ShellQuote(write.state.owner),
                         ShellQuote(write.state.group), ShellQuote(write.state.content));
    }
    std::string operator()(const RemoveFile& remove) const {
      return fmt::format("remove_file {} {}", number, ShellQuote(remove.path));
    }
    std::string operator()(const RunCommand& command) const {
      return fmt::format("command_step {} {} {} {}", number, command.time_limit_s,
                         ShellQuote(command.user), ShellJoin(command.argv));
    }
  };
  return std::visit(Visitor{number}, action);
}

}  // namespace

std::vector<Step> StepsOf(const std::vector<const Change*>& changes) {
  std::vector<Step> steps;
  std::vector<RunCommand> triggers;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    for (const Action& action : changes[i]->actions) steps.push_back({i, action});
    for (const RunCommand& trigger : changes[i]->triggers) {
      if (std::find(triggers.begin(), triggers.end(), trigger) == triggers.end()) {
        triggers.push_back(trigger);
      }
    }
  }
  for (RunCommand& trigger : triggers) steps.push_back({Step::kTrigger, std::move(trigger)});
  return steps;
}

std::string JournalDirectory(std::string_view apply_id) {
  return "/var/lib/spark-reconcile/journal/" + std::string(apply_id);
}

std::string NewApplyId(const Plan& plan) {
  return plan.id.substr(0, 8) + "-" + MakeNonce().substr(0, 8);
}

std::string ApplyScript(const std::vector<Step>& steps, std::size_t first_step,
                        std::string_view journal, std::string_view nonce) {
  std::string script = ScriptPreamble(nonce);
  script += HomePathFunction();
  script += kLibrary;
  script += fmt::format("J={}\nframe start\nmkdir -p \"$J\" || ended 1\n", ShellQuote(journal));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    script += fmt::format("frame step\nbegin &&\n  {}\nended $?\n",
                          StepCall(steps[i].action, first_step + i));
  }
  return script + "frame end\n";
}

std::vector<StepReply> ParseApplyReply(const ScriptReply& reply, std::string_view nonce) {
  std::vector<StepReply> replies;
  Frame last;
  for (Frame& frame : ParseFrames(reply, nonce)) {
    if (frame.label.starts_with("exit ")) {
      replies.push_back({std::atoi(frame.label.c_str() + 5), last.out, last.err});
    }
    last = std::move(frame);
  }
  return replies;
}

Milliseconds ApplyLimit(const std::vector<Step>& steps) {
  int seconds = 20;
  for (const Step& step : steps) {
    const auto* command = std::get_if<RunCommand>(&step.action);
    seconds += command != nullptr ? command->time_limit_s + 3 : 1;
  }
  return std::chrono::seconds(seconds);
}

}  // namespace reconciler
