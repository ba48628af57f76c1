#include "reconciler/gather/reply/verbs_reply.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

NodeFacts StoreLine(const std::string& line) {
  NodeFacts facts;
  facts.hcas["rocep1s0f1"] = {.netdev = "enp1s0f1np1"};
  StoreVerbsFacts(line, facts);
  return facts;
}

TEST(VerbsFacts, FillWhatOnlyVerbsReport) {
  const NodeFacts facts = StoreLine(
      R"({"devices":[{"hca":"rocep1s0f1","dmabuf":"unsupported","ports":[{"port":1,"active_mtu":4096}]},
          {"hca":"other","dmabuf":"supported","ports":[]}]})");
  EXPECT_EQ(facts.hcas.size(), 1u);
  EXPECT_EQ(facts.hcas.at("rocep1s0f1").verbs, (VerbsFact{4096, false}));
  EXPECT_EQ(facts.rdma.verbs, Observed<int>(2));
  EXPECT_EQ(facts.gpudirect.hca_dmabuf, Observed<bool>(true));
}

TEST(VerbsFacts, WithoutALibraryNothingIsKnownAndTheReasonIs) {
  const NodeFacts facts = StoreLine(
      R"({"devices":[],"error":"wanted libibverbs.so.1, the loader says: no such file"})");
  EXPECT_EQ(facts.hcas.at("rocep1s0f1").verbs, VerbsFact{});
  EXPECT_EQ(facts.rdma.verbs,
            Observed<int>(Unknown{"wanted libibverbs.so.1, the loader says: no such file"}));
}

TEST(VerbsFacts, AttributesOfCudaAndTheHcasAnswerDecideAboutGpudirect) {
  const auto find_dmabuf = [](const std::string& devices, const std::string& gpu) {
    const NodeFacts facts = StoreLine(R"({"devices":[)" + devices + R"(],"gpu":)" + gpu + "}");
    return std::vector{facts.gpudirect.cuda_rdma, facts.gpudirect.cuda_dmabuf,
                       facts.gpudirect.hca_dmabuf};
  };
  using Answers = std::vector<Fact<bool>>;
  EXPECT_EQ(find_dmabuf(R"({"hca":"a","dmabuf":"unsupported"},{"hca":"b","dmabuf":"supported"})",
                        R"({"gpu_direct_rdma":1,"dma_buf":0})"),
            (Answers{true, false, true}));
  EXPECT_EQ(find_dmabuf(R"({"hca":"a","dmabuf":"unknown: Cannot allocate memory"})",
                        R"({"error":"cuInit says 999"})"),
            (Answers{Unknown{"CUDA: cuInit says 999"}, Unknown{"CUDA: cuInit says 999"},
                     Unknown{"dma-buf of the HCA: Cannot allocate memory"}}));
  EXPECT_EQ(find_dmabuf(R"({"hca":"a"})",
                        R"({"missing":"libcuda.so.1: cannot open shared object file"})"),
            (Answers{Absent{}, Absent{}, Absent{}}));
}

TEST(VerbsFacts, AnHcasAnswerThatNoOneKnowsIsUnknownAndNotNo) {
  const NodeFacts facts = StoreLine(R"({"devices":[{"hca":"rocep1s0f1","dmabuf":"perhaps"}]})");
  const Observed<bool> wanted = Unknown{"dma-buf of the HCA: not understood: 'perhaps'"};
  EXPECT_EQ(facts.hcas.at("rocep1s0f1").verbs.dmabuf, wanted);
  EXPECT_EQ(facts.gpudirect.hca_dmabuf, wanted);
}

TEST(VerbsFacts, AnythingElseIsNoAnswer) {
  for (const char* line : {"", "[]", "{}", R"({"devices":7})", "Last login: today"}) {
    EXPECT_EQ(StoreLine(line).rdma.verbs,
              Observed<int>(Unknown{"spark-verify printed something other than its facts"}))
        << line;
  }
}

}  // namespace
}  // namespace reconciler
