#include "reconciler/spark_verify/io/line_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace reconciler::spark_verify {
namespace {

using std::chrono::milliseconds;

struct Pipe {
  std::array<int, 2> ends = {-1, -1};
  Pipe() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~Pipe() {
    close(ends[0]);
    CloseWriter();
  }
  void CloseWriter() {
    if (ends[1] >= 0) close(ends[1]);
    ends[1] = -1;
  }
};

TEST(LineReader, SplitsWhatComesTogetherAndJoinsWhatComesInPieces) {
  Pipe pipe;
  LineReader lines(pipe.ends[0]);
  WriteAll(pipe.ends[1], "one\ntw");
  EXPECT_EQ(lines.Next(Clock::now()), "one");
  EXPECT_EQ(lines.Next(Clock::now()), std::nullopt);
  WriteAll(pipe.ends[1], "o\n");
  EXPECT_EQ(lines.Next(Clock::now()), "two");
  EXPECT_FALSE(lines.AtEnd());
}

TEST(LineReader, TheEndIsReportedAfterTheLastLine) {
  Pipe pipe;
  LineReader lines(pipe.ends[0]);
  WriteAll(pipe.ends[1], "one\ntwo\nhalf");
  pipe.CloseWriter();
  EXPECT_EQ(lines.Next(Clock::now() + milliseconds(5000)), "one");
  EXPECT_FALSE(lines.AtEnd());
  EXPECT_EQ(lines.Next(Clock::now() + milliseconds(5000)), "two");
  EXPECT_EQ(lines.Next(Clock::now() + milliseconds(5000)), std::nullopt);
  EXPECT_TRUE(lines.AtEnd());
}

TEST(LineReader, WaitsUntilThenAndNoLonger) {
  Pipe pipe;
  LineReader lines(pipe.ends[0]);
  const auto began = Clock::now();
  EXPECT_EQ(lines.Next(began + milliseconds(30)), std::nullopt);
  EXPECT_GE(Clock::now() - began, milliseconds(30));
  std::jthread late([&pipe] {
    std::this_thread::sleep_for(milliseconds(20));
    WriteAll(pipe.ends[1], "late\n");
  });
  EXPECT_EQ(lines.Next(Clock::now() + milliseconds(60'000)), "late");
}

}  // namespace
}  // namespace reconciler::spark_verify
