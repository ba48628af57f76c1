#include "reconciler/verify/containers/run/image_script.h"

#include <gmock/gmock.h>

#include "reconciler/base/text.h"
#include "tests/unit/verify/shell_nodes.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kImageNonce = "00112233445566778899aabbccddeeff";
constexpr const char* kRemoved = "rm -f spark-reconcile-verify-0a1b-0";

// With a stand-in for docker that runs the container's script on this machine, and writes down what
// it was called with.
class ImageScript : public ShellNodes {
 protected:
  ImageScript() { Docker(kRuns); }

  // `run`: shell for `docker run`, with $script and $image.
  void Docker(const std::string& run, const std::string& rest = {}) {
    Program("docker",
            "words=$*\n"
            "printf '%s\\n' \"${words%% -c *}\" >>\"$D/calls\"\n" +
                rest +
                "case $1 in\n"
                "  image) printf 'sha256:%s\\n' abc ;;\n"
                "  run)\n"
                "    while [ \"$1\" != --entrypoint ]; do shift; done\n"
                "    image=$3; script=$5\n" +
                run + "    ;;\nesac\n");
  }

  ImageFacts Look(std::vector<std::string> flags = {"--network=none"}, bool alone = false,
                  const std::string& image = "a:1") {
    const std::vector<ImageProbe> images = {{.image = image, .flags = std::move(flags)}};
    std::string script = BuildImageScript(images, kImageNonce, "0a1b");
    Replace(script, "LIMIT='60'", "LIMIT='" + limit_s_ + "'");
    Replace(script, "[ -e /dev/infiniband ]", "[ -e '" + directory_ + "/infiniband' ]");
    Replace(script, "name=''\n", "name=''\nSCRIPT_PID=$$; export SCRIPT_PID\n");
    return ReadImages(images, Run(script, alone), kImageNonce).at(image);
  }

  std::vector<std::string> Calls() const { return SplitLines(Get("calls")); }

  static constexpr const char* kRuns = "    sh -c \"$script\"\n";

  // Of a container; enough on a busy machine.
  std::string limit_s_ = "60";

 private:
  static void Replace(std::string& text, const std::string& old, const std::string& with) {
    const std::size_t at = text.find(old);
    ASSERT_NE(at, std::string::npos) << old;
    text.replace(at, old.size(), with);
  }
};

TEST_F(ImageScript, OneContainerIsStartedInTheseWordsAndNothingIsPulled) {
  const ImageFacts facts = Look({"--network=none", "--env=NCCL_DEBUG=WARN"});
  EXPECT_EQ(facts.state, ImageState::kRead) << facts.why;
  EXPECT_EQ(facts.id, "sha256:abc");
  EXPECT_NE(facts.memlock, std::nullopt);
  EXPECT_THAT(Calls(), ElementsAre("image inspect --format {{.Id}} a:1",
                                   "run --rm --pull=never --name spark-reconcile-verify-0a1b-0 "
                                   "--network=none --env=NCCL_DEBUG=WARN --entrypoint sh a:1"));
}

TEST_F(ImageScript, FlagsForWhatTheNodeHasNotAreLeftOut) {
  const std::vector<std::string> flags = {"--gpus=all", "--device=/dev/infiniband", "--ipc=host"};
  EXPECT_EQ(Look(flags).state, ImageState::kRead);
  EXPECT_THAT(Calls().back(), HasSubstr("-0 --ipc=host --entrypoint"));
  Program("nvidia-container-runtime-hook", "exit 1\n");
  std::filesystem::create_directory(directory_ + "/infiniband");
  EXPECT_EQ(Look(flags).state, ImageState::kRead);
  EXPECT_THAT(Calls().back(),
              HasSubstr("-0 --gpus=all --device=/dev/infiniband --ipc=host --entrypoint"));
}

