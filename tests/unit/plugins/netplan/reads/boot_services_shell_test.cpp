#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "plugins/netplan/reads/boot_services.h"
#include "tests/support/run_here.h"

namespace reconciler::plugins::netplan {
namespace {

constexpr const char* kInstall = "[Install]\nWantedBy=multi-user.target\n";

// A folder of units, one of interfaces, and a systemctl that shows one state.
class BootServicesScript : public testing::Test {
 protected:
  BootServicesScript() {
    std::string name = (std::filesystem::temp_directory_path() / "boot_test.XXXXXX").string();
    folder_ = mkdtemp(name.data());
    std::filesystem::create_directories(folder_ / "nets/enp1s0f1np1");
    std::filesystem::create_directories(folder_ / "nets/enP7s7");
    Put("bin/systemctl", "#!/bin/sh\nshift 4\nprintf 'Id=%s\\nActiveState=active\\n\\n' \"$@\"\n");
    std::filesystem::permissions(folder_ / "bin/systemctl", std::filesystem::perms::owner_all);
  }
  ~BootServicesScript() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }

  void Put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  void PutService(const std::string& name, const std::string& run) const {
    Put("units/" + name,
        "[Unit]\nDescription=ip enP7s7\n[Service]\nExecStart=" + run + "\n" + kInstall);
  }

  void Enable(const std::string& name) const {
    std::filesystem::create_directories(folder_ / "units/multi-user.target.wants");
    std::filesystem::create_symlink("../" + name, folder_ / "units/multi-user.target.wants" / name);
  }

  CommandReply Run() const {
    std::vector<std::string> argv = MakeBootServicesProbe({{"enP2p1s0f1np1", "0002:01:00.1"}}).argv;
    argv[4] = Path("units");
    argv[5] = Path("nets");
    argv[7] = Path("etc");
    argv.insert(argv.begin(), {"env", "PATH=" + Path("bin") + ":" + std::getenv("PATH")});
    return reconciler::test::RunHere(argv);
  }

  void PutHook(const std::string& name, const std::string& text) const {
    Put(name, text);
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
  }

  // A line for each hook, with its interfaces and the lines of these.
  std::string ReadHooks() const {
    NodeFacts facts;
    StoreBootServices({.commands = {{"netplan.boot_services", Run()}}}, facts);
    std::string text;
    for (const BootHook& hook : facts.network.boot_hooks) {
      text += hook.path.substr(Path("etc/").size());
      for (const auto& [netdev, line] : hook.lines) text += fmt::format(" {}:{}", netdev, line);
      text += "\n";
    }
    return text;
  }

