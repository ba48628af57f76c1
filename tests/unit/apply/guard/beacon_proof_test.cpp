#include "reconciler/apply/guard/beacon_proof.h"

#include <gtest/gtest.h>

#include "reconciler/fabric/expand.h"
#include "tests/support/clusters.h"

namespace reconciler {
namespace {

using enum BeaconState;

std::string Explain(const std::map<NodeName, BeaconPaths>& found) {
  return FormatErrors(FindSilentBeacons(found));
}

TEST(BeaconProof, APeerThatIsReachedOverOneInterfaceIsProved) {
  EXPECT_EQ(Explain({{"spark-1",
                      {{{"spark-2", "rail0"}, kNoCarrier}, {{"spark-2", "rail1"}, kAnswers}}}}),
            "");
}

TEST(BeaconProof, APeerThatIsReachedOverNoneIsNamedWithTheCauseOnEach) {
  EXPECT_EQ(
      Explain({{"spark-1",
                {{{"spark-2", "rail0"}, kIpv6Disabled}, {{"spark-2", "rail1"}, kNoCarrier}}}}),
      "spark-1: cannot reach the beacon of spark-2: IPv6 is off on rail0 (disable_ipv6), "
      "rail1 has no carrier\n"
      "  hint: set disable_ipv6 of that interface to 0, or give --allow-silent-beacons: then "
      "nodes may end apart when the controller is lost during the commit\n");
}

TEST(BeaconProof, EachCauseHasItsWords) {
  const std::pair<BeaconState, const char*> causes[] = {
      {kSilent, "no answer on rail0\n  hint: see what the other node says, and let ICMPv6 pass"},
      {kAbsent, "rail0 is absent\n  hint: check the port and its cable"},
      {kDown, "rail0 is down\n  hint: check the port and its cable"},
      {kNoCarrier, "rail0 has no carrier\n  hint: check the port and its cable"},
      {kNoAddress, "rail0 takes no IPv6 address\n  hint: see what the other node says"},
      {kNotMeasured, "rail0 was not tried\n  hint: see what the other node says"}};
  for (const auto& [state, words] : causes) {
    const std::string text = Explain({{"spark-1", {{{"spark-2", "rail0"}, state}}}});
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
}

TEST(BeaconProof, PeersWithTheSameCauseAreOneError) {
  EXPECT_EQ(Explain({{"spark-1",
                      {{{"spark-2", "rail0"}, kSilent},
                       {{"spark-3", "rail0"}, kSilent},
                       {{"spark-4", "rail0"}, kAnswers}}}}),
            "spark-1: cannot reach the beacons of spark-2, spark-3: no answer on rail0\n"
            "  hint: see what the other node says, and let ICMPv6 pass between the two ports, or "
            "give --allow-silent-beacons: then nodes may end apart when the controller is lost "
            "during the commit\n");
}

TEST(BeaconProof, AReplyIsReadByPeerAndInterface) {
  const std::vector<Peers::Path> paths = {{"spark-2", "rail0"}, {"spark-2", "rail1"}};
  EXPECT_EQ(ParseBeaconReply(paths, "spark-2 rail1 ipv6-disabled\nspark-2 rail0 answers\n"),
            (BeaconPaths{{{"spark-2", "rail0"}, kAnswers}, {{"spark-2", "rail1"}, kIpv6Disabled}}));
}

TEST(BeaconProof, WhatANodeDoesNotSayIsNotMeasured) {
  const std::vector<Peers::Path> paths = {{"spark-2", "rail0"}};
  for (const char* out : {"", "spark-2 rail0\n", "spark-2 rail0 fine\n", "spark-3 rail0 answers\n",
                          "spark-2 rail0 answers too\n"}) {
    EXPECT_EQ(ParseBeaconReply(paths, out), (BeaconPaths{{{"spark-2", "rail0"}, kNotMeasured}}))
        << out;
  }
}

TEST(BeaconProof, ItsAddressesAreNoNodesBeacons) {
  const ClusterSpec cluster = test::Cluster(Topology::kDirect, {test::Node(1), test::Node(2)}, 2);
  const auto fabric = ExpandFabric(cluster);
  ASSERT_TRUE(fabric);
  const std::set<NodeName> both = {"spark-1", "spark-2"};
  const Peers beacon = ListPeers(*fabric, "spark-1", both, "an apply");
  const Peers proof = ListPeers(*fabric, "spark-1", both, "an apply proof");
  EXPECT_EQ(beacon.paths, proof.paths);
  EXPECT_NE(beacon.text, proof.text);
}

}  // namespace
}  // namespace reconciler
