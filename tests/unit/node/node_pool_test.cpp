#include "reconciler/node/node_pool.h"

#include <gtest/gtest.h>

#include <mutex>
#include <stdexcept>

#include "tests/support/fake_transport.h"

namespace reconciler {
namespace {

// A connection that broke since it was made.
class Broken : public Transport {
 public:
  Result<std::unique_ptr<Channel>> OpenShell() override {
    return Fail({.kind = ErrorKind::kTransport, .message = "the connection was lost"});
  }
};

TEST(NodePool, AConnectionThatOpensNoShellIsMadeAgain) {
  FakeNetwork network(std::map<NodeName, FakeNode>{});
  network.SetNode("spark-1", {});
  int dialled = 0;
  NodePool pool([&](const NodeSpec& node) -> Result<std::unique_ptr<Transport>> {
    if (++dialled == 1) return std::make_unique<Broken>();
    return network.Dialer()(node);
  });
  NodeSpec node;
  node.name = "spark-1";
  const auto first = pool.OpenShell(node);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().message, "the connection was lost");
  EXPECT_TRUE(pool.OpenShell(node));
  EXPECT_EQ(dialled, 2);
}

// Counts what one node's shells were given; each script is answered by its own text.
struct Counted {
  int shells = 0;
  NodeSpec node = {.name = "spark-1"};
  FakeNetwork network{{{"spark-1", Echo()}}};
  NodePool pool{[this](const NodeSpec& to) -> Result<std::unique_ptr<Transport>> {
    return std::make_unique<Counting>(std::move(*network.Dialer()(to)), &shells);
  }};

  static FakeNode Echo() {
    return {.shell = [](const std::string& script) { return ScriptReply{.out = script}; }};
  }

  class Counting : public Transport {
   public:
    Counting(std::unique_ptr<Transport> inner, int* shells)
        : inner_(std::move(inner)), shells_(shells) {}
    Result<std::unique_ptr<Channel>> OpenShell() override {
      ++*shells_;
      return inner_->OpenShell();
    }

   private:
    std::unique_ptr<Transport> inner_;
    int* shells_;
  };
};

// A login shell's startup files may take seconds.
TEST(NodePool, ScriptsOfOneConnectionShareOneShell) {
  Counted counted;
  for (const std::string script : {"one", "two", "three"}) {
    const auto reply = counted.pool.Run(counted.node, script, Milliseconds(1000));
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->out, script);
  }
  EXPECT_EQ(counted.shells, 1);
  counted.pool.Drop("spark-1");
  ASSERT_TRUE(counted.pool.Run(counted.node, "a new login", Milliseconds(1000)));
  EXPECT_EQ(counted.shells, 2);
}

// `hello` is from startup files of the login; the script never began.
TEST(NodePool, ARefusalOfSudoIsFoundBehindWhatStartupFilesPrint) {
  class Refusing : public Transport, public Channel {
   public:
    Result<std::unique_ptr<Channel>> OpenShell() override { return std::make_unique<Refusing>(); }
    Result<void> Write(std::string_view, Deadline) override { return {}; }
    Result<void> CloseInput() override { return {}; }
    Result<Output> Read(Deadline) override {
      return Output{.out = "hello\n", .err = "sudo: a password is required\n", .exit_code = 1};
    }
  };
  NodePool pool([](const NodeSpec&) -> Result<std::unique_ptr<Transport>> {
    return std::make_unique<Refusing>();
  });
  const auto reply = pool.Run({.name = "spark-1"}, "true\n", Milliseconds(1000));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "spark-1: sudo wants a password for the login user");
}

TEST(NodePool, WhatAScriptThatRanSaysOfSudoIsItsOwnAnswer) {
  FakeNetwork network({{"spark-1", {.shell = [](const std::string&) {
                          return ScriptReply{.exit_code = 1,
                                             .err = "sudo: a password is required\n"};
                        }}}});
  NodePool pool(network.Dialer());
  const auto reply = pool.Run({.name = "spark-1"}, "true\n", Milliseconds(1000));
  ASSERT_TRUE(reply) << FormatError(reply.error());
  EXPECT_EQ(reply->exit_code, 1);
}

TEST(NodePool, AnOwnShellIsTheOneThatIsOpenAlready) {
  Counted counted;
  ASSERT_TRUE(counted.pool.Run(counted.node, "one", Milliseconds(1000)));
  const auto own = counted.pool.OpenOwnShell(counted.node);
  ASSERT_TRUE(own);
  EXPECT_EQ(counted.shells, 1);
  ASSERT_TRUE(counted.pool.Run(counted.node, "two", Milliseconds(1000)));
  EXPECT_EQ(counted.shells, 2);
}