  // What comes of it: a line for each service, and one for each of its files.
  std::string Read() const {
    NodeFacts facts;
    StoreBootServices({.commands = {{"netplan.boot_services", Run()}}}, facts);
    const auto* services = Known(facts.network.boot_services);
    if (services == nullptr) return "unknown";
    std::string text;
    for (const BootService& service : *services) {
      text += service.name + (service.linked ? " linked " : " ") + service.active;
      for (const std::string& one : service.wanted_by) text += " <" + one;
      for (const std::string& one : service.installs) text += " >" + one;
      text += "\n";
      for (const BootFile& file : service.files) {
        text += "  " + std::filesystem::path(file.path).filename().string();
        for (const std::string& netdev : file.netdevs) text += " " + netdev;
        if (file.digest.size() != 64) text += " not read";
        text += file.configures ? " configures\n" : "\n";
      }
    }
    return text;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(BootServicesScript, AServiceIsFoundByTheScriptThatItRuns) {
  PutService("fabric.service", "-/bin/sh -e " + Path("set.sh") + " \\\n  now");
  Put("set.sh", "#!/bin/sh\n# enP7s7\nip address add 10.0.0.1/24 dev enp1s0f1np1\n");
  Enable("fabric.service");
  EXPECT_EQ(Read(),
            "fabric.service active <multi-user.target.wants >multi-user.target.wants\n"
            "  fabric.service\n"
            "  set.sh enp1s0f1np1 configures\n");
}

TEST_F(BootServicesScript, AServiceIsFoundByItsOwnTextItsDropInsAndItsEnvironmentFile) {
  Put("units/a.service", "[Service]\nEnvironmentFile=-" + Path("env") + "\n" + kInstall);
  Put("units/a.service.d/x.conf", "[Service]\nExecStart=/sbin/ip link set enP2p1s0f1np1 up\n");
  Put("env", "DEV=enp1s0f1np1\n");
  EXPECT_EQ(Read(),
            "a.service active >multi-user.target.wants\n"
            "  a.service\n"
            "  env enp1s0f1np1\n"
            "  x.conf enP2p1s0f1np1 configures\n");
}

TEST_F(BootServicesScript, OnlyTheWholeNameOfAnInterfaceCounts) {
  PutService("a.service", Path("a"));
  Put("a", "ip link set enp1s0f1np10 enp1s0f1np1x xenp1s0f1np1 my-enp1s0f1np1\n");
  EXPECT_EQ(Read(), "a.service active >multi-user.target.wants\n");
  for (const char* text : {"\"enp1s0f1np1\"", "/sys/class/net/enp1s0f1np1/mtu", "x=enp1s0f1np1;",
                           "net.ipv4.conf.enp1s0f1np1.rp_filter", "enp1s0f1np1.100"}) {
    Put("a", text);
    EXPECT_EQ(Read(), "a.service active >multi-user.target.wants\n  a.service\n  a enp1s0f1np1\n")
        << text;
  }
}

TEST_F(BootServicesScript, WhatShowsAnInterfaceDoesNotConfigureIt) {
  PutService("a.service", Path("a"));
  const auto configures = [&](const std::string& line) {
    Put("a", "port=enp1s0f1np1\n" + line + "\n");
    return Read().find("configures") != std::string::npos;
  };
  for (const char* line :
       {"ip a add 10.0.0.1/24 dev $port", "/usr/sbin/ifconfig $port up", "nmcli con up mesh",
        "netplan apply", "ip link show $port || ip link set $port up",
        "echo 9000 > /sys/class/net/$port/mtu", "  networkctl reload", "ip -batch /etc/ports",
        "ip link set dev $port mtu 9000 2>/dev/null", "mlnx_qos -i $port --trust dscp",
        "dcb pfc set dev $port prio-pfc 3:on"}) {
    EXPECT_TRUE(configures(line)) << line;
  }
  for (const char* line :
       {"ip -br address show dev $port", "ip link ls", "# ip link set $port up", "tcpdump -i $port",
        "cat /sys/class/net/$port/mtu", "nmcli dev status", "ip=$(hostname -I | cut -d' ' -f1)",
        "address=$(ip -4 addr | awk '/inet /{print $2}')", "ip route get 192.168.1.1",
        "mlnx_qos -i $port", "dcb pfc show dev $port"}) {
    EXPECT_FALSE(configures(line)) << line;
  }
}

TEST_F(BootServicesScript, OtherProgramsThatSetWhatARestartLosesAreNamed) {
  Put("units/a.service",
      "[Unit]\nAfter=modprobe@fuse.service\n[Service]\nExecStartPre=" + Path("bin/ethtool") +
          " -K x\nExecStart=" + Path("a") + "\n" + kInstall);
  Put("a",
      "# tc\nip link set enp1s0f1np1 up\n/usr/sbin/sysctl -w a=1; sysctl -w b=1\nmodprobe c\n");
  NodeFacts facts;
  StoreBootServices({.commands = {{"netplan.boot_services", Run()}}}, facts);
  const auto* services = Known(facts.network.boot_services);
  ASSERT_TRUE(services != nullptr && services->size() == 1 && (*services)[0].files.size() == 2);
  const std::vector<BootFile>& files = (*services)[0].files;
  EXPECT_EQ(files[0].also_runs, std::vector<std::string>{"ethtool"});
  EXPECT_EQ(files[1].also_runs, (std::vector<std::string>{"modprobe", "sysctl"}));
  Put("a", "sysctl -w a=1\n");  // of no interface
  EXPECT_EQ(Read(), "a.service  >multi-user.target.wants\n");
}

// As a guide for two Sparks with one cable has them: one unit turns ports off at each boot, the
// other sets buffers and an MTU. What the first one says of a port that is not ours counts too.
TEST_F(BootServicesScript, ScriptsThatTurnPortsOffOrTuneThemAtBootAreNamed) {
  for (const char* name : {"disable-unused-nics", "rdma-optimize"}) {
    Put(std::string("units/") + name + ".service",
        "[Unit]\nDescription=Ports of the mesh\nAfter=network.target\n[Service]\nType=oneshot\n"
        "RemainAfterExit=yes\nExecStart=" +
            Path(std::string(name) + ".sh") + "\n" + kInstall);
    Enable(std::string(name) + ".service");
  }
  Put("disable-unused-nics.sh",
      "#!/bin/bash\n# ports without a cable\n"
      "ip link set dev enp1s0f1np1 down 2>/dev/null\nip link set dev enP7s7 down 2>/dev/null\n"
      "echo \"off since $(date)\"\n");
  Put("rdma-optimize.sh",
      "#!/bin/bash\nsysctl -w net.core.rmem_max=268435456\n"
      "ip link set dev enP2p1s0f1np1 mtu 9000 2>/dev/null\n"
      "modprobe nvidia-peermem 2>/dev/null || true\n");
  const std::string enabled = " active <multi-user.target.wants >multi-user.target.wants\n  ";
  EXPECT_EQ(Read(), "disable-unused-nics.service" + enabled +
                        "disable-unused-nics.service\n"
                        "  disable-unused-nics.sh enP7s7 enp1s0f1np1 configures\n"
                        "rdma-optimize.service" +
                        enabled +
                        "rdma-optimize.service\n"
                        "  rdma-optimize.sh enP2p1s0f1np1 configures\n");
  // A service that only tunes kernel settings names no port.
  Put("rdma-optimize.sh", "#!/bin/bash\nsysctl -w net.core.rmem_max=268435456\n");
  EXPECT_EQ(Read().find("rdma-optimize.sh"), std::string::npos);
}

// As the script of a model server has them.
TEST_F(BootServicesScript, AVariableOfNcclNamesNoInterfaceThatIsConfigured) {
  PutService("a.service", Path("a"));
  Put("a",
      "export NCCL_SOCKET_IFNAME=enp1s0f1np1,enP2p1s0f1np1\n"
      "exec docker run -e GLOO_SOCKET_IFNAME=enp1s0f1np1 image\n");
  EXPECT_EQ(Read(), "a.service  >multi-user.target.wants\n");  // not even queried
  Put("a", "NCCL_SOCKET_IFNAME=enp1s0f1np1 ip link set enp1s0f1np1 up\n");
  EXPECT_EQ(Read(),
            "a.service active >multi-user.target.wants\n  a.service\n  a enp1s0f1np1 configures\n");
}

TEST_F(BootServicesScript, NoTextOfAFileIsPrinted) {
  PutService("a.service", Path("a") + " --password=hunter2");
  Put("a", "password=hunter2\nip address add 10.11.12.13/24 dev enp1s0f1np1\n");
  const CommandReply reply = Run();
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.err, "");
  for (const char* text : {"hunter2", "10.11.12.13", "Description"}) {
    EXPECT_EQ(reply.out.find(text), std::string::npos) << reply.out;
  }
}

TEST_F(BootServicesScript, ProgramsAndLargeFilesAndWhatIsNoFileArePassedOver) {
  PutService("a.service", "/bin/sh " + Path("large") + " " + Path("program") + " " + Path("pipe") +
                              " /dev/zero " + Path("gone") + " " + Path("units"));
  Put("large", std::string(70000, '\n') + "ip link set enp1s0f1np1 up\n");
  Put("program", std::string("\177ELF\2\1\1\0 ip link set enp1s0f1np1 up\n", 36));
  ASSERT_EQ(std::system(("mkfifo " + Path("pipe")).c_str()), 0);
  EXPECT_EQ(Read(), "a.service  >multi-user.target.wants\n");
}

TEST_F(BootServicesScript, ALargeTextBesideOneThatNamesAnInterfaceIsKnownByItsPathAlone) {
  PutService("a.service", "/bin/sh " + Path("small") + " " + Path("large"));
  Put("small", "ip link set enp1s0f1np1 up\n");
  Put("large", std::string(70000, '\n') + "ip link set enP7s7 up\n");
  EXPECT_EQ(Read(),
            "a.service active >multi-user.target.wants\n"
            "  a.service\n"
            "  large not read\n"
            "  small enp1s0f1np1 configures\n");
}

TEST_F(BootServicesScript, HostileNamesAndTextsMakeNoLineOfTheirOwn) {
  Put("units/a b.service", "[Service]\nExecStart=/sbin/ip link set enp1s0f1np1 up\n");
  Put("units/$(id)\n.service", "[Service]\nExecStart=/sbin/ip link set enp1s0f1np1 up\n");
  PutService("a.service",
             "/bin/sh -c 'ip link set enp1s0f1np1 up; cat /x\\nservice evil.service file'");
  Put("units/b.service", std::string("\xff\xfe[Service]\r\nExecStart=\"/$(id)/`x`\" *\n\xc3\x28") +
                             std::string(5000, 'a') + "\n[Install]\nWantedBy=../../etc $(id)\n");
  EXPECT_EQ(Read(),
            "a.service active >multi-user.target.wants\n"
            "  a.service enp1s0f1np1 configures\n"
            "b.service active >other\n");
}

TEST_F(BootServicesScript, OurOwnUnitsArePassedOver) {
  Put("units/note.service",
      "# Written by spark-reconcile for cluster lab (body sha256 0).\n[Service]\n"
      "ExecStart=/sbin/ip link set enp1s0f1np1 up\n");
  PutService("spark-reconcile-guard-boot.service", "/sbin/ip link set enp1s0f1np1 up");
  EXPECT_EQ(Read(), "note.service \n");
}

TEST_F(BootServicesScript, AUnitThatIsALinkAndWhatElseIsEnabledWithItAreKnown) {
  Put("far.service", "[Service]\nExecStart=/sbin/ip link set enp1s0f1np1 up\n" +
                         std::string(kInstall) + "Also=b.service\n");
  std::filesystem::create_directories(Path("units"));
  std::filesystem::create_symlink(Path("far.service"), Path("units/far.service"));
  EXPECT_EQ(Read(),
            "far.service linked active >multi-user.target.wants >other\n"
            "  far.service enp1s0f1np1 configures\n");
}

TEST_F(BootServicesScript, AnEnabledInstanceHasWhatItsTemplateHas) {
  PutService("mesh@.service", Path("set.sh") + " %i");
  Put("set.sh", "ip link set \"$1\" up\n");
  Put("units/mesh@enp1s0f1np1.service.d/x.conf",
      "[Service]\nEnvironmentFile=" + Path("env") + "\n");
  Put("env", "OTHER=enP7s7\n");
  Enable("mesh@enp1s0f1np1.service");
  Enable("mesh@enP7s7.service");
  Enable("none@enp1s0f1np1.service");
  const std::string files = "  mesh@.service\n";
  EXPECT_EQ(Read(),
            "mesh@.service  >multi-user.target.wants\n" + files + "  set.sh configures\n" +
                "mesh@enP7s7.service active <multi-user.target.wants >multi-user.target.wants\n" +
                files + "  set.sh configures\n" +
                "mesh@enp1s0f1np1.service active <multi-user.target.wants "
                ">multi-user.target.wants\n" +
                files + "  env enP7s7\n  set.sh configures\n  x.conf\n");
}

TEST_F(BootServicesScript, AnEnabledTimerWantsWhatItStarts) {
  PutService("a.service", Path("a"));
  PutService("b.service", Path("a"));
  Put("a", "ip link set enp1s0f1np1 up\n");
  Put("units/a.timer", "[Timer]\nOnBootSec=5\n");
  Put("units/daily.timer", "[Timer]\nUnit = b.service\n");
  const std::string files = "  a enp1s0f1np1 configures\n";
  EXPECT_EQ(Read(), "a.service active >multi-user.target.wants\n  a.service\n" + files +
                        "b.service active >multi-user.target.wants\n  b.service\n" + files);
  Enable("a.timer");
  Enable("daily.timer");
  EXPECT_EQ(Read(), "a.service active <a.timer >multi-user.target.wants\n  a.service\n" + files +
                        "b.service active <daily.timer >multi-user.target.wants\n  b.service\n" +
                        files);
}

TEST_F(BootServicesScript, WhatAScriptCallsOrReadsIsLookedAtAndNothingFurther) {
  PutService("a.service", Path("a"));
  Put("a", "# " + Path("comment") + "\nif " + Path("b") + "; then . " + Path("c") + "; fi\ncat " +
               Path("d") + "\n/usr/bin/env sh\n");
  for (const char* name : {"b", "c", "d", "e", "comment"})
    Put(name, "ip link set enp1s0f1np1 up\n");
  Put("b", "ip link set enp1s0f1np1 up; " + Path("e") + "\n");
  for (const char* name : {"b", "e", "comment"}) {
    std::filesystem::permissions(Path(name), std::filesystem::perms::owner_all);
  }
  EXPECT_EQ(Read(),
            "a.service active >multi-user.target.wants\n  a.service\n  a\n"
            "  b enp1s0f1np1 configures\n  c enp1s0f1np1 configures\n");
}

constexpr const char* kSets =
    "#!/bin/sh\n# enP7s7\n[ \"$1\" = enp1s0f1np1 ] || exit 0\n"
    "ip address add 10.0.0.1/24 dev \"$1\"\n";

TEST_F(BootServicesScript, HooksOfDispatchersAreFoundWithTheLineThatNamesAPort) {
  PutHook("etc/NetworkManager/dispatcher.d/50-fabric", kSets);
  PutHook("etc/NetworkManager/dispatcher.d/pre-up.d/a", "ip link set enP2p1s0f1np1 mtu 9000\n");
  PutHook("etc/NetworkManager/dispatcher.d/no-wait.d/b", kSets);
  PutHook("etc/NetworkManager/dispatcher.d/pre-down.d/c", kSets);
  PutHook("etc/NetworkManager/dispatcher.d/shows", "ip address show dev enp1s0f1np1\n");
  PutHook("etc/NetworkManager/dispatcher.d/other", "ip link set eth9 up\n");
  Put("etc/NetworkManager/dispatcher.d/not-executable", kSets);
  PutHook("etc/NetworkManager/dispatcher.d/spark-reconcile-x", kSets);
  PutHook("etc/NetworkManager/dispatcher.d/two words", kSets);
  EXPECT_EQ(ReadHooks(),
            "NetworkManager/dispatcher.d/50-fabric enp1s0f1np1:3\n"
            "NetworkManager/dispatcher.d/no-wait.d/b enp1s0f1np1:3\n"
            "NetworkManager/dispatcher.d/pre-up.d/a enP2p1s0f1np1:1\n");
}

TEST_F(BootServicesScript, HooksAreFoundBesideServices) {
  PutService("a.service", Path("a"));
  Put("a", "ip link set enp1s0f1np1 up\n");
  PutHook("etc/NetworkManager/dispatcher.d/50-fabric", kSets);
  EXPECT_EQ(Read(),
            "a.service active >multi-user.target.wants\n  a.service\n"
            "  a enp1s0f1np1 configures\n");
  EXPECT_EQ(ReadHooks(), "NetworkManager/dispatcher.d/50-fabric enp1s0f1np1:3\n");
}

TEST_F(BootServicesScript, HooksOfADispatcherThatIsNotInstalledHaveNoEffect) {
  PutHook("etc/networkd-dispatcher/routable.d/10-fabric", kSets);
  Put("etc/network/interfaces", "iface enp1s0f1np1 inet static\n");
  PutHook("etc/network/if-up.d/fabric", kSets);
  const bool has_ifupdown = std::filesystem::exists("/usr/sbin/ifup");
  const bool has_dispatcher = std::filesystem::exists("/usr/bin/networkd-dispatcher");
  if (!has_ifupdown && !has_dispatcher) {
    EXPECT_EQ(ReadHooks(), "");
  }
  PutHook("bin/ifup", "");
  PutHook("bin/networkd-dispatcher", "");
  EXPECT_EQ(ReadHooks(),
            "network/if-up.d/fabric enp1s0f1np1:3\nnetwork/interfaces enp1s0f1np1:1\n"
            "networkd-dispatcher/routable.d/10-fabric enp1s0f1np1:3\n");
}

TEST_F(BootServicesScript, OfIfupdownAnIfaceOrACommandOfAPortCounts) {
  PutHook("bin/ifup", "");
  Put("etc/network/interfaces",
      "auto enp1s0f1np1\n# iface enp1s0f1np1 inet dhcp\niface enP7s7 inet dhcp\n"
      "  description ip link set enp1s0f1np1 up\n");
  Put("etc/network/interfaces.d/fabric",
      "auto lo\niface lo inet loopback\n"
      "  post-up ip link set enP2p1s0f1np1 up\n");
  EXPECT_EQ(ReadHooks(),
            "network/interfaces enP7s7:3\nnetwork/interfaces.d/fabric enP2p1s0f1np1:3\n");
}

TEST_F(BootServicesScript, ARuleOfUdevByMacIsForThePortThatHasTheAddressItself) {
  Put("nets/enP7s7/address", "02:53:50:00:01:04\n");  // of their bond
  Put("nets/enp1s0f1np1/address", "02:53:50:00:01:04\n");
  Put("nets/enP7s7/bonding_slave/perm_hwaddr", "02:53:50:00:01:05\n");
  Put("nets/enp1s0f1np1/bonding_slave/perm_hwaddr", "02:53:50:00:01:04\n");
  Put("etc/udev/rules.d/10-mac.rules",
      "ATTR{address}==\"02:53:50:00:01:04\", NAME=\"a\"\n"
      "ATTR{address}==\"02:53:50:00:01:05\", NAME=\"b\"\n");
  EXPECT_EQ(ReadHooks(), "udev/rules.d/10-mac.rules enP7s7:2 enp1s0f1np1:1\n");
}

TEST_F(BootServicesScript, RulesOfUdevAreFoundByNameMacAndPciAddress) {
  Put("nets/enp1s0f1np1/address", "02:53:50:00:01:04\n");
  const std::string at = "etc/udev/rules.d/";
  Put(at + "10-mac.rules",
      "# ATTR{address}==\"02:53:50:00:01:04\", NAME=\"x\"\n\n"
      "SUBSYSTEM==\"net\", \\\n  ATTR{address}==\"02:53:50:00:01:04\", NAME=\"fab0\"\n");
  Put(at + "20-pci.rules", "KERNELS==\"0002:01:00.1\", ENV{NM_UNMANAGED}=\"1\"\n");
  Put(at + "30-run.rules", "KERNEL==\"enp1s0f1np1\", RUN+=\"/usr/local/sbin/x\"\n");
  Put(at + "40-mtu.rules", "ACTION==\"add\", KERNEL==\"enp1s0f1np1\", ATTR{mtu}=\"9000\"\n");
  Put(at + "50-tag.rules", "KERNEL==\"enp1s0f1np1\", NAME==\"x\", TAG+=\"systemd\"\n");
  Put(at + "60-other.rules", "KERNEL==\"eth9\", NAME=\"eth10\"\n");
  Put(at + "70-no-rules", "KERNEL==\"enp1s0f1np1\", NAME=\"x\"\n");
  EXPECT_EQ(ReadHooks(),
            "udev/rules.d/10-mac.rules enp1s0f1np1:3\n"
            "udev/rules.d/20-pci.rules enP2p1s0f1np1:1\n"
            "udev/rules.d/30-run.rules enp1s0f1np1:1\n"
            "udev/rules.d/40-mtu.rules enp1s0f1np1:1\n");
}

TEST_F(BootServicesScript, NoTextOfAHookIsPrinted) {
  PutHook("etc/NetworkManager/dispatcher.d/50-fabric",
          "key=secret\nip address add 10.9.8.7/24 dev enp1s0f1np1\n");
  EXPECT_EQ(Run().out.find("secret"), std::string::npos);
  EXPECT_EQ(Run().out.find("10.9.8.7"), std::string::npos);
}

TEST_F(BootServicesScript, AHookThatIsTooLargeOrAProgramIsPassedOver) {
  PutHook("etc/NetworkManager/dispatcher.d/large", kSets + std::string(70000, '#'));
  PutHook("etc/NetworkManager/dispatcher.d/program", "\001\002\003 ip link set enp1s0f1np1 up\n");
  EXPECT_EQ(ReadHooks(), "");
}

TEST_F(BootServicesScript, WithoutServicesThereIsNothing) {
  EXPECT_EQ(Read(), "");
  EXPECT_EQ(Run().exit_code, 0);
}

}  // namespace
}  // namespace reconciler::plugins::netplan
