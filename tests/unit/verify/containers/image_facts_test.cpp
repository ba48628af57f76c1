#include "reconciler/verify/containers/image_facts.h"

#include <gmock/gmock.h>

#include "reconciler/manifest/load.h"
#include "reconciler/model/environment.h"
#include "tests/unit/verify/sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Value List(std::vector<Value> values) {
  Value value;
  value.data = std::move(values);
  return value;
}

std::vector<std::string> Names(const std::vector<ImageProbe>& images) {
  std::vector<std::string> names;
  for (const ImageProbe& image : images) names.push_back(image.image);
  return names;
}

TEST(ListImages, TakesThoseOfTheNodeOnceAndNoPath) {
  Sample sample = OnSwitch(2);
  const auto& nodes = sample.cluster.nodes;
  EXPECT_THAT(ListImages(sample.cluster, nodes[0]), IsEmpty());
  Value mtu;
  mtu.data = std::int64_t{9000};
  sample.cluster.settings = Map(
      {Entry("checks",
             List({Map({Entry("image", Text("a:1"))}),
                   Map({Entry("path", Text("nas")), Entry("mtu", mtu)}),
                   Map({Entry("image", Text("b:2")), Entry("nodes", List({Text("spark-2")}))}),
                   Map({Entry("image", Text("a:1")), Entry("nodes", List({Text("spark-1")}))})}))});
  EXPECT_THAT(Names(ListImages(sample.cluster, nodes[0])), ElementsAre("a:1"));
  EXPECT_THAT(Names(ListImages(sample.cluster, nodes[1])), ElementsAre("a:1", "b:2"));
}

TEST(ListImages, ReadsAManifest) {
  const auto spec = LoadClusterSpec(
      "api_version: spark-reconcile/v1\ncluster: lab\nfabric: {topology: direct, subnets: "
      "[192.168.177.0/24, 192.168.178.0/24]}\nnodes:\n"
      "  - {name: spark-1, address: 192.168.1.21}\n  - {name: spark-2, address: 192.168.1.22}\n"
      "checks:\n  - image: nvcr.io/nvidia/pytorch:25.09-py3\n"
      "  - {path: nas, mtu: 9000}\n"
      "  - {image: 'localhost:5000/a@sha256:0123', nodes: [spark-2]}\n",
      "cluster.yaml");
  ASSERT_TRUE(spec) << FormatErrors(spec.error());
  EXPECT_THAT(Names(ListImages(*spec, spec->nodes[0])),
              ElementsAre("nvcr.io/nvidia/pytorch:25.09-py3"));
  EXPECT_THAT(Names(ListImages(*spec, spec->nodes[1])),
              ElementsAre("nvcr.io/nvidia/pytorch:25.09-py3", "localhost:5000/a@sha256:0123"));
}

TEST(ImageFlags, AreThoseOfEnvButForTheNetwork) {
  const std::vector<std::string> flags =
      SplitImageFlags(FormatDockerFlags({{"NCCL_IB_HCA", "=rocep1s0f1,roceP2p1s0f1", "why"}}));
  EXPECT_THAT(flags,
              ElementsAre("--gpus=all", "--network=none", "--ipc=host", "--device=/dev/infiniband",
                          "--cap-add=IPC_LOCK", "--ulimit=memlock=-1:-1", "--ulimit=stack=67108864",
                          "--env=NCCL_IB_HCA==rocep1s0f1,roceP2p1s0f1"));
}

TEST(ParseImage, ReadsWhatAContainerPrinted) {
  const ImageFacts facts = ParseImage(
      "ran 0\nid sha256:abc\nmemlock 8192\ndevice yes /dev/infiniband/uverbs0\n"
      "device no /dev/infiniband/uverbs1\nnccl /usr/lib/libnccl.so.2\n"
      "NCCL_IB_SUBNET_AWARE_ROUTING\nNCCL version 2.30.7\nend\n",
      "a warning");
  EXPECT_EQ(facts.state, ImageState::kRead);
  EXPECT_EQ(facts.why, "");
  EXPECT_EQ(facts.id, "sha256:abc");
  EXPECT_THAT(facts.said, IsEmpty());
  EXPECT_EQ(facts.memlock, (MemoryLimit{8 << 20}));
  EXPECT_THAT(facts.devices, ElementsAre("/dev/infiniband/uverbs0"));
  EXPECT_THAT(facts.refused, ElementsAre("/dev/infiniband/uverbs1"));
  EXPECT_EQ(facts.library, "/usr/lib/libnccl.so.2");
  EXPECT_EQ(facts.nccl.version, "2.30.7");
  EXPECT_TRUE(facts.nccl.pairs_by_subnet);
}

TEST(ParseImage, KnowsWhyThereIsNoAnswer) {
  EXPECT_EQ(ParseImage("", "").state, ImageState::kNoAnswer);
  EXPECT_EQ(ParseImage("no-docker\n", "").state, ImageState::kNoDocker);
  EXPECT_EQ(ParseImage("missing\n", "").state, ImageState::kMissing);
  const ImageFacts silent = ParseImage("no-answer 1\n", "\nCannot connect\n");
  EXPECT_EQ(silent.state, ImageState::kNotRead);
  EXPECT_EQ(silent.why, "`docker version` ended with 1");
  EXPECT_THAT(silent.said, ElementsAre("Cannot connect"));
  EXPECT_EQ(ParseImage("no-answer 124\n", "").why, "`docker version` did not end within its limit");
  const ImageFacts refused =
      ParseImage("ran 125\nid sha256:abc\n", "docker: no such device\x1b[2J");
  EXPECT_EQ(refused.state, ImageState::kNotRead);
  EXPECT_EQ(refused.why, "`docker run` ended with 125");
  EXPECT_THAT(refused.said, ElementsAre("docker: no such device\\x1b[2J"));
  EXPECT_EQ(ParseImage("ran 137\n", "").why, "`docker run` did not end within its limit");
}

TEST(ParseImage, AnAnswerWithoutItsEndIsNone) {
  const ImageFacts facts = ParseImage("ran 0\nid sha256:abc\nmemlock unlimited\n", "");
  EXPECT_EQ(facts.state, ImageState::kNotRead);
  EXPECT_EQ(facts.why, "the answer of the container was cut short");
}

TEST(ParseImage, WhatAContainerPrintsIsNotBelieved) {
  const ImageFacts facts = ParseImage(
      "ran 0\nid \x1b]\nmemlock -5\nmemlock many\ndevice\ndevice yes\nnccl /a\x07\n"
      "NCCL version 2.30\x1b.7\nNCCL version \nunknown word\nend\n",
      "");
  EXPECT_EQ(facts.state, ImageState::kRead);
  EXPECT_EQ(facts.id, "\\x1b]");
  EXPECT_EQ(facts.memlock, std::nullopt);
  EXPECT_THAT(facts.devices, IsEmpty());
  EXPECT_EQ(facts.library, "/a\\x07");
  EXPECT_EQ(facts.nccl.version, "");
}

}  // namespace
}  // namespace reconciler
