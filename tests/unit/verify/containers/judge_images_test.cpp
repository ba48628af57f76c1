#include "reconciler/verify/containers/judge_images.h"

#include <gmock/gmock.h>

#include "tests/unit/verify/links/health_sample.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kImage = "nvcr.io/nvidia/pytorch:25.09-py3";

class JudgeImagesTest : public testing::Test {
 protected:
  JudgeImagesTest() {
    for (auto& [name, facts] : sample_.facts.nodes) {
      facts.nccl.library = NcclLibrary{.path = "/usr/lib/libnccl.so.2", .version = "2.28.9"};
      Image(name) = {.state = ImageState::kRead,
                     .id = "sha256:abc",
                     .devices = {"/dev/infiniband/uverbs0"},
                     .memlock = MemoryLimit{MemoryLimit::kUnlimited},
                     .library = "/usr/lib/libnccl.so.2",
                     .nccl = {.version = "2.28.9"}};
    }
  }

  ImageFacts& Image(const NodeName& node) { return images_[node][kImage]; }
  std::vector<Check> Checks() const {
    return CheckImages(sample_.cluster, sample_.fabric, sample_.facts, images_);
  }
  std::vector<Finding> Findings() const { return ListFindings(sample_, Checks()); }
  std::vector<std::string> Found() const { return DescribeFindings(sample_, Checks()); }
  // "image-nccl spark-1 skipped: why" of those that neither passed nor warn.
  std::vector<std::string> LeftOut() const {
    std::vector<std::string> texts;
    for (const Check& check : Checks()) {
      if (check.outcome == Outcome::kPass || check.outcome == Outcome::kWarn) continue;
      texts.push_back(
          fmt::format("{} {} {}: {}", check.what, check.from, ToString(check.outcome), check.why));
    }
    return texts;
  }

  Sample sample_ = HealthyPair();
  ImagesByNode images_ = {};
};

