#include "reconciler/node/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <thread>

#include "tests/support/fake_session.h"
#include "tests/support/limits.h"
#include "tests/support/overlap.h"

namespace reconciler {
namespace {

using std::chrono::milliseconds;

TEST(Beat, TwoBeatsOfOneSessionDoNotTakeEachOthersPlace) {
  std::atomic<int> quick = 0;
  std::atomic<int> slow = 0;
  const NodeSpec node{.name = "spark-1"};
  FakeNetwork network({{"spark-1", SessionNode([&](const std::string& request, const std::string&) {
                          if (request.find("quick") != std::string::npos) ++quick;
                          if (request.find("slow") != std::string::npos) ++slow;
                          return ScriptReply{};
                        })}});
  NodePool pool(network.Dialer());
  const auto sessions = Sessions::OpenAll({&node}, pool, "a test");
  ASSERT_TRUE(sessions);
  {
    const std::jthread one = (*sessions)->Beat("quick", milliseconds(40));
    const std::jthread other = (*sessions)->Beat("slow", milliseconds(200));
    const auto deadline = std::chrono::steady_clock::now() + test::ScaleLimit(milliseconds(5000));
    while (slow < 2 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(10));
    }
  }
  EXPECT_GE(slow, 2);
  EXPECT_GT(quick, slow);
}

TEST(Beat, ANodeThatIsSlowToAnswerDelaysNoOther) {
  std::atomic<int> others = 0;
  const auto deadline = std::chrono::steady_clock::now() + test::ScaleLimit(milliseconds(5000));
  const NodeSpec slow{.name = "spark-1"};
  const NodeSpec other{.name = "spark-2"};
  FakeNetwork network({{"spark-1", SessionNode([&](const std::string&, const std::string&) {
                          while (others < 3 && std::chrono::steady_clock::now() < deadline) {
                            std::this_thread::sleep_for(milliseconds(10));
                          }
                          return ScriptReply{};
                        })},
                       {"spark-2", SessionNode([&](const std::string&, const std::string&) {
                          ++others;
                          return ScriptReply{};
                        })}});
  NodePool pool(network.Dialer());
  const auto sessions = Sessions::OpenAll({&slow, &other}, pool, "a test");
  ASSERT_TRUE(sessions);
  {
    const std::jthread beat = (*sessions)->Beat("beat", milliseconds(20));
    while (others < 3 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(milliseconds(10));
    }
  }
  EXPECT_GE(others, 3);
}

// For ThreadSanitizer: the end of an apply says how many requests it took while its beats go on.
TEST(Sessions, RequestsAreCountedWhileAnotherThreadSendsThem) {
  const NodeSpec node{.name = "spark-1"};
  FakeNetwork network({{"spark-1", SessionNode()}});
  NodePool pool(network.Dialer());
  const auto sessions = Sessions::OpenAll({&node}, pool, "a test");
  ASSERT_TRUE(sessions);
  std::size_t before = 0;
  {
    const std::jthread other([&] {
      for (int i = 0; i < 100; ++i) {
        EXPECT_TRUE((*sessions)->Run(node, ":", test::ScaleLimit(milliseconds(5000))));
      }
    });
    for (int i = 0; i < 100; ++i) {
      const std::size_t now = (*sessions)->FindMostRoundTrips().requests;
      EXPECT_GE(now, before);
      before = now;
    }
  }
  EXPECT_EQ((*sessions)->FindMostRoundTrips().requests, 101u);  // with the session's beginning
}

// The connection of a node that is being used by a thread, by its number.
class CountingNetwork {
 public:
  explicit CountingNetwork(FakeNode node) : network_({{"spark-1", std::move(node)}}) {}

  Dial Dialer() {
    return [this](const NodeSpec& node) -> Result<std::unique_ptr<Transport>> {
      auto transport = network_.Dialer()(node);
      if (!transport) return Fail(transport.error());
      return std::make_unique<Counted>(std::move(*transport), &shells_.emplace_back(0));
    };
  }
  // Shells that were opened on each connection, in the order in which they were made.
  std::vector<int> ListShells() const { return {shells_.begin(), shells_.end()}; }

 private:
  class Counted : public Transport {
   public:
    Counted(std::unique_ptr<Transport> inner, int* shells)
        : inner_(std::move(inner)), shells_(shells) {}
    Result<std::unique_ptr<Channel>> OpenShell() override {
      ++*shells_;
      return inner_->OpenShell();
    }

   private:
    std::unique_ptr<Transport> inner_;
    int* shells_;
  };

