#include "reconciler/fabric/found/locate_ports.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconciler/base/text.h"
#include "reconciler/fabric/expand.h"
#include "tests/support/clusters.h"

namespace reconciler {
namespace {

using test::Cluster;
using test::Node;
using testing::ElementsAre;
using testing::IsEmpty;

const Hardware& Spark() { return GetDgxSpark(); }

// The built-in profile of a card with two ports in one slot.
const Hardware& Workstation() { return GetBuiltInHardware().back(); }

struct Port {
  std::string netdev = {};
  std::string pci = {};
  std::string port_name = {};
  std::string hca = {};
  std::string card = {};
  std::string driver = "mlx5_core";
};

NodeFacts MakeNode(const std::vector<Port>& ports) {
  NodeFacts facts{.node = "spark-1"};
  facts.links["enP7s7"] = {.driver = "r8127"};
  facts.network.pci["0007:01:00.0"] = "enP7s7";
  for (const Port& port : ports) {
    facts.links[port.netdev] = {.phys_port_name = port.port_name, .driver = port.driver};
    if (!port.pci.empty()) facts.network.pci[port.pci] = port.netdev;
    if (!port.hca.empty()) facts.hcas[port.hca] = {.netdev = port.netdev, .system_guid = port.card};
  }
  return facts;
}

std::string_view Describe(FoundBy by) {
  switch (by) {
    case FoundBy::kName:
      return "name";
    case FoundBy::kPciAddress:
      return "PCI address";
    case FoundBy::kPortName:
      return "port name";
  }
  return "";
}

// "enp1s0f0np0 is enp3s0f0np0 mlx5_0 0000:03:00.0 by port name"; "enp1s0f0np0 by name".
std::vector<std::string> Located(const Hardware& hardware, const NodeFacts& facts) {
  std::vector<std::string> lines;
  for (const LocatedPort& port : LocatePorts(hardware, facts).located) {
    const bool same = port.found == port.profile;
    lines.push_back(fmt::format(
        "{}{} by {}", port.profile.netdev,
        same ? "" : fmt::format(" is {} {} {}", port.found.netdev, port.found.hca, port.found.pci),
        Describe(port.by)));
  }
  return lines;
}

// "p0: enp1s0f0np0 of enp3s0f0np0, enp4s0f0np0"
std::vector<std::string> Unclear(const Hardware& hardware, const NodeFacts& facts) {
  std::vector<std::string> lines;
  for (const UnclearPorts& ports : LocatePorts(hardware, facts).unclear) {
    std::vector<std::string> missing;
    std::vector<std::string> candidates;
    for (const Twin& one : ports.missing) missing.push_back(one.netdev);
    for (const Twin& one : ports.candidates) candidates.push_back(one.netdev);
    lines.push_back(fmt::format("{}: {} of {}", ports.cage, reconciler::Join(missing, ", "),
                                reconciler::Join(candidates, ", ")));
  }
  return lines;
}

// A card in slot 3 of a workstation, whose HCAs are numbered.
std::vector<Port> CardInSlot3() {
  return {{"enp3s0f0np0", "0000:03:00.0", "p0", "mlx5_0", "card-3"},
          {"enp3s0f1np1", "0000:03:00.1", "p1", "mlx5_1", "card-3"}};
}

TEST(LocatePorts, PortsThatHaveTheirNamesAreFoundWhateverTheirDeviceIs) {
  const NodeFacts facts = MakeNode({{.netdev = "enp1s0f0np0", .driver = ""},
                                    {.netdev = "enp1s0f1np1", .driver = "virtio_net"},
                                    {"enP2p1s0f0np0", "0009:01:00.0", "p1"}});
  EXPECT_THAT(Located(Spark(), facts),
              ElementsAre("enp1s0f0np0 by name", "enP2p1s0f0np0 by name", "enp1s0f1np1 by name"));
  EXPECT_THAT(Unclear(Spark(), facts), IsEmpty());
  EXPECT_FALSE(AreElsewhere(LocatePorts(Spark(), facts)));
}

TEST(LocatePorts, APortOfAnotherNameIsFoundByItsPciAddress) {
  const NodeFacts facts = MakeNode({{"eth2", "0000:01:00.0", ""},
                                    {"eth3", "0000:01:00.1", "p1", "rocep1s0f1"},
                                    {"enP2p1s0f0np0", "0002:01:00.0", "p0"}});
  EXPECT_THAT(Located(Spark(), facts),
              ElementsAre("enp1s0f0np0 is eth2 rocep1s0f0 0000:01:00.0 by PCI address",
                          "enP2p1s0f0np0 by name",
                          "enp1s0f1np1 is eth3 rocep1s0f1 0000:01:00.1 by PCI address"));
  EXPECT_TRUE(AreElsewhere(LocatePorts(Spark(), facts)));
}

TEST(LocatePorts, WhatHasThePciAddressAndAnotherDriverOrPortNameIsNotThePort) {
  const NodeFacts facts = MakeNode({{.netdev = "eno1", .pci = "0000:01:00.0", .driver = "igb"},
                                    {.netdev = "eno2", .pci = "0000:01:00.1", .driver = ""},
                                    {"eth4", "0002:01:00.1", "p0"}});
  EXPECT_THAT(Located(Spark(), facts), IsEmpty());
  EXPECT_THAT(Unclear(Spark(), facts), ElementsAre("p0: enp1s0f0np0, enP2p1s0f0np0 of eth4"));
}

TEST(LocatePorts, ACardInAnotherSlotIsFoundByDriverAndPortName) {
  EXPECT_THAT(Located(Workstation(), MakeNode(CardInSlot3())),
              ElementsAre("enp1s0f0np0 is enp3s0f0np0 mlx5_0 0000:03:00.0 by port name",
                          "enp1s0f1np1 is enp3s0f1np1 mlx5_1 0000:03:00.1 by port name"));
}

TEST(LocatePorts, ThePciAddressComesBeforeThePortName) {
  std::vector<Port> ports = CardInSlot3();
  ports.push_back({"eth2", "0000:01:00.0", "p0", "mlx5_2", "card-1"});
  // The rest of that card is not there, and slot 3 has another one.
  EXPECT_THAT(Located(Workstation(), MakeNode(ports)),
              ElementsAre("enp1s0f0np0 is eth2 mlx5_2 0000:01:00.0 by PCI address"));
  EXPECT_THAT(Unclear(Workstation(), MakeNode(ports)), IsEmpty());
}

TEST(LocatePorts, TwinsAreInTheOrderOfTheirPciDomains) {
  const NodeFacts facts = MakeNode({{"d", "0006:05:00.1", "p1", "mlx5_3", "card"},
                                    {"c", "0006:05:00.0", "p0", "mlx5_2", "card"},
                                    {"b", "0004:05:00.1", "p1", "mlx5_1", "card"},
                                    {"a", "0004:05:00.0", "p0", "mlx5_0", "card"}});
  EXPECT_THAT(Located(Spark(), facts),
              ElementsAre("enp1s0f0np0 is a mlx5_0 0004:05:00.0 by port name",
                          "enP2p1s0f0np0 is c mlx5_2 0006:05:00.0 by port name",
                          "enp1s0f1np1 is b mlx5_1 0004:05:00.1 by port name",
                          "enP2p1s0f1np1 is d mlx5_3 0006:05:00.1 by port name"));
}

TEST(LocatePorts, ATwinIsFoundBesideOneThatHasItsName) {
  const NodeFacts facts = MakeNode({{"enp1s0f0np0", "0000:01:00.0", "p0", "rocep1s0f0", "card"},
                                    {"eth4", "0004:01:00.0", "p0", "mlx5_4", "card"}});
  EXPECT_THAT(
      Located(Spark(), facts),
      ElementsAre("enp1s0f0np0 by name", "enP2p1s0f0np0 is eth4 mlx5_4 0004:01:00.0 by port name"));
}

TEST(LocatePorts, WithASecondCardBesideItIsUnclearWhichOneIsMeant) {
  std::vector<Port> ports = CardInSlot3();
  ports.push_back({"enp4s0np0", "0000:04:00.0", "p0", "mlx5_2", "card-4"});
  const NodeFacts facts = MakeNode(ports);
  // p1 is the only one, and may be of the card that is not meant, whose fellow is gone.
  EXPECT_THAT(
      Unclear(Workstation(), facts),
      ElementsAre("p0: enp1s0f0np0 of enp3s0f0np0, enp4s0np0", "p1: enp1s0f1np1 of enp3s0f1np1"));
  EXPECT_THAT(Located(Workstation(), facts), IsEmpty());
}

TEST(LocatePorts, OneFunctionForTwoTwinsIsUnclear) {
  EXPECT_THAT(Unclear(Spark(), MakeNode(CardInSlot3())),
              ElementsAre("p0: enp1s0f0np0, enP2p1s0f0np0 of enp3s0f0np0",
                          "p1: enp1s0f1np1, enP2p1s0f1np1 of enp3s0f1np1"));
}

TEST(LocatePorts, APortOfWhichThereIsNothingIsMissing) {
  const NodeFacts facts =
      MakeNode({{"enp1s0f0np0", "0000:01:00.0", "p0"}, {"enP2p1s0f0np0", "0002:01:00.0", "p0"}});
  EXPECT_THAT(Located(Spark(), facts), ElementsAre("enp1s0f0np0 by name", "enP2p1s0f0np0 by name"));
  EXPECT_THAT(Unclear(Spark(), facts), IsEmpty());
  EXPECT_THAT(Located(Spark(), MakeNode({})), IsEmpty());
  EXPECT_THAT(Unclear(Spark(), MakeNode({})), IsEmpty());
}

TEST(LocatePorts, VirtualFunctionsAndWhatStandsForThemAreNoPorts) {
  std::vector<Port> ports = CardInSlot3();
  ports.push_back({"enp3s0f0v0", "0000:03:00.2", "", "mlx5_2", "card-3"});
  ports.push_back({"enp3s0f0npf0vf0", "0000:03:00.3", "pf0vf0"});
  EXPECT_EQ(Located(Workstation(), MakeNode(ports)),
            Located(Workstation(), MakeNode(CardInSlot3())));
  EXPECT_THAT(Unclear(Workstation(), MakeNode(ports)), IsEmpty());
}

TEST(LocatePorts, APortOfAnotherDriverIsNone) {
  std::vector<Port> ports = CardInSlot3();
  ports.push_back({"ens5f0np0", "0000:05:00.0", "p0", "irdma0", "", "ice"});
  EXPECT_EQ(Located(Workstation(), MakeNode(ports)),
            Located(Workstation(), MakeNode(CardInSlot3())));
}

TEST(LocatePorts, APortOfAnotherCardDoesNotTakeThePlaceOfOneThatIsGone) {
  std::vector<Port> ports = {{"enp1s0f0np0", "0000:01:00.0", "p0", "rocep1s0f0", "card-1"},
                             {"enp3s0f1np1", "0000:03:00.1", "p1", "mlx5_1", "card-3"}};
  EXPECT_THAT(Located(Workstation(), MakeNode(ports)), ElementsAre("enp1s0f0np0 by name"));
  EXPECT_THAT(Unclear(Workstation(), MakeNode(ports)), IsEmpty());
  // Without RDMA devices no GUID shows that. Their places do.
  for (Port& port : ports) port.hca.clear();
  EXPECT_THAT(Located(Workstation(), MakeNode(ports)), ElementsAre("enp1s0f0np0 by name"));
  EXPECT_THAT(Unclear(Workstation(), MakeNode(ports)),
              ElementsAre("p1: enp1s0f1np1 of enp3s0f1np1"));
}

TEST(LocatePorts, TwoCardsAreNoTwins) {
  const std::vector<std::string> unclear = {"p0: enp1s0f0np0, enP2p1s0f0np0 of a, c",
                                            "p1: enp1s0f1np1, enP2p1s0f1np1 of b, d"};
  // In two domains, and two GUIDs.
  EXPECT_EQ(Unclear(Spark(), MakeNode({{"a", "0000:03:00.0", "p0", "mlx5_0", "card-3"},
                                       {"b", "0000:03:00.1", "p1", "mlx5_1", "card-3"},
                                       {"c", "0001:03:00.0", "p0", "mlx5_2", "card-4"},
                                       {"d", "0001:03:00.1", "p1", "mlx5_3", "card-4"}})),
            unclear);
  // In one domain.
  EXPECT_EQ(Unclear(Spark(), MakeNode({{"a", "0000:03:00.0", "p0"},
                                       {"b", "0000:03:00.1", "p1"},
                                       {"c", "0000:04:00.0", "p0"},
                                       {"d", "0000:04:00.1", "p1"}})),
            unclear);
}

TEST(LocatePorts, TwoCardsWithOnePortEachAreNoCardWithTwo) {
  EXPECT_THAT(
      Unclear(Workstation(), MakeNode({{"a", "0000:03:00.0", "p0"}, {"b", "0000:04:00.0", "p1"}})),
      ElementsAre("p0: enp1s0f0np0 of a", "p1: enp1s0f1np1 of b"));
}

TEST(LocatePorts, ANameThatFilesWouldHaveToQuoteIsNoPort) {
  for (const std::string name : {"a b", "a:b", "a{", "a\n", "a'", "-a", ""}) {
    const NodeFacts facts = MakeNode({{name, "0000:03:00.0", "p0"}});
    EXPECT_THAT(Located(Workstation(), facts), IsEmpty()) << name;
    EXPECT_THAT(Unclear(Workstation(), facts), IsEmpty()) << name;
  }
}

TEST(LocatePorts, OtherBusesThanPciHaveNoPorts) {
  for (const std::string place : {"virtio3", "mlx5_core.sf.4", "0000:03:00", "0000:03:00.0x"}) {
    EXPECT_THAT(Located(Workstation(), MakeNode({{"eth0", place, "p0"}})), IsEmpty()) << place;
  }
}

ClusterSpec Mixed() {
  ClusterSpec cluster = Cluster(Topology::kDirect, {Node(1, "p0"), Node(2, "p0")}, 1);
  cluster.file = "cluster.yaml";
  cluster.nodes[1].hardware = Workstation().name;
  cluster.nodes[1].position = {.line = 7, .column = 5};
  return cluster;
}

ClusterFacts MixedFacts() {
  ClusterFacts facts;
  facts.nodes["spark-1"] = MakeNode({{"enp1s0f0np0", "0000:01:00.0", "p0"}});
  facts.nodes["spark-2"] = MakeNode(CardInSlot3());
  return facts;
}

TEST(LocatedCluster, PortsHaveTheNamesOfTheNode) {
  const ClusterSpec cluster = Mixed();
  const auto fabric = ExpandFabric(cluster);
  ASSERT_TRUE(fabric) << FormatErrors(fabric.error());
  const LocatedCluster located(cluster, *fabric, MixedFacts());
  EXPECT_TRUE(located.differs());
  const RailPort& port = located.fabric().ports.at("spark-2").front();
  EXPECT_EQ(port.netdev, "enp3s0f0np0");
  EXPECT_EQ(port.hca, "mlx5_0");
  EXPECT_EQ(located.fabric().segments.front().ports.back().netdev, "enp3s0f0np0");
  EXPECT_THAT(located.fabric().unused_netdevs.at("spark-2"), ElementsAre("enp3s0f1np1"));
  const Hardware& own = *located.spec().FindHardware(cluster.nodes[1]);
  EXPECT_EQ(own.name, "connectx5-workstation");
  EXPECT_EQ(own.cages[0].twins[0].pci, "0000:03:00.0");
  // The other node is as it was, and so is the manifest.
  EXPECT_EQ(located.fabric().ports.at("spark-1").front().netdev, "enp1s0f0np0");
  EXPECT_EQ(*located.spec().FindHardware(cluster.nodes[0]), Spark());
  EXPECT_EQ(*cluster.FindHardware(cluster.nodes[1]), Workstation());
  // Located again, everything has its name.
  EXPECT_FALSE(LocatedCluster(located.spec(), located.fabric(), MixedFacts()).differs());
}

TEST(LocatedCluster, WhereAllNamesFitNothingIsCopied) {
  const ClusterSpec cluster = Cluster(Topology::kDirect, {Node(1), Node(2)}, 2);
  const auto fabric = ExpandFabric(cluster);
  ASSERT_TRUE(fabric) << FormatErrors(fabric.error());
  ClusterFacts facts;
  facts.nodes["spark-1"] = MakeNode({{"enp1s0f1np1", "0000:01:00.1", "p1"}});
  const LocatedCluster located(cluster, *fabric, facts);
  EXPECT_FALSE(located.differs());
  EXPECT_EQ(&located.spec(), &cluster);
  EXPECT_EQ(&located.fabric(), &*fabric);
}

TEST(DiagnoseLocated, ANodeHasOneNoteOfItsPortsOfTheFabric) {
  ClusterSpec cluster = Mixed();
  const auto fabric = ExpandFabric(cluster);
  ASSERT_TRUE(fabric) << FormatErrors(fabric.error());
  const auto notes = [&](const ClusterFacts& facts) {
    std::string text;
    for (const Diagnostic& one : DiagnoseLocated(cluster, *fabric, facts)) {
      text += FormatDiagnostic(one);
    }
    return text;
  };
  EXPECT_EQ(notes(MixedFacts()),
            "note: spark-2: enp1s0f0np0 is enp3s0f0np0 here (driver mlx5_core, port p0) "
            "[fabric-ports-elsewhere]  cluster.yaml:7\n");
  cluster.fabric.unused_cages = UnusedCages::kDown;
  EXPECT_EQ(notes(MixedFacts()),
            "note: spark-2: enp1s0f0np0 is enp3s0f0np0 here (driver mlx5_core, port p0); "
            "enp1s0f1np1 is enp3s0f1np1 here (driver mlx5_core, port p1) "
            "[fabric-ports-elsewhere]  cluster.yaml:7\n");
  ClusterFacts facts;
  facts.nodes["spark-2"] = MakeNode({{"eth2", "0000:01:00.0", "p0"}});
  EXPECT_EQ(notes(facts),
            "note: spark-2: enp1s0f0np0 is eth2 here (PCI address 0000:01:00.0) "
            "[fabric-ports-elsewhere]  cluster.yaml:7\n");
}

}  // namespace
}  // namespace reconciler
