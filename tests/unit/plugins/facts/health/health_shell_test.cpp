#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "plugins/facts/health/health.h"
#include "reconciler/base/text.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins::health {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class HealthScript : public reconciler::test::ScriptTree {
 protected:
  HealthScript() { PutProgram("dmesg", "exit 1"); }

  CommandReply RunIt(const Fabric& fabric = {}) const {
    NodeSpec node;
    node.access.user = "root";
    return Run(MakeHealthProbe(fabric, node).argv);
  }
  std::vector<std::string> Lines() const { return SplitLines(RunIt().out); }
};

TEST_F(HealthScript, ABareMachineHasAClockAndTheUsersGroups) {
  const CommandReply reply = RunIt();
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_THAT(reply.out, testing::MatchesRegex("clock [0-9]+\ngroups [^\n]*root[^\n]*\n= files\n"));
}

TEST_F(HealthScript, WirelessInterfacesAreNamed) {
  PutFolder("/sys/class/net/wlP9s9/phy80211");
  PutFolder("/sys/class/net/enP7s7");
  const CommandReply reply = Run(MakeWirelessProbe().argv);
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, "wireless wlP9s9\n");
}

TEST_F(HealthScript, AZoneHasTheLowestLimitThatCools) {
  Put("/sys/class/thermal/thermal_zone0/type", "acpitz\n");
  Put("/sys/class/thermal/thermal_zone0/temp", "45000\n");
  Put("/sys/class/thermal/thermal_zone0/trip_point_0_type", "critical\n");
  Put("/sys/class/thermal/thermal_zone0/trip_point_0_temp", "105000\n");
  Put("/sys/class/thermal/thermal_zone0/trip_point_1_type", "passive\n");
  Put("/sys/class/thermal/thermal_zone0/trip_point_1_temp", "95000\n");
  Put("/sys/class/thermal/thermal_zone0/trip_point_2_type", "active\n");
  Put("/sys/class/thermal/thermal_zone0/trip_point_2_temp", "50000\n");
  Put("/sys/class/thermal/thermal_zone1/type", "without limit\n");
  Put("/sys/class/thermal/thermal_zone1/temp", "45000\n");
  EXPECT_THAT(Lines(), Contains("sensor 45000 95000 acpitz"));
  EXPECT_THAT(RunIt().out, Not(HasSubstr("without limit")));
}

TEST_F(HealthScript, HcasReportTheirTemperatureAndProcessorsThatTheyAreSlowed) {
  Put("/sys/class/hwmon/hwmon3/name", "mlx5\n");
  Put("/sys/class/hwmon/hwmon3/temp1_input", "61000\n");
  Put("/sys/class/hwmon/hwmon3/temp1_crit", "105000\n");
  Put("/sys/class/hwmon/hwmon4/name", "nvme\n");
  Put("/sys/class/hwmon/hwmon4/temp1_input", "61000\n");
  Put("/sys/class/hwmon/hwmon4/temp1_crit", "84850\n");
  for (const auto& [number, type, state] :
       {std::tuple("0", "Processor", "3"), std::tuple("1", "Processor", "0"),
        std::tuple("2", "Fan", "4")}) {
    const std::string folder = std::string("/sys/class/thermal/cooling_device") + number;
    Put(folder + "/type", std::string(type) + "\n");
    Put(folder + "/cur_state", std::string(state) + "\n");
  }
  const std::vector<std::string> lines = Lines();
  EXPECT_THAT(lines, Contains("sensor 61000 105000 mlx5 3"));
  EXPECT_THAT(lines, Contains("throttled Processor 0: 3"));
  EXPECT_THAT(RunIt().out, Not(HasSubstr("84850")));
  EXPECT_THAT(RunIt().out, Not(HasSubstr("Fan")));
  EXPECT_THAT(lines, Not(Contains("throttled Processor 1: 0")));
}

TEST_F(HealthScript, DeviceFilesAreShownWithTheirMode) {
  Put("/dev/infiniband/uverbs0", "");
  std::filesystem::permissions(Place("/dev/infiniband/uverbs0"), std::filesystem::perms(0600));
  EXPECT_THAT(RunIt().out, HasSubstr("\ndevice 600 "));
  EXPECT_THAT(RunIt().out, HasSubstr(" /dev/infiniband/uverbs0\n"));
}

