#include "reconciler/gather/reply/home_reply.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reconciler {
namespace {

constexpr std::size_t kBlock = 512;  // of a tar archive, in bytes
constexpr const char* kConfig = "~nvidia/.ssh/config";
constexpr const char* kKeys = "~nvidia/.ssh/authorized_keys";

using testing::Pair;
using testing::UnorderedElementsAre;

void Put(std::string& block, std::size_t at, std::string_view text) {
  block.replace(at, text.size(), text);
}

std::string Pad(std::string bytes) {
  bytes.resize((bytes.size() + kBlock - 1) / kBlock * kBlock, '\0');
  return bytes;
}

// A header of the form `gnu`; numbers are octal digits.
std::string MakeHeader(std::string_view name, std::string_view size, char type = '0') {
  std::string block(kBlock, '\0');
  Put(block, 0, name);
  Put(block, 100, "0000600");
  Put(block, 124, size);
  block[156] = type;
  Put(block, 257, "ustar  ");
  Put(block, 265, "nvidia");
  Put(block, 297, "users");
  return block;
}

std::string MakeEntry(std::string_view name, const std::string& content, char type = '0') {
  return MakeHeader(name, fmt::format("{:011o}", content.size()), type) + Pad(content);
}

std::string MakeRecord(char state, const std::string& path, const std::string& part) {
  return fmt::format("{} {}", state, path) + '\0' + part + '\0';
}
std::string MakeRecord(char state, const std::string& path) {
  return MakeRecord(state, path, path);
}

// What the process of a user answers, whose archive is whole.
std::string MakeReply(const std::string& records, const std::string& entries,
                      const std::string& end = "exit 0") {
  return records + '\0' + entries + std::string(2 * kBlock, '\0') + end;
}

std::map<std::string, Observed<FileState>> ReadHome(const std::optional<std::string>& reply) {
  std::map<std::string, Observed<FileState>> files;
  AddHomeFiles({kConfig, kKeys}, {{"nvidia", reply}}, files);
  return files;
}

Observed<FileState> ReadConfig(const std::string& reply) { return ReadHome(reply).at(kConfig); }

Observed<FileState> MakeOwn(const std::string& content) {
  return FileState{.content = content, .mode = 0600, .owner = "nvidia", .group = "users"};
}
Observed<FileState> MakeUnknown(std::string why) { return Unknown{std::move(why)}; }

const std::string kBothRecords =
    MakeRecord('F', ".ssh/config") + MakeRecord('F', ".ssh/authorized_keys");

TEST(HomeReply, EachFileHasItsBytesModeAndOwner) {
  const std::string bytes("Host *\n\0\xff exit 0", 16);
  EXPECT_THAT(ReadHome(MakeReply(kBothRecords, MakeEntry(".ssh/config", bytes) +
                                                   MakeEntry(".ssh/authorized_keys", ""))),
              UnorderedElementsAre(Pair(kConfig, MakeOwn(bytes)), Pair(kKeys, MakeOwn(""))));
}

TEST(HomeReply, EachStateHasItsReason) {
  const auto read = [](char state, const std::string& part) {
    return ReadConfig(MakeReply(MakeRecord(state, ".ssh/config", part), ""));
  };
  EXPECT_EQ(read('D', ".ssh"), Observed<FileState>(Absent{}));
  EXPECT_EQ(read('L', ".ssh/config"), MakeUnknown("is a symbolic link"));
  EXPECT_EQ(read('L', ".ssh"), MakeUnknown("~nvidia/.ssh is a symbolic link"));
  EXPECT_EQ(read('O', ".ssh/config"), MakeUnknown("is not a regular file"));
  EXPECT_EQ(read('O', ".ssh"), MakeUnknown("~nvidia/.ssh is not a directory"));
  EXPECT_EQ(read('U', ".ssh/config"), MakeUnknown("permission denied"));
  EXPECT_EQ(read('U', ".ssh"), MakeUnknown("~nvidia/.ssh cannot be entered"));
  EXPECT_EQ(read('U', "."), MakeUnknown("the home of nvidia cannot be entered"));
  EXPECT_EQ(read('F', ".ssh/config"), MakeUnknown("vanished while it was read"));
  EXPECT_EQ(read('?', ".ssh/config"), MakeUnknown("vanished while it was read"));
}

TEST(HomeReply, WhatHasNoAnswerIsUnknown) {
  EXPECT_EQ(ReadHome(std::nullopt).at(kConfig), MakeUnknown("no user nvidia on this node"));
  EXPECT_EQ(ReadConfig(""), MakeUnknown("nothing could be read as nvidia"));
  std::map<std::string, Observed<FileState>> files;
  AddHomeFiles({kConfig}, {}, files);
  EXPECT_EQ(files.at(kConfig), MakeUnknown("not answered"));
}

TEST(HomeReply, AFileThatChangedWhileItWasReadIsUnknown) {
  const std::string entry = MakeEntry(".ssh/config", "Host *\n");
  const std::string record = MakeRecord('F', ".ssh/config");
  EXPECT_EQ(ReadConfig(MakeReply(record, entry, "exit 1")),
            MakeUnknown("files changed while they were read"));
  EXPECT_EQ(ReadConfig(MakeReply(record, entry, "exit 2")),
            MakeUnknown("files changed while they were read"));
  EXPECT_EQ(ReadConfig(MakeReply(record, entry, "")), MakeUnknown("cut while it was read"));
  EXPECT_EQ(ReadConfig(MakeReply(record, entry, "exit 0 ")), MakeUnknown("cut while it was read"));
}

// Wherever the bytes end, no file has content that is not whole.
TEST(HomeReply, AReplyThatIsCutAnywhereShowsNoContent) {
  const std::string whole = MakeReply(kBothRecords, MakeEntry(".ssh/config", "Host *\n") +
                                                        MakeEntry(".ssh/authorized_keys", "ssh\n"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    for (const auto& [path, state] : ReadHome(whole.substr(0, size))) {
      EXPECT_EQ(Known(state), nullptr) << path << " after " << size << " bytes";
    }
  }
}

TEST(HomeReply, AFileThatIsTooLargeHidesNoOther) {
  const std::string large((1u << 20) + 1, 'x');
  const auto files = ReadHome(MakeReply(
      kBothRecords, MakeEntry(".ssh/config", large) + MakeEntry(".ssh/authorized_keys", "ssh\n")));
  EXPECT_EQ(files.at(kConfig), MakeUnknown("larger than 1 MiB"));
  EXPECT_EQ(files.at(kKeys), MakeOwn("ssh\n"));
}

TEST(HomeReply, ALongNameIsThatOfTheNextEntryOnly) {
  const std::string below = ".config/" + std::string(120, 'a');
  const std::string path = "~nvidia/" + below;
  std::map<std::string, Observed<FileState>> files;
  const std::string entries = MakeEntry("././@LongLink", below + '\0', 'L') +
                              MakeEntry(below.substr(0, 100), "long\n") +
                              MakeEntry(".ssh/config", "Host *\n");
  AddHomeFiles(
      {path, kConfig},
      {{"nvidia", MakeReply(MakeRecord('F', below) + MakeRecord('F', ".ssh/config"), entries)}},
      files);
  EXPECT_EQ(files.at(path), MakeOwn("long\n"));
  EXPECT_EQ(files.at(kConfig), MakeOwn("Host *\n"));
}

TEST(HomeReply, OnlyARegularFileThatWasRequestedHasContent) {
  const std::string entries = MakeEntry(".ssh/config", "/etc/shadow", '2') +
                              MakeEntry("/etc/shadow", "root\n") +
                              MakeEntry("../other/.ssh/authorized_keys", "ssh\n");
  EXPECT_THAT(ReadHome(MakeReply(kBothRecords + MakeRecord('F', "/etc/shadow"), entries)),
              UnorderedElementsAre(Pair(kConfig, MakeUnknown("vanished while it was read")),
                                   Pair(kKeys, MakeUnknown("vanished while it was read"))));
}

TEST(HomeReply, OneUserSaysNothingAboutTheFilesOfAnother) {
  std::map<std::string, Observed<FileState>> files;
  const std::string lie =
      MakeReply(MakeRecord('F', "~root/.ssh/config"), MakeEntry("~root/.ssh/config", "Host *\n"));
  AddHomeFiles({kConfig, "~root/.ssh/config"}, {{"nvidia", lie}, {"root", MakeReply("", "")}},
               files);
  EXPECT_EQ(files.at(kConfig), MakeUnknown("nothing could be read as nvidia"));
  EXPECT_EQ(files.at("~root/.ssh/config"), MakeUnknown("nothing could be read as root"));
}

TEST(HomeReply, AHeaderWithoutNumbersEndsTheArchive) {
  const std::string record = MakeRecord('F', ".ssh/config");
  for (const std::string_view size : {"", "-0000000001", "99999999999", "zzzzzzzzzzz",
                                      "77777777777", "0x000000001", "\x80\x00\x00\x01"}) {
    const std::string entries =
        MakeHeader(".ssh/config", size) + MakeEntry(".ssh/config", "late\n");
    EXPECT_EQ(Known(ReadConfig(MakeReply(record, entries))), nullptr) << size;
  }
}

TEST(HomeReply, BytesOfAnyFormAreNoContent) {
  std::uint32_t seed = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 700; ++i) {
      seed = seed * 1664525u + 1013904223u;
      bytes.push_back(static_cast<char>(seed >> 24));
    }
    for (const std::string& reply : {bytes, MakeReply(bytes, ""), MakeReply(kBothRecords, bytes)}) {
      EXPECT_EQ(Known(ReadConfig(reply)), nullptr);
    }
  }
}

}  // namespace
}  // namespace reconciler
