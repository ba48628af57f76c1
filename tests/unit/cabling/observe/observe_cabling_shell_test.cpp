#include "reconciler/cabling/observe/observe_cabling.h"

#include <gmock/gmock.h>

#include "reconciler/cabling/observe/cabling_script.h"
#include "tests/support/fake_transport.h"
#include "tests/support/overlap.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const std::vector<CagePort> kNoSuchPort = {{"p0", "nosuch0"}};

TEST_F(ShellTest, APortThatIsNotThereIsMissingAndNoOneIsQueriedThroughIt) {
  EXPECT_THAT(
      SplitLines(Run(BuildAddAddressesScript(kNoSuchPort, std::chrono::seconds(60))).out).back(),
      testing::StartsWith("port nosuch0 missing"));
  EXPECT_EQ(Run(BuildDiscoverScript(kNoSuchPort)).out, "");
  EXPECT_EQ(Run(BuildRemoveAddressesScript(kNoSuchPort)).exit_code, 0);
}

// A node that answers each of the three requests with its own lines.
FakeNode Answering(std::string own, std::string heard, std::string lldp) {
  FakeNode node;
  node.shell = [=](const std::string& script) -> ScriptReply {
    if (script.find("lldpcli") != std::string::npos) return {0, lldp, ""};
    return {0, script.find("ff02::1") != std::string::npos ? heard : own, ""};
  };
  return node;
}

TEST(ObserveCablingTest, ThreeAnswersMakeOneView) {
  FakeNetwork network(
      {{"spark-1", Answering("host spark-1\nport enp1s0f1np1 link 02:00:00:00:00:01\n",
                             "heard enp1s0f1np1 fe80::2\n",
                             R"({"lldp": {"interface": {"enp1s0f1np1": {"chassis":
                                             {"id": {"value": "x"}}}}}})")}});
  NodePool pool(network.Dialer());
  const NodeSpec node{.name = "spark-1"};
  const CablingViews views = ObserveCabling(ClusterSpec{}, {&node}, pool);
  const CablingView& view = views.at("spark-1");
  EXPECT_FALSE(view.failure);
  EXPECT_EQ(view.hostname, "spark-1");
  EXPECT_THAT(view.ports.at("enp1s0f1np1").heard, ElementsAre(Pair("fe80::2", "")));
  EXPECT_THAT(view.lldp, ElementsAre(LldpNeighbour{"enp1s0f1np1", "", "x"}));
}

TEST(ObserveCablingTest, ANodeThatDoesNotAnswerSaysWhyAndTheOthersGoOn) {
  FakeNetwork network({{"spark-1", {.refuse_dial = "connection refused"}},
                       {"spark-2", Answering("host spark-2\n", "", "")}});
  NodePool pool(network.Dialer());
  const NodeSpec lost{.name = "spark-1"};
  const NodeSpec there{.name = "spark-2"};
  const CablingViews views = ObserveCabling(ClusterSpec{}, {&lost, &there}, pool);
  ASSERT_TRUE(views.at("spark-1").failure);
  EXPECT_THAT(FormatError(*views.at("spark-1").failure), testing::HasSubstr("connection refused"));
  EXPECT_EQ(views.at("spark-2").hostname, "spark-2");
  EXPECT_EQ(network.ListScripts("spark-2").size(), 3u);
}

// The first node's address must still be there when the last one has sent.
TEST(ObserveCablingTest, OneNodeAtATimeGivesAddressesThatLastAsLongAsAllOfThemTake) {
  test::Overlap requests;
  std::string first;
  FakeNode node;
  node.shell = [&](const std::string& script) -> ScriptReply {
    requests.Pass();
    if (first.empty()) first = script;
    return {};
  };
  FakeNetwork network({{"spark-1", node}, {"spark-2", node}, {"spark-3", node}});
  NodePool pool(network.Dialer(), 1);
  const NodeSpec nodes[] = {{.name = "spark-1"}, {.name = "spark-2"}, {.name = "spark-3"}};
  EXPECT_EQ(ObserveCabling(ClusterSpec{}, {&nodes[0], &nodes[1], &nodes[2]}, pool).size(), 3u);
  EXPECT_EQ(requests.most(), 1);
  EXPECT_THAT(first, testing::HasSubstr("LIFETIME='180'"));
}

}  // namespace
}  // namespace reconciler
