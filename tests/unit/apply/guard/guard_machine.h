#pragma once

#include <string>

#include "reconciler/apply/guard/guard_script.h"
#include "reconciler/apply/steps/apply_script.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {

// The guard's scripts with folders of the test in place of the node's, and with programs that do
// nothing in place of those that would change this machine. A call of systemd-run leaves a line in
// `timers`.
class GuardMachine : public ShellTest {
 protected:
  GuardMachine() {
    for (const char* folder : {"bin", "etc", "run", "units", "state/journal"}) {
      std::filesystem::create_directories(Path(folder));
    }
    for (const char* name : {"generator", "logger", "sleep"}) Program(name, "");
    Program("systemctl", "[ \"$1\" != is-active ] || for unit do echo active; done");
    IpProgram("");
    Program("systemd-run", "echo \"$*\" >>" + QuoteForShell(Path("timers")));
    Program("ping", "exit 1");
    Run("ln -s \"$(command -v sh)\" " + QuoteForShell(Path("bin/sh")));
  }

  // `body` gets each line of a batch in a call of its own.
  void IpProgram(const std::string& body) {
    Program("ip",
            "case \"$*\" in *-batch*)\n"
            "  while read -r line; do \"$0\" -6 $line || exit 1; done; exit ;;\n"
            "esac\n" +
                body);
  }

  void Program(const std::string& name, const std::string& body) {
    Put("bin/" + name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(Path("bin/" + name), std::filesystem::perms::owner_all);
  }

  std::string Journal() const { return Path("state/journal/0123456789abcdef"); }

  // The text for this machine.
  std::string Adapt(std::string text) const {
    const std::pair<std::string, std::string> places[] = {
        {"/var/lib/spark-reconcile", Path("state")},
        {"/run/spark-reconcile", Path("volatile")},
        {"/run/systemd", Path("systemd")},
        {"/etc/systemd/system", Path("units")},
        // A shell may have a sleep of its own, as busybox of Ubuntu 24.04 does; a function wins.
        {"export LC_ALL=C PATH=",
         "sleep() { " + Path("bin/sleep") + " \"$@\"; }\nexport LC_ALL=C PATH="},
        {"PATH=/usr/local/sbin", "PATH=" + Path("bin") + ":/usr/local/sbin"}};
    for (const auto& [from, to] : places) {
      for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
        text.replace(at, from.size(), to);
      }
    }
    return text;
  }
};

}  // namespace reconciler
