#include "plugins/units/socket.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/support/script_tree.h"

namespace reconciler::plugins::units {
namespace {

// A systemctl with demo.socket, demo.service and what a test adds. Each unit is a file with its
// state, beside one for each property that is not empty. As systemd does, it refuses a socket whose
// service runs, stops with a unit what hangs on it, and a service that ends is started by a trigger
// that is still there.
constexpr const char* kSystemctl = R"sh(
fail() { echo "$*"; exit 9; }
runs() { case $(cat "$1") in inactive | failed) return 1 ;; esac; }
get() { cat "$2.$1" 2>/dev/null; }
list() { get "$1" "$2" | sed 's/"//g; s/\\\\/\\/g'; }
end() {
  echo inactive >"$1"
  for hanging in $(list RequiredBy "$1") $(list RequisiteOf "$1") $(list BoundBy "$1") \
    $(list ConsistsOf "$1") $(list PropagatesStopTo "$1"); do (end "$hanging"); done
}
begin() {
  for service in $(get Triggers "$1"); do case $1,$(get Accept "$1") in
    *.socket,yes) ;;
    *.socket,*) ! runs "$service" || { echo failed >"$1"; return 1; } ;;
  esac; done
  [ ! -e "$1.bad" ] || return 1
  echo active >"$1"
}
verb=$1; shift
if [ "$verb" = show ]; then
  properties=$1; [ "$2 $3" = "--value --" ] || fail "$@"; shift 3
  for unit do for property in $(echo "${properties#*=}" | tr , ' '); do
    case $property in
      ActiveState) cat "$unit" ;;
      Id) echo "$unit" ;;
      *) get "$property" "$unit" ;;
    esac
  done; done
  exit 0
fi
block=
[ "$verb" != --no-block ] || { block="$verb "; verb=$1; shift; }
[ "$1" = -- ] || fail "$@"
shift; rc=0
printf '%s\n' "$block$verb $*" >>calls
case $verb in
  stop)
    for unit do end "$unit"; done
    for trigger in $(get TriggeredBy demo.service); do
      ! runs "$trigger" || echo active >demo.service
    done ;;
  *) for unit do [ "$verb" != restart ] || end "$unit"; begin "$unit" || rc=1; done ;;
esac
exit $rc
)sh";

class StartSocketScript : public reconciler::test::ScriptTree {
 protected:
  StartSocketScript() {
    Set("demo.socket", "Triggers", "demo.service");
    Set("demo.service", "TriggeredBy", "demo.socket");
  }
  void Set(const std::string& unit, const std::string& property, const std::string& value) const {
    Put("/" + unit + "." + property, value + "\n");
  }
  // With the state that it has in the beginning.
  void Add(const std::string& unit, const std::string& state = "active") { states_[unit] = state; }

  CommandReply Do(const std::string& verb, const std::string& socket, const std::string& service) {
    Add("demo.socket", socket);
    Add("demo.service", service);
    for (const auto& [name, state] : states_) Put("/" + name, state + "\n");
    Put("/calls", "");
    PutProgram("systemctl", "cd " + Place("/").string() + " || exit 9" + kSystemctl);
    return Run(StartAroundService({.argv = {"systemctl", verb, "--", "demo.socket"}}).argv);
  }
  std::string Read(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(Place("/" + file)).rdbuf();
    return text.str();
  }
  std::string ListCalls() const { return Read("calls"); }

 private:
  std::map<std::string, std::string> states_ = {};
};

constexpr const char* kAround =
    "stop demo.socket demo.service\nrestart demo.socket\nstart demo.service\n";

TEST_F(StartSocketScript, AServiceThatRunsEndsBeforeAndRunsAgain) {
  for (const std::string service : {"active", "reloading", "deactivating"}) {
    for (const std::string verb : {"restart", "try-restart"}) {
      EXPECT_EQ(Do(verb, "active", service).exit_code, 0) << service;
      EXPECT_EQ(ListCalls(), kAround);
    }
    EXPECT_EQ(Do("start", "inactive", service).exit_code, 0);
    EXPECT_EQ(ListCalls(), kAround);
  }
}

// A job of hours may be one that starts for hours.
TEST_F(StartSocketScript, AServiceThatIsStillStartingIsStartedAndNotWaitedFor) {
  EXPECT_EQ(Do("restart", "active", "activating").exit_code, 0);
  EXPECT_EQ(ListCalls(),
            "stop demo.socket demo.service\nrestart demo.socket\n--no-block start demo.service\n");
}

TEST_F(StartSocketScript, AServiceThatDoesNotRunIsNotStarted) {
  for (const std::string service : {"inactive", "failed"}) {
    EXPECT_EQ(Do("restart", "active", service).exit_code, 0);
    EXPECT_EQ(ListCalls(), "restart demo.socket\n");
    EXPECT_EQ(Do("start", "inactive", service).exit_code, 0);
    EXPECT_EQ(ListCalls(), "restart demo.socket\n");
  }
}

TEST_F(StartSocketScript, WhereNothingIsToBeDoneNothingIs) {
  EXPECT_EQ(Do("start", "active", "active").exit_code, 0);
  EXPECT_EQ(ListCalls(), "");
  EXPECT_EQ(Do("try-restart", "inactive", "active").exit_code, 0);
  EXPECT_EQ(ListCalls(), "");
  Set("demo.socket", "LoadState", "not-found");
  EXPECT_EQ(Do("start", "inactive", "inactive").exit_code, 0) << "gone";
  EXPECT_EQ(ListCalls(), "");
  EXPECT_EQ(Do("try-restart", "active", "active").exit_code, 0) << "gone, and still listens";
  EXPECT_EQ(ListCalls(), "");
}

