#include "reconciler/fabric/found/found_addresses.h"

#include <gtest/gtest.h>

#include "reconciler/fabric/expand.h"
#include "reconciler/fabric/link_local.h"
#include "tests/support/clusters.h"
#include "tests/support/link_local.h"

namespace reconciler {
namespace {

constexpr const char* kRail0 = "enp1s0f1np1";
constexpr const char* kRail1 = "enP2p1s0f1np1";

// A pair whose second rail is link-local.
Fabric MakePair() {
  ClusterSpec cluster = test::Cluster(Topology::kDirect, {test::Node(1), test::Node(2)}, 1);
  cluster.settings = test::LinkLocalSettings();
  return *ExpandFabric(cluster);
}

LinkFact MakeLink(const std::vector<std::string>& ipv4, const std::vector<std::string>& ipv6) {
  LinkFact link{.ipv6 = ipv6};
  for (const std::string& address : ipv4) link.ipv4.push_back(*ParseIpv4Prefix(address));
  return link;
}

TEST(ApplyFoundAddresses, SetsWhatALinkLocalPortHasAndNothingElse) {
  ClusterFacts facts;
  facts.nodes["spark-1"].links[kRail0] = MakeLink({"169.254.1.1/16"}, {"fe80::1/64"});
  facts.nodes["spark-1"].links[kRail1] =
      MakeLink({"10.9.9.9/24", "169.254.7.9/16"}, {"2001:db8::1/64", "fe80::53:50ff:fe00:105/64"});
  const Fabric planned = MakePair();
  const Fabric found = ApplyFoundAddresses(planned, facts);
  EXPECT_EQ(found.ports.at("spark-1")[0].address, planned.ports.at("spark-1")[0].address);
  for (const RailPort* port : {&found.ports.at("spark-1")[1], &found.segments[1].ports[0]}) {
    EXPECT_EQ(ToString(port->address), "169.254.7.9/16");
    EXPECT_EQ(FindIpv6LinkLocal(facts, *port), "fe80::53:50ff:fe00:105");
    EXPECT_TRUE(HasAddress(*port));
  }
}

TEST(ApplyFoundAddresses, APortWithoutOneIsNamed) {
  ClusterFacts facts;
  facts.nodes["spark-1"].links[kRail1] = MakeLink({"169.254.7.9/16"}, {});
  Fabric found = ApplyFoundAddresses(MakePair(), facts);
  EXPECT_EQ(FindWithoutAddress(found.segments[0]), nullptr);
  ASSERT_NE(FindWithoutAddress(found.segments[1]), nullptr);
  EXPECT_EQ(ExplainNoAddress(*FindWithoutAddress(found.segments[1])),
            "spark-2 has no link-local address on rail1");
  facts.nodes["spark-2"].links[kRail1] = MakeLink({"169.254.8.9/16"}, {});
  found = ApplyFoundAddresses(MakePair(), facts);
  EXPECT_EQ(FindWithoutAddress(found.segments[1]), nullptr);
}

}  // namespace
}  // namespace reconciler