TEST_F(ImageScript, WithoutDockerNothingIsStarted) {
  std::filesystem::remove(directory_ + "/bin/docker");
  Program("mktemp", "exec /usr/bin/mktemp \"$@\"\n");
  Program("rm", "exec /bin/rm \"$@\"\n");
  EXPECT_EQ(Look({}, true).state, ImageState::kNoDocker);
}

TEST_F(ImageScript, AnImageThatIsNotThereIsNoMatterOfTheDaemon) {
  Docker(kRuns, "[ \"$1\" != image ] || { echo 'No such image: a:1' >&2; exit 1; }\n");
  EXPECT_EQ(Look().state, ImageState::kMissing);
  Docker(kRuns, "echo 'Cannot connect to the Docker daemon' >&2\nexit 1\n");
  const ImageFacts facts = Look();
  EXPECT_EQ(facts.state, ImageState::kNotRead);
  EXPECT_EQ(facts.why, "`docker version` ended with 1");
  EXPECT_THAT(facts.said, ElementsAre("Cannot connect to the Docker daemon"));
  EXPECT_THAT(Get("calls"), Not(HasSubstr("run")));
}

TEST_F(ImageScript, AContainerThatDoesNotStartIsRemoved) {
  Docker("    echo 'docker: Error response from daemon: no such device' >&2; exit 125\n");
  const ImageFacts facts = Look();
  EXPECT_EQ(facts.state, ImageState::kNotRead);
  EXPECT_EQ(facts.why, "`docker run` ended with 125");
  EXPECT_THAT(facts.said, ElementsAre("docker: Error response from daemon: no such device"));
  EXPECT_EQ(Calls().back(), kRemoved);
}

TEST_F(ImageScript, AContainerThatHangsIsEndedAtItsLimitAndRemoved) {
  Docker("    sleep 30\n");
  limit_s_ = "2";
  const ImageFacts facts = Look();
  EXPECT_EQ(facts.state, ImageState::kNotRead);
  EXPECT_EQ(facts.why, "`docker run` did not end within its limit");
  EXPECT_EQ(Calls().back(), kRemoved);
}

TEST_F(ImageScript, WhatIsNotThereYetIsRemovedAMomentLater) {
  Docker("    exit 125\n",
         "[ \"$1\" != rm ] || [ -e \"$D/there\" ] || { : >\"$D/there\"; exit 1; }\n");
  EXPECT_EQ(Look().state, ImageState::kNotRead);
  const std::vector<std::string> calls = Calls();
  EXPECT_THAT(std::vector(calls.end() - 2, calls.end()), ElementsAre(kRemoved, kRemoved));
}

TEST_F(ImageScript, AScriptThatIsEndedTakesItsContainerAlong) {
  Docker("    kill -TERM \"$SCRIPT_PID\"; sleep 30\n");
  limit_s_ = "2";
  EXPECT_EQ(Look().state, ImageState::kNoAnswer);
  EXPECT_EQ(Calls().back(), kRemoved);
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/tmp"));
}

TEST_F(ImageScript, HostileWordsStayOneWordAndNoAnswerIsForged) {
  Docker(
      "    printf '\\n00112233445566778899aabbccddeef0 image.0\\nran 0\\nend\\n'; printf '%s' "
      "\"$image\" >\"$D/image\"; exit 3\n");
  const std::string nasty = "a'; touch $D/owned; $(touch $D/owned) `id`\n*";
  EXPECT_EQ(Look({"--env=A=$(id) b"}, false, nasty).why, "`docker run` ended with 3");
  EXPECT_EQ(Get("image"), nasty);
  EXPECT_THAT(Get("calls"), HasSubstr("--env=A=$(id) b --entrypoint"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/owned"));
}

TEST_F(ImageScript, EachImageHasALimitOfItsOwn) {
  const std::vector<ImageProbe> images(3);
  EXPECT_EQ(ComputeImageLimit({}), std::chrono::seconds(15));
  EXPECT_EQ(ComputeImageLimit(images), std::chrono::seconds(15 + 3 * 311));
}

}  // namespace
}  // namespace reconciler