TEST_F(StartSocketScript, AServiceRunsAgainAlsoWhereTheSocketCannotStart) {
  Put("/demo.socket.bad", "");
  EXPECT_EQ(Do("restart", "active", "active").exit_code, 1);
  EXPECT_EQ(ListCalls(), kAround);
}

// systemd refuses no socket with Accept=yes, and a restart ends none of its connections.
TEST_F(StartSocketScript, TheServicesOfConnectionsAreLeftAlone) {
  Set("demo.socket", "Accept", "yes");
  Set("demo.socket", "Triggers", "demo@0-1.service");
  Add("demo@0-1.service");
  for (const std::string verb : {"restart", "try-restart"}) {
    EXPECT_EQ(Do(verb, "active", "inactive").exit_code, 0);
    EXPECT_EQ(ListCalls(), verb + " demo.socket\n");
  }
  EXPECT_EQ(Do("start", "inactive", "inactive").exit_code, 0);
  EXPECT_EQ(ListCalls(), "start demo.socket\n");
  EXPECT_EQ(Read("demo@0-1.service"), "active\n");
}

TEST_F(StartSocketScript, WhatEndsWithTheServiceOrTheSocketRunsAgain) {
  for (const std::string unit : {"required", "bound", "part", "requisite", "stopped", "second"}) {
    Add(unit + ".service");
  }
  Add("off.service", "inactive");
  Add("behind-off.service");
  Set("demo.service", "RequiredBy", "required.service off.service");
  Set("demo.service", "BoundBy", "bound.service");
  Set("demo.service", "RequisiteOf", "requisite.service");
  Set("demo.service", "PropagatesStopTo", "stopped.service");
  Set("demo.socket", "RequiredBy", "demo.service");
  Set("demo.socket", "ConsistsOf", "part.service");
  Set("required.service", "RequiredBy", "second.service");
  Set("off.service", "RequiredBy", "behind-off.service");
  EXPECT_EQ(Do("restart", "active", "active").exit_code, 0);
  EXPECT_EQ(ListCalls(), std::string(kAround) +
                             "start part.service required.service requisite.service bound.service "
                             "stopped.service second.service behind-off.service\n");
  EXPECT_EQ(Read("off.service"), "inactive\n");
}

// As systemd 257 prints a unit of a list whose name has a backslash.
TEST_F(StartSocketScript, ANameWithABackslashIsTakenFromItsQuotes) {
  Set("demo.service", "RequiredBy", R"("srv-my\\x2dd.mount" last.service)");
  Add(R"(srv-my\x2dd.mount)");
  Add("last.service");
  EXPECT_EQ(Do("restart", "active", "active").exit_code, 0);
  EXPECT_EQ(ListCalls(), std::string(kAround) + "start srv-my\\x2dd.mount last.service\n");
}

TEST_F(StartSocketScript, AUnitThatOnlyOthersMayStartIsLeftToThem) {
  Add("required.service");
  Set("demo.service", "RequiredBy", "required.service");
  Set("required.service", "CanStart", "no");
  EXPECT_EQ(Do("restart", "active", "active").exit_code, 0);
  EXPECT_EQ(ListCalls(), kAround);
}

TEST_F(StartSocketScript, WhatDoesNotRunAgainIsAnError) {
  Add("required.service");
  Set("demo.service", "RequiredBy", "required.service");
  Put("/required.service.bad", "");
  EXPECT_EQ(Do("restart", "active", "active").exit_code, 1);
}

TEST_F(StartSocketScript, NoOtherTriggerStartsTheServiceBetween) {
  Set("demo.service", "TriggeredBy", "other.socket demo.socket demo.path off.socket demo.timer");
  for (const std::string unit : {"other.socket", "demo.path", "off.socket", "demo.timer"}) {
    Set(unit, "Triggers", "demo.service");
    Add(unit, unit == "off.socket" || unit == "demo.timer" ? "inactive" : "active");
  }
  EXPECT_EQ(Do("restart", "active", "active").exit_code, 0);
  EXPECT_EQ(ListCalls(),
            "stop demo.socket other.socket demo.path demo.service\n"
            "restart demo.socket other.socket\n"
            "start demo.service\n"
            "start demo.path\n");
  for (const std::string unit : {"demo.socket", "other.socket", "demo.path", "demo.service"}) {
    EXPECT_EQ(Read(unit), "active\n") << unit;
  }
  EXPECT_EQ(Read("off.socket"), "inactive\n");
}

TEST(StartAroundService, OtherCommandsAndOtherUnitsStayAsTheyAre) {
  for (const std::vector<std::string>& argv : std::vector<std::vector<std::string>>{
           {"systemctl", "stop", "--", "demo.socket"},
           {"systemctl", "restart", "--", "demo.service"},
           {"systemctl", "--no-reload", "enable", "--", "demo.socket"},
           {"systemctl", "daemon-reload"},
           {"restart.socket"}}) {
    EXPECT_EQ(StartAroundService({.argv = argv}).argv, argv);
  }
}

}  // namespace
}  // namespace reconciler::plugins::units
