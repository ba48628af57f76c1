#include "reconciler/node/frames.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(ParseFrames, SlicesBothStreamsAndKeepsEveryByte) {
  const ScriptReply reply{0, "noise\nN a\none\n\nN b\n\nN c\nno newline",
                          "\nN a\nerr\n\nN b\n\nN c\n"};
  const std::vector<Frame> frames = ParseFrames(reply, "N");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].label, "a");
  EXPECT_EQ(frames[0].out, "one\n");
  EXPECT_EQ(frames[0].err, "err\n");
  EXPECT_EQ(frames[1].out, "");
  EXPECT_EQ(frames[2].out, "no newline");
}

TEST(ParseFrames, AnswersCannotForgeAFrameWithoutTheNonce) {
  const ScriptReply reply{0, "\nN a\n\nX b\nforged\n", ""};
  const std::vector<Frame> frames = ParseFrames(reply, "N");
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].out, "\nX b\nforged\n");
}

TEST(ParseFrames, AStreamCutInAMarkerYieldsWhatArrived) {
  EXPECT_EQ(ParseFrames({0, "\nN a\nx\nN b", ""}, "N").size(), 1u);
  EXPECT_TRUE(ParseFrames({0, "", ""}, "N").empty());
}

TEST(MakeNonce, NeverRepeats) { EXPECT_NE(MakeNonce(), MakeNonce()); }

}  // namespace
}  // namespace reconciler