TEST_F(HealthScript, AContainerWithVariablesOfNcclIsShownWithWhatItMayUse) {
  Put("/sys/fs/cgroup/system.slice/docker-0123abcd.scope/cgroup.procs", "77\n78\n");
  Put("/proc/77/environ", std::string("PATH=/bin\0NCCL_IB_HCA=rocep1s0f1\0", 33));
  Put("/proc/77/cgroup", "0::/system.slice/docker-0123abcd.scope\n");
  Put("/proc/77/limits",
      "Limit                     Soft Limit           Hard Limit           Units\n"
      "Max locked memory         8388608              8388608              bytes\n");
  Put("/sys/fs/cgroup/system.slice/docker-ffff.scope/cgroup.procs", "99\n");
  Put("/proc/99/environ", std::string("PATH=/bin\0", 10));
  EXPECT_THAT(Lines(), Contains("container 0123abcd no 8388608"));
  Put("/proc/77/root/dev/infiniband/uverbs0", "");
  EXPECT_THAT(Lines(), Contains("container 0123abcd yes 8388608"));
  EXPECT_THAT(RunIt().out, Not(HasSubstr("ffff")));
}

// A process of a container that was given variables of NCCL.
class ContainerScript : public HealthScript {
 protected:
  ContainerScript() {
    Put("/sys/fs/cgroup/system.slice/docker-0123abcd.scope/cgroup.procs", "77\n78\n79\n");
    for (const char* pid : {"77", "78", "79"}) {
      const std::string folder = std::string("/proc/") + pid;
      Put(folder + "/environ", std::string("NCCL_IB_HCA=rocep1s0f1\0", 23));
      Put(folder + "/cgroup", "0::/system.slice/docker-0123abcd.scope\n");
      Put(folder + "/maps",
          "aaaa00000000-aaaa00001000 r-xp 00000000 00:2b 11   /usr/bin/python3\n");
    }
  }

  // Process `pid` has that file in `range` of its memory.
  void Map(const std::string& pid, const std::string& range, const std::string& inode,
           const std::string& path, const std::string& content) {
    std::string& maps = maps_[pid];
    maps += range + " r--p 00000000 00:2b " + inode + "                  " + path + "\n";
    Put("/proc/" + pid + "/maps",
        "aaaa00000000-aaaa00001000 r-xp 00000000 00:2b 11   /usr/bin/python3\n" + maps);
    Put("/proc/" + pid + "/map_files/" + range, content);
  }

 private:
  std::map<std::string, std::string> maps_;
};

Fabric MakeCablesInBothCages() {
  Fabric fabric;
  fabric.ports["spark-1"] = {{.node = "spark-1", .cage = "p0"}, {.node = "spark-1", .cage = "p1"}};
  return fabric;
}

constexpr const char* kLoadedPath = "/usr/lib/aarch64-linux-gnu/libnccl.so.2.27.7";

TEST_F(ContainerScript, WithoutALibncclNothingMoreIsRead) {
  EXPECT_THAT(RunIt().out, testing::AllOf(HasSubstr("container 0123abcd no"),
                                          Not(HasSubstr("loaded")), Not(HasSubstr("versions"))));
}

TEST_F(ContainerScript, TheLibncclThatAProcessHasLoadedIsReadAsItIsMapped) {
  Map("78", "ffff00000000-ffff00001000", "42", kLoadedPath,
      std::string("\0\n", 2) + "NCCL version 2.30.7\nNCCL_IB_SUBNET_AWARE_ROUTING");
  Put(std::string("/proc/78/root") + kLoadedPath, "NCCL version 2.27.7");
  EXPECT_THAT(RunIt().out,
              HasSubstr("\nloaded 0123abcd /proc/78/map_files/ffff00000000-ffff00001000 "
                        "/usr/lib/aarch64-linux-gnu/libnccl.so.2.27.7\n= versions\n"
                        "/proc/78/map_files/ffff00000000-ffff00001000:NCCL version 2.30.7\n"
                        "= files\n"));
}

TEST_F(ContainerScript, ControlGroupsOfVersion1BesideItDoNotHideTheContainer) {
  for (const char* pid : {"77", "78", "79"}) {
    Put(std::string("/proc/") + pid + "/cgroup",
        "9:name=systemd:/\n0::/system.slice/docker-0123abcd.scope/init.scope\n");
  }
  Map("78", "ffff00000000-ffff00001000", "42", kLoadedPath, "NCCL version 2.27.7\n");
  EXPECT_THAT(RunIt().out, testing::AllOf(HasSubstr("container 0123abcd no"),
                                          HasSubstr("loaded 0123abcd /proc/78")));
}

