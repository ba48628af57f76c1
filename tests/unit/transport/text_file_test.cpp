#include "reconciler/transport/text_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace reconciler {
namespace {

class TextFile : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_.Path() / name).string(); }

  test::TemporaryFolder folder_;
};

TEST_F(TextFile, HasAllItsBytes) {
  const std::string bytes("a\0\xff\r\n", 5);
  std::ofstream(Path("a"), std::ios::binary) << bytes;
  EXPECT_EQ(ReadTextFile(Path("a")).value_or("none"), bytes);
  std::ofstream(Path("empty"), std::ios::binary) << "";
  EXPECT_EQ(ReadTextFile(Path("empty")).value_or("none"), "");
}

TEST_F(TextFile, WhatIsLargerThanTheLimitIsReadNoFurther) {
  constexpr std::size_t kMiB = 1u << 20;
  std::ofstream(Path("most"), std::ios::binary) << std::string(kMiB, 'x');
  EXPECT_EQ(ReadTextFile(Path("most"), kMiB).value_or("none").size(), kMiB);
  std::ofstream(Path("more"), std::ios::binary) << std::string(kMiB + 1, 'x');
  for (const std::string& path : {Path("more"), std::string("/dev/zero")}) {
    const auto read = ReadTextFile(path, kMiB);
    ASSERT_FALSE(read);
    EXPECT_EQ(FormatError(read.error()), path + ": wanted at most 1 MiB, found more\n");
  }
}

TEST_F(TextFile, ANameCannotPutOtherLinesIntoAMessage) {
  const auto read = ReadTextFile("no\nfile");
  ASSERT_FALSE(read);
  EXPECT_EQ(FormatError(read.error()), "no\\x0afile: cannot be read: No such file or directory\n");
}

TEST_F(TextFile, WhyItCannotBeReadIsPrinted) {
  const auto read = ReadTextFile(Path("none"));
  ASSERT_FALSE(read);
  EXPECT_EQ(FormatError(read.error()),
            Path("none") + ": cannot be read: No such file or directory\n");
  const auto folder = ReadTextFile(Path(""));
  ASSERT_FALSE(folder);
  EXPECT_EQ(FormatError(folder.error()), Path("") + ": cannot be read: Is a directory\n");
}

}  // namespace
}  // namespace reconciler