TEST_F(JudgeImagesTest, AnImageThatIsLikeItsNodesHasNoFinding) {
  EXPECT_THAT(Found(), IsEmpty());
  std::vector<std::string> passed;
  for (const Check& check : Checks()) {
    EXPECT_EQ(check.outcome, Outcome::kPass) << check.what;
    EXPECT_EQ(check.subject, kImage);
    if (check.from == "spark-1") passed.push_back(check.what + ": " + check.measured);
  }
  EXPECT_THAT(passed, ElementsAre("image-devices: it can", "image-memlock: unlimited",
                                  "image-nccl: NCCL 2.28.9 (/usr/lib/libnccl.so.2)"));
  // A newer one is fine too.
  for (const char* node : {"spark-1", "spark-2"}) Image(node).nccl.version = "2.30.7";
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(JudgeImagesTest, DevicesOfTheNodeAreWantedInTheContainer) {
  Image("spark-1").devices.clear();
  Image("spark-2").devices.clear();
  Image("spark-2").refused = {"/dev/infiniband/uverbs0"};
  EXPECT_THAT(Found(),
              ElementsAre("image-no-infiniband spark-1: it has no /dev/infiniband/uverbs0",
                          "image-no-infiniband spark-2: it cannot open /dev/infiniband/uverbs0"));
  EXPECT_EQ(Findings()[0].expected, "a container can open /dev/infiniband/uverbs0");
  EXPECT_EQ(Findings()[0].next_step,
            "look at `ls -l /dev/infiniband` and `docker info` on spark-1, and start "
            "nvcr.io/nvidia/pytorch:25.09-py3 as root (`--user 0`)");
  // The node itself has none: that is said elsewhere.
  for (auto& [name, facts] : sample_.facts.nodes) {
    facts.health.device_files = std::vector<DeviceFile>{};
  }
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(JudgeImagesTest, OneGibOfLockedMemoryIsEnough) {
  Image("spark-1").memlock = MemoryLimit{std::int64_t{1} << 30};
  EXPECT_THAT(Found(), IsEmpty());
  Image("spark-1").memlock = MemoryLimit{8 << 20};
  EXPECT_THAT(Found(), ElementsAre("image-memlock-low spark-1: 8192 KiB"));
  Image("spark-1").memlock = std::nullopt;
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_THAT(LeftOut(), ElementsAre("image-memlock spark-1 skipped: the shell of the image does "
                                     "not print its limit"));
}

TEST_F(JudgeImagesTest, AnNcclBehindThatOfTheNodeIsTooOld) {
  for (const char* node : {"spark-1", "spark-2"}) Image(node).nccl.version = "2.27.7";
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].code, "image-nccl-old");
  EXPECT_EQ(findings[0].expected, "NCCL 2.28.9 or later, which programs on the node load");
  EXPECT_EQ(findings[0].measured, "NCCL 2.27.7 (/usr/lib/libnccl.so.2)");
  // Without a libnccl on the node there is nothing to compare with.
  for (auto& [name, facts] : sample_.facts.nodes) facts.nccl.library = Absent{};
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(JudgeImagesTest, CablesThatNeedSubnetsNeedThemInTheContainerToo) {
  sample_.fabric = Ring().fabric;
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].code, "image-nccl-old");
  EXPECT_EQ(findings[0].expected,
            "NCCL 2.30.7 or later, or a build patched for it: it pairs HCAs by subnet");
  // A patched build says so, whatever its number is.
  for (const char* node : {"spark-1", "spark-2"}) Image(node).nccl.pairs_by_subnet = true;
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(JudgeImagesTest, OneNameWithTwoVersionsIsNamedWithItsIds) {
  Image("spark-2").nccl.version = "2.30.7";
  Image("spark-2").id = "sha256:def";
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "image-nccl-differs");
  EXPECT_THAT(findings[0].nodes, ElementsAre("spark-1"));
  EXPECT_EQ(findings[0].measured, "NCCL 2.28.9 on spark-1; 2.30.7 on spark-2");
  EXPECT_THAT(findings[0].evidence,
              ElementsAre("spark-1: the image is sha256:abc on spark-1, sha256:def on spark-2"));
}

TEST_F(JudgeImagesTest, AnImageWithoutNcclIsNotJudgedByIt) {
  Image("spark-1").nccl = {};
  Image("spark-2").nccl = {};
  Image("spark-2").library.clear();
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_THAT(LeftOut(),
              ElementsAre("image-nccl spark-1 skipped: /usr/lib/libnccl.so.2 reports no version",
                          "image-nccl spark-2 skipped: no libnccl.so.2 and no nccl.h was found in "
                          "the image"));
}

TEST_F(JudgeImagesTest, WithoutTheImageOrDockerNothingIsWrong) {
  Image("spark-1") = {.state = ImageState::kMissing};
  Image("spark-2") = {.state = ImageState::kNoDocker};
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_THAT(LeftOut(), ElementsAre("image spark-1 skipped: the image is not there: `docker pull "
                                     "nvcr.io/nvidia/pytorch:25.09-py3` brings it",
                                     "image spark-2 skipped: docker is not installed"));
}

TEST_F(JudgeImagesTest, AContainerThatDoesNotStartIsAWarningWithWhatDockerSaid) {
  Image("spark-1") = {.state = ImageState::kNotRead,
                      .why = "`docker run` ended with 125",
                      .said = {"could not select device driver"}};
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].code, "image-not-started");
  EXPECT_EQ(findings[0].outcome, Outcome::kWarn);
  EXPECT_EQ(findings[0].measured, "`docker run` ended with 125");
  EXPECT_THAT(findings[0].evidence, ElementsAre("spark-1: could not select device driver"));
}

TEST_F(JudgeImagesTest, AScriptThatEndedBeforeCouldNotMeasure) {
  Image("spark-1") = {};
  EXPECT_THAT(Found(), ElementsAre("no-answer spark-1: "));
}

}  // namespace
}  // namespace reconciler