TEST(NodePool, AShellThatDidNotAnswerRunsNoOtherScript) {
  Counted counted;
  ASSERT_TRUE(counted.pool.Run(counted.node, "one", Milliseconds(1000)));
  FakeNode slow = Counted::Echo();
  slow.latency = Milliseconds(5000);
  counted.network.SetNode("spark-1", slow);
  const auto late = counted.pool.Run(counted.node, "two", Milliseconds(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(FormatError(late.error()), "spark-1: the time limit passed\n");
  counted.network.SetNode("spark-1", Counted::Echo());
  const auto after = counted.pool.Run(counted.node, "three", Milliseconds(1000));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->out, "three");
  EXPECT_EQ(counted.shells, 2);
}

TEST(ForEachNode, WhatIsThrownForANodeIsItsErrorAndEndsNoOther) {
  const NodeSpec one{.name = "spark-1"};
  const NodeSpec two{.name = "spark-2"};
  const NodeSpec three{.name = "spark-3"};
  bool done = false;
  const NodeErrors thrown = ForEachNode({&one, &two, &three}, [&](const NodeSpec& node) {
    if (node.name == "spark-1") throw std::out_of_range("position \x1b[2J");
    if (node.name == "spark-2") throw 1;
    done = true;
  });
  EXPECT_TRUE(done);
  ASSERT_EQ(thrown.size(), 2u);
  EXPECT_EQ(FormatError(thrown.at("spark-1")),
            "spark-1: its answer could not be processed: position \\x1b[2J\n"
            "  hint: report this fault of spark-reconcile, with what the node answered\n");
  EXPECT_EQ(thrown.at("spark-2").message, "its answer could not be processed: no description");
}

TEST(ForEachNode, AtMostThatManyNodesAreWorkedOnAtATimeAndInTheirOrder) {
  const std::vector<NodeSpec> specs = {
      {.name = "spark-1"}, {.name = "spark-2"}, {.name = "spark-3"}, {.name = "spark-4"}};
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& spec : specs) nodes.push_back(&spec);
  for (const std::size_t at_once : {1u, 2u, 9u, 0u}) {
    std::mutex mutex;
    std::vector<NodeName> begun;
    std::size_t now = 0;
    std::size_t most = 0;
    const NodeErrors thrown = ForEachNode(nodes, at_once, [&](const NodeSpec& node) {
      {
        const std::lock_guard lock(mutex);
        begun.push_back(node.name);
        most = std::max(most, ++now);
      }
      if (node.name == "spark-2") throw 1;
      const std::lock_guard lock(mutex);
      --now;
    });
    EXPECT_EQ(begun.size(), nodes.size());
    EXPECT_EQ(thrown.size(), 1u);
    if (at_once == 1) {
      EXPECT_EQ(begun, (std::vector<NodeName>{"spark-1", "spark-2", "spark-3", "spark-4"}));
    }
    // The one that threw counts for ever.
    if (at_once != 0) {
      EXPECT_LE(most, at_once + 1);
    }
  }
}

TEST(CountRounds, IsHowOftenAThreadTakesANode) {
  EXPECT_EQ(CountRounds(8, 0), 1u);
  EXPECT_EQ(CountRounds(8, 1), 8u);
  EXPECT_EQ(CountRounds(8, 3), 3u);
  EXPECT_EQ(CountRounds(2, 9), 1u);
  EXPECT_EQ(CountRounds(0, 2), 1u);
}

TEST(NodePool, ANodeThatDidNotOpenAheadIsNotWaitedForAgain) {
  int dialled = 0;
  FakeNetwork network({{"spark-1", Counted::Echo()}});
  NodePool pool([&](const NodeSpec& node) -> Result<std::unique_ptr<Transport>> {
    ++dialled;
    if (node.name == "spark-1") return network.Dialer()(node);
    return Fail({.kind = ErrorKind::kTransport, .message = "no answer within 10 s"});
  });
  const NodeSpec good{.name = "spark-1"};
  const NodeSpec silent{.name = "spark-2"};
  EXPECT_FALSE(pool.OpenAhead({&good, &silent}));
  EXPECT_EQ(pool.Run(silent, "true\n", Milliseconds(1000)).error().message,
            "no answer within 10 s");
  EXPECT_EQ(dialled, 2);
  EXPECT_FALSE(pool.Run(silent, "true\n", Milliseconds(1000)));
  EXPECT_EQ(dialled, 3);
  EXPECT_TRUE(pool.OpenAhead({&good}));
  EXPECT_EQ(dialled, 3);
}

TEST(NodePool, WhatRunsElsewhereNeedsNoConnectionUntilAllAreDropped) {
  Counted counted;
  counted.pool.RunElsewhere([](const NodeSpec&, std::string_view script, Milliseconds) {
    return std::optional(Result<ScriptReply>(ScriptReply{.out = std::string(script)}));
  });
  EXPECT_EQ(counted.pool.Run(counted.node, "there", Milliseconds(1000))->out, "there");
  EXPECT_EQ(counted.shells, 0);
  EXPECT_EQ(counted.pool.Runs("spark-1"), 1u);
  counted.pool.DropAll();
  (void)counted.pool.Run(counted.node, "here", Milliseconds(1000));
  EXPECT_EQ(counted.shells, 1);
}

TEST(NodePool, ANodeOfNoElsewhereIsConnectedTo) {
  Counted counted;
  counted.pool.RunElsewhere([](const NodeSpec&, std::string_view, Milliseconds) {
    return std::optional<Result<ScriptReply>>();
  });
  (void)counted.pool.Run(counted.node, "here", Milliseconds(1000));
  EXPECT_EQ(counted.shells, 1);
}

}  // namespace
}  // namespace reconciler
