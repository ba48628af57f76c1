#include "reconciler/verify/verbs_facts.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

NodeFacts Told(const std::string& line) {
  NodeFacts facts;
  facts.hcas["rocep1s0f1"] = {.netdev = "enp1s0f1np1"};
  StoreVerbsFacts(line, facts);
  return facts;
}

TEST(VerbsFacts, FillWhatOnlyVerbsTell) {
  const NodeFacts facts = Told(
      R"({"devices":[{"hca":"rocep1s0f1","dmabuf":"unsupported","ports":[{"port":1,"active_mtu":4096}]},
          {"hca":"other","dmabuf":"supported","ports":[]}, 7]})");
  EXPECT_EQ(facts.hcas.size(), 1u);
  EXPECT_EQ(facts.hcas.at("rocep1s0f1").verbs, (VerbsFact{4096, "unsupported"}));
  EXPECT_EQ(ValueOf(facts, "rdma.verbs"), Observed<std::string>("3"));
}

TEST(VerbsFacts, WithoutALibraryNothingIsKnownAndTheReasonIs) {
  const NodeFacts facts =
      Told(R"({"devices":[],"error":"wanted libibverbs.so.1, the loader says: no such file"})");
  EXPECT_EQ(facts.hcas.at("rocep1s0f1").verbs, VerbsFact{});
  EXPECT_EQ(
      ValueOf(facts, "rdma.verbs"),
      Observed<std::string>(Unknown{"wanted libibverbs.so.1, the loader says: no such file"}));
}

TEST(VerbsFacts, AnythingElseIsNoAnswer) {
  for (const char* line : {"", "[]", "{}", R"({"devices":7})", "Last login: today"}) {
    EXPECT_EQ(ValueOf(Told(line), "rdma.verbs"),
              Observed<std::string>(Unknown{"spark-verify printed something other than its facts"}))
        << line;
  }
}

}  // namespace
}  // namespace reconciler