TEST_F(ContainerScript, OneFileOfSeveralRanksIsReadOnce) {
  for (const char* pid : {"77", "78", "79"}) {
    Map(pid, "ffff00000000-ffff00001000", "42", kLoadedPath, "NCCL version 2.27.7\n");
  }
  Map("79", "eeee00000000-eeee00001000", "43", "/opt/libnccl.so.2 (deleted)",
      "NCCL version 2.28.9\n");
  const std::vector<std::string> lines = Lines();
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) { return line.starts_with("loaded "); }),
            2);
  EXPECT_THAT(lines, Contains("loaded 0123abcd /proc/79/map_files/eeee00000000-eeee00001000 "
                              "/opt/libnccl.so.2 (deleted)"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(),
                       "/proc/77/map_files/ffff00000000-ffff00001000:NCCL version 2.27.7"),
            1);
}

TEST_F(ContainerScript, AProcessWithoutSuchVariablesIsNotLookedInto) {
  Put("/proc/78/environ", std::string("PATH=/bin\0", 10));
  Map("78", "ffff00000000-ffff00001000", "42", kLoadedPath, "NCCL version 2.27.7\n");
  EXPECT_THAT(RunIt().out, Not(HasSubstr("loaded")));
}

TEST_F(ContainerScript, OnCablesThatNeedItTheLibraryIsReadForTheVariableToo) {
  Map("77", "ffff00000000-ffff00001000", "42", kLoadedPath,
      "NCCL version 2.30.7\nNCCL_IB_SUBNET_AWARE_ROUTING\n");
  EXPECT_THAT(RunIt(MakeCablesInBothCages()).out,
              HasSubstr("00001000:NCCL version 2.30.7\n"
                        "/proc/77/map_files/ffff00000000-ffff00001000:"
                        "NCCL_IB_SUBNET_AWARE_ROUTING\n"));
  EXPECT_THAT(RunIt().out, Not(HasSubstr("SUBNET_AWARE")));
}

TEST_F(HealthScript, MemoryProfilesAndInterfacesAreGreppedAtOnce) {
  Put("/proc/meminfo", "MemTotal: 1 kB\nMemAvailable: 2 kB\nSwapTotal: 3 kB\nSwapFree: 4 kB\n");
  Put("/run/NetworkManager/system-connections/a.nmconnection",
      "[connection]\nid=a\ninterface-name=enp1s0f1np1\n");
  Put("/etc/network/interfaces", "auto lo\niface lo inet loopback\n");
  EXPECT_THAT(RunIt().out,
              HasSubstr("= files\n/proc/meminfo:MemAvailable: 2 kB\n/proc/meminfo:SwapTotal: 3 kB\n"
                        "/proc/meminfo:SwapFree: 4 kB\n"
                        "/run/NetworkManager/system-connections/a.nmconnection:"
                        "interface-name=enp1s0f1np1\n"
                        "/etc/network/interfaces:auto lo\n"));
}

TEST_F(HealthScript, OfTheKernelsLogOnlyWhatIsJudgedLeavesTheNode) {
  PutProgram("dmesg", R"(cat <<'END'
[    1.000000] secret of another program
[    2.000000] [UFW BLOCK] IN=enP7s7 OUT= SRC=192.168.1.22 DST=192.168.1.21 PROTO=TCP SPT=1 DPT=2 WINDOW=3 RES=0x00 SYN URGP=0
[    3.000000] [UFW BLOCK] IN=enP7s7 OUT= SRC=192.168.1.22 DST=192.168.1.21 PROTO=UDP SPT=1 DPT=2
[    4.000000] pcieport 0000:00:00.0: AER: Uncorrectable (Fatal) error message received
[    5.000000] mlx5_core 0000:01:00.1 enp1s0f1np1: Link up
END)");
  Put("/proc/uptime", "100.25 1.0\n");
  Put("/etc/ufw/user.rules", "");
  const std::string out = RunIt().out;
  EXPECT_THAT(out, HasSubstr("\n= rules\nrules "));
  EXPECT_THAT(
      out,
      testing::EndsWith(
          "\n= log\nuptime 100.25\n"
          "[    2.000000] [UFW BLOCK] IN=enP7s7 OUT= SRC=192.168.1.22 DST=192.168.1.21 PROTO=TCP "
          "SPT=1 DPT=2 WINDOW=3 RES=0x00 SYN URGP=0\n"
          "[    4.000000] pcieport 0000:00:00.0: AER: Uncorrectable (Fatal) error message "
          "received\n"));
}

}  // namespace
}  // namespace reconciler::plugins::health
