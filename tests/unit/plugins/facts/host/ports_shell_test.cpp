#include "plugins/facts/host/ports.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins::host {
namespace {

class PortsScript : public reconciler::test::ScriptTree {
 protected:
  // As on a Spark: a netdev leads to its PCI function.
  void AddPort(const std::string& netdev, const std::string& pci,
               const std::string& carrier = "1\n") const {
    AddFunction(pci);
    Put("/sys/class/net/" + netdev + "/carrier", carrier);
    PutFolder("/sys/devices/pci0000:00/" + pci);
    PutLink("/sys/class/net/" + netdev + "/device", "/sys/devices/pci0000:00/" + pci);
  }
  void AddDriver(const std::string& device, const std::string& driver) const {
    PutFolder("/sys/bus/pci/drivers/" + driver);
    PutLink("/sys/devices/pci0000:00/" + device + "/driver", "/sys/bus/pci/drivers/" + driver);
  }
  void AddFunction(const std::string& pci) const { PutFolder("/sys/bus/pci/devices/" + pci); }

  CommandReply RunFor(const std::vector<std::string>& ports) const {
    std::vector<std::string> argv = MakePortsProbe({}, {}).argv;
    argv.resize(4);  // without the ports of a hardware profile
    argv.insert(argv.end(), ports.begin(), ports.end());
    return Run(argv);
  }
  CommandReply RunEthtool(const std::vector<std::string>& netdevs) const {
    std::vector<std::string> argv = MakeEthtoolProbe({}, {}).argv;
    argv.resize(4);
    argv.insert(argv.end(), netdevs.begin(), netdevs.end());
    return Run(argv);
  }
};

TEST_F(PortsScript, FunctionsArePrintedAndNoProgramIsStarted) {
  AddPort("enp1s0f0np0", "0000:01:00.0");
  PutFolder("/sys/class/net/lo");
  PutProgram("ethtool", "echo forked; exit 1");
  const CommandReply reply = RunFor({"enp1s0f0np0=0000:01:00.0"});
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out,
            "pci 0000:01:00.0 enp1s0f0np0\n"
            "function 0000:01:00.0\n");
}

TEST_F(PortsScript, WhatEthtoolReportsIsPrintedForPortsThatAreThere) {
  AddPort("enp1s0f0np0", "0000:01:00.0");
  PutProgram("ethtool", R"(
    case $1 in
      --show-fec) printf 'FEC parameters for %s:\nSupported/Configured FEC encodings: Auto\n' "$2"
                  printf 'Active FEC encodings: RS BaseR\n' ;;
      -S) printf '     rx_bytes: 7\n     rx_crc_errors_phy: 3\n     link_down_events_phy: 1\n' ;;
      *) printf '\tSpeed: 200000Mb/s\n\tLanes: 4\n' ;;
    esac)");
  const CommandReply reply = RunEthtool({"enp1s0f0np0", "enp1s0f1np1"});
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out,
            "fec enp1s0f0np0 RS BaseR\n"
            "lanes enp1s0f0np0 4\n"
            "errors enp1s0f0np0 3 rx_crc_errors_phy\n"
            "errors enp1s0f0np0 1 link_down_events_phy\n");
}

TEST_F(PortsScript, TheDriverOfEachDeviceIsPrintedWithoutAnotherProgram) {
  PutProgram("readlink", "echo forked; exit 1");
  PutProgram("basename", "echo forked; exit 1");
  AddPort("enp3s0f0np0", "0000:03:00.0");
  AddDriver("0000:03:00.0", "mlx5_core");
  AddPort("enp4s0", "0000:04:00.0");  // no driver can be named
  AddPort("eth0", "virtio3");
  AddDriver("virtio3", "virtio_net");
  PutFolder("/sys/class/net/enp1s0f0np0");  // of software: there is no device behind it
  const CommandReply reply = RunFor({});
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.err, "");
  EXPECT_EQ(reply.out,
            "pci 0000:03:00.0 enp3s0f0np0\n"
            "driver enp3s0f0np0 mlx5_core\n"
            "pci 0000:04:00.0 enp4s0\n"
            "pci virtio3 eth0\n"
            "driver eth0 virtio_net\n");
}

TEST_F(PortsScript, WithoutCarrierAPortHasCountersOnly) {
  PutProgram("ethtool", R"(
    case $1 in
      -S) echo '     rx_crc_errors_phy: 3' ;;
      --show-fec) echo 'Active FEC encodings: RS' ;;
      *) printf '\tLanes: 4\n' ;;
    esac)");
  AddPort("enp1s0f0np0", "0000:01:00.0", "0\n");
  EXPECT_EQ(RunEthtool({"enp1s0f0np0"}).out, "errors enp1s0f0np0 3 rx_crc_errors_phy\n");
}

TEST_F(PortsScript, AFunctionWithoutANetdevIsPrintedAndOneThatIsGoneIsNot) {
  AddFunction("0000:01:00.1");
  const CommandReply reply = RunFor({"enp1s0f1np1=0000:01:00.1", "enp2s0f0np0=0000:02:00.0"});
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, "function 0000:01:00.1\n");
}

TEST_F(PortsScript, AnEthtoolThatFailsLeavesThePortWithoutItsWords) {
  AddPort("enp1s0f0np0", "0000:01:00.0");
  PutProgram("ethtool", "echo 'netlink error: Operation not supported' >&2; exit 75");
  const CommandReply reply = RunEthtool({"enp1s0f0np0"});
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, "");
}

}  // namespace
}  // namespace reconciler::plugins::host
