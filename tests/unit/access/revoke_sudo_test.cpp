#include "reconciler/access/revoke_sudo.h"

#include <gtest/gtest.h>

#include "tests/support/fake_transport.h"

namespace reconciler {
namespace {

FakeNode AnswerWith(const std::string& line) {
  return {.shell = [line](const std::string&) { return ScriptReply{.out = line + "\n"}; }};
}

TEST(RevokeSudoOnAll, ReturnsOneResultPerNodeWhateverTheOthersAre) {
  FakeNetwork network({{"spark-1", AnswerWith("kept")},
                       {"spark-2", {.refuse_dial = "off"}},
                       {"spark-3", AnswerWith("removed")},
                       {"spark-4", AnswerWith("absent")}});
  std::vector<NodeSpec> nodes;
  for (const char* name : {"spark-1", "spark-2", "spark-3", "spark-4"}) {
    nodes.push_back({.name = name});
  }
  const auto results =
      RevokeSudoOnAll({&nodes[0], &nodes[1], &nodes[2], &nodes[3]}, network.Dialer());
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0].node, "spark-1");
  EXPECT_EQ(results[0].removal.value(), SudoersRemoval::kKept);
  ASSERT_FALSE(results[1].removal);
  EXPECT_EQ(FormatError(results[1].removal.error()), "spark-2: off\n");
  EXPECT_EQ(results[2].removal.value(), SudoersRemoval::kRemoved);
  EXPECT_EQ(results[3].removal.value(), SudoersRemoval::kAbsent);
}

}  // namespace
}  // namespace reconciler