  FakeNetwork network_;
  std::list<int> shells_ = {};
};

// Heartbeats and readings run on threads of their own.
TEST(Sessions, NoOtherShellIsEverOpenedOnTheConnectionOfASession) {
  const NodeSpec node{.name = "spark-1"};
  CountingNetwork network(SessionNode());
  NodePool pool(network.Dialer());
  ASSERT_TRUE(pool.OpenShell(node));  // a reading before the apply
  const auto sessions = Sessions::OpenAll({&node}, pool, "a test");
  ASSERT_TRUE(sessions);
  ASSERT_TRUE((*sessions)->GetLeftOut().empty());
  ASSERT_TRUE(pool.OpenShell(node));
  ASSERT_TRUE(pool.OpenShell(node));
  EXPECT_EQ(network.ListShells(), (std::vector<int>{2, 2}));
}

TEST(Session, AHeartbeatThatFailedIsNamedByTheNextRequest) {
  const NodeSpec node{.name = "spark-1"};
  FakeNode behavior = SessionNode();
  behavior.shell = [answer = behavior.shell](const std::string& script) {
    const bool is_beat = script.find("\nbeat\n") != std::string::npos;
    return is_beat ? ScriptReply{} : answer(script);
  };
  FakeNetwork network({{"spark-1", behavior}});
  NodePool pool(network.Dialer());
  const auto session = Session::Open(node, pool, "a test");
  ASSERT_TRUE(session);
  EXPECT_TRUE((*session)->RequestIfIdle("beat", Milliseconds(30000)));
  const auto reply = (*session)->Request("true", Milliseconds(30000));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message,
            "the session on the node is closed since a heartbeat with a limit of 30 s failed: "
            "spark-1: the time limit passed");
}

// A node that is cut off after a commit would keep its lock for minutes otherwise.
TEST(Session, AfterALongRequestTheShellIsAsPatientAsAfterAHeartbeat) {
  const NodeSpec node{.name = "spark-1"};
  std::string request;
  FakeNetwork network({{"spark-1", SessionNode([&](const std::string& script, const std::string&) {
                          request = script;
                          return ScriptReply{};
                        })}});
  NodePool pool(network.Dialer());
  const auto session = Session::Open(node, pool, "a test");
  ASSERT_TRUE(session);
  ASSERT_TRUE((*session)->Request("commit", Milliseconds(180000)));
  EXPECT_NE(request.find("may_be_silent 180\n(\ncommit\n) </dev/null 9>&-\ncode=$?\n"
                         "may_be_silent 10\nframe \"done $code\"\n"),
            std::string::npos)
      << request;
}

// Its own session is silent meanwhile.
TEST(Sessions, TheFirstNodeWaitsAsLongAsTheSlowestOtherOneMayTakeToOpen) {
  const NodeSpec first{.name = "spark-1"};
  NodeSpec slow{.name = "spark-2"};
  slow.access.connect_timeout_s = 200;
  std::string opened;
  FakeNode behavior = SessionNode();
  behavior.shell = [answer = behavior.shell, &opened](const std::string& script) {
    opened += script;
    return answer(script);
  };
  FakeNetwork network({{"spark-1", behavior}, {"spark-2", SessionNode()}});
  NodePool pool(network.Dialer());
  ASSERT_TRUE(Sessions::OpenAll({&first, &slow}, pool, "a test"));
  EXPECT_NE(opened.find("\nFIRST='440'\nPATIENCE='90'\n"), std::string::npos);
}

// A login that was good when the plan was made, and broke while someone read it.
TEST(Sessions, AnOldLoginThatBrokeIsReplacedByANewOne) {
  const NodeSpec node{.name = "spark-1"};
  FakeNode broken = SessionNode();
  broken.drop_after = 0;
  FakeNetwork network({{"spark-1", SessionNode()}});
  NodePool pool(network.Dialer());
  ASSERT_TRUE(Sessions::OpenAll({&node}, pool, "to have a login"));
  network.SetNode("spark-1", broken);
  const auto lost = Sessions::OpenAll({&node}, pool, "a test");
  ASSERT_TRUE(lost);
  ASSERT_EQ((*lost)->GetLeftOut().size(), 1u);
  EXPECT_EQ((*lost)->GetLeftOut()[0].context.at(0), "spark-1");
  network.SetNode("spark-1", SessionNode());
  const auto again = Sessions::OpenAll({&node}, pool, "a test");
  ASSERT_TRUE(again);
  EXPECT_TRUE((*again)->GetLeftOut().empty());
}

TEST(Sessions, NoMoreNodesAreLoggedInToAtATimeThanThePoolAllows) {
  const NodeSpec nodes[] = {{.name = "spark-1"}, {.name = "spark-2"}, {.name = "spark-3"}};
  FakeNetwork network(
      {{"spark-1", SessionNode()}, {"spark-2", SessionNode()}, {"spark-3", SessionNode()}});
  test::Overlap dials;
  NodePool pool(
      [&, dial = network.Dialer()](const NodeSpec& node) {
        dials.Pass();
        return dial(node);
      },
      1);
  const auto sessions = Sessions::OpenAll({&nodes[0], &nodes[1], &nodes[2]}, pool, "a test");
  ASSERT_TRUE(sessions);
  EXPECT_TRUE((*sessions)->GetLeftOut().empty());
  EXPECT_EQ(dials.most(), 1);
}

}  // namespace
}  // namespace reconciler
