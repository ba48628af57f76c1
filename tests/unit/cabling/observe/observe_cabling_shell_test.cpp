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
  const auto lines = SplitLines(Run(BuildObserveScript(kNoSuchPort, std::chrono::seconds(60))).out);
  ASSERT_GE(lines.size(), 3u);
  EXPECT_THAT(lines[0], testing::StartsWith("host "));
  EXPECT_THAT(lines[1], testing::StartsWith("port nosuch0 missing"));
  EXPECT_EQ(lines[2], "lldp");
  EXPECT_EQ(Run(BuildDiscoverScript(kNoSuchPort)).out, "");
  EXPECT_EQ(Run(BuildRemoveAddressesScript(kNoSuchPort)).exit_code, 0);
}

// A node that answers the first request with `first`, and one that only sends with `second`.
FakeNode Answering(std::string first, std::string second = "") {
  FakeNode node;
  node.shell = [=](const std::string& script) -> ScriptReply {
    if (script.find("lldpcli") != std::string::npos) return {0, first, ""};
    return {0, script.find("ff02::1") != std::string::npos ? second : "", ""};
  };
  return node;
}

TEST(ObserveCablingTest, OneAnswerIsTheWholeView) {
  FakeNetwork network({{"spark-1", Answering("host spark-1\n"
                                             "port enp1s0f1np1 link 02:00:00:00:00:01\n"
                                             "heard enp1s0f1np1 fe80::2\nlldp\n"
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
  EXPECT_EQ(network.ListScripts("spark-1").size(), 1u);
}

TEST(ObserveCablingTest, WhereOnePortHadNoAddressAllNodesSendOnceMoreAndItIsRemoved) {
  FakeNetwork network(
      {{"spark-1", Answering("host spark-1\nlate\nport p link 02:00:00:00:00:01\nlldp\n")},
       {"spark-2",
        Answering("host spark-2\nport p link 02:00:00:00:00:02\nlldp\n", "heard p fe80::1\n")}});
  NodePool pool(network.Dialer());
  const NodeSpec nodes[] = {{.name = "spark-1"}, {.name = "spark-2"}};
  const CablingViews views = ObserveCabling(ClusterSpec{}, {&nodes[0], &nodes[1]}, pool);
  EXPECT_THAT(views.at("spark-2").ports.at("p").heard, ElementsAre(Pair("fe80::1", "")));
  for (const char* name : {"spark-1", "spark-2"}) {
    const std::vector<std::string> scripts = network.ListScripts(name);
    ASSERT_EQ(scripts.size(), 3u) << name;
    EXPECT_THAT(scripts[1], testing::HasSubstr("ff02::1"));
    EXPECT_THAT(scripts[2], testing::HasSubstr("address del"));
  }
}

TEST(ObserveCablingTest, ANodeThatDoesNotAnswerSaysWhyAndTheOthersGoOn) {
  FakeNetwork network({{"spark-1", {.refuse_dial = "connection refused"}},
                       {"spark-2", Answering("host spark-2\n")}});
  NodePool pool(network.Dialer());
  const NodeSpec lost{.name = "spark-1"};
  const NodeSpec there{.name = "spark-2"};
  const CablingViews views = ObserveCabling(ClusterSpec{}, {&lost, &there}, pool);
  ASSERT_TRUE(views.at("spark-1").failure);
  EXPECT_THAT(FormatError(*views.at("spark-1").failure), testing::HasSubstr("connection refused"));
  EXPECT_EQ(views.at("spark-2").hostname, "spark-2");
  EXPECT_EQ(network.ListScripts("spark-2").size(), 1u);
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
