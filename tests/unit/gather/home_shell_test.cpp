#include <gmock/gmock.h>
#include <sys/stat.h>

#include "reconciler/base/text.h"
#include "reconciler/gather/gather_script.h"
#include "reconciler/node/frames.h"
#include "tests/support/home_fixture.h"

// Files below a user's home are read by that user.
namespace reconciler {
namespace {

using testing::HasSubstr;
using testing::Not;

class GatherHomeTest : public HomeTest {
 protected:
  ProbeReply Gather(const std::vector<Read>& reads) {
    const std::string nonce = MakeNonce();
    last_ = Run(BuildScript(reads, nonce));
    const auto reply = ParseGatherReply(last_, reads, nonce, directory_);
    EXPECT_TRUE(reply) << FormatError(reply.error());
    return *reply;
  }
  // Every shell of the script has the test's database of users.
  std::string BuildScript(const std::vector<Read>& reads, const std::string& nonce) const {
    std::string script = BuildGatherScript(reads, nonce, directory_);
    const std::string functions = "FUNCTIONS='";
    const std::string database = QuoteForShell(UserDatabase(directory_));
    script.insert(script.find(functions) + functions.size(),
                  database.substr(1, database.size() - 2));
    return script;
  }
  static std::string Why(const ProbeReply& reply, const std::string& path) {
    const auto* unknown = std::get_if<Unknown>(&reply.files.at(path));
    return unknown == nullptr ? "(known)" : unknown->why;
  }
  ScriptReply last_;
};

TEST_F(GatherHomeTest, AFileComesWithEveryByteModeAndOwner) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  const std::string deep = "home/" + std::string(90, 'd') + "/" + std::string(90, 'f');
  PutOwn("home/.ssh/one", bytes + "\n\nno newline at the end");
  PutOwn("home/.ssh/two", "");
  PutOwn(deep, "deep\n");
  std::filesystem::create_hard_link(Path("home/.ssh/one"), Path("home/.ssh/same"));
  const std::string long_path = "~daemon" + deep.substr(4);
  const ProbeReply reply = Gather({ReadFile{"~daemon/.ssh/one"}, ReadFile{"~daemon/.ssh/same"},
                                   ReadFile{"~daemon/.ssh/two"}, ReadFile{"~daemon/.ssh/none"},
                                   ReadFile{"~daemon/none/none"}, ReadFile{long_path}});
  const auto* one = Known(reply.files.at("~daemon/.ssh/one"));
  ASSERT_NE(one, nullptr) << Why(reply, "~daemon/.ssh/one");
  EXPECT_EQ(one->content, bytes + "\n\nno newline at the end");
  EXPECT_EQ(one->mode, 0600u);
  EXPECT_EQ(one->owner, "daemon");
  EXPECT_EQ(one->group, "daemon");
  EXPECT_EQ(Known(reply.files.at("~daemon/.ssh/same"))->content, one->content);
  EXPECT_EQ(Known(reply.files.at("~daemon/.ssh/two"))->content, "");
  EXPECT_TRUE(std::holds_alternative<Absent>(reply.files.at("~daemon/.ssh/none")));
  EXPECT_TRUE(std::holds_alternative<Absent>(reply.files.at("~daemon/none/none")));
  ASSERT_NE(Known(reply.files.at(long_path)), nullptr) << Why(reply, long_path);
  EXPECT_EQ(Known(reply.files.at(long_path))->content, "deep\n");
  EXPECT_EQ(reply.files.size(), 6u);
}

TEST_F(GatherHomeTest, WhatIsNotReadIsUnknownWithItsReasonAndHidesNoOtherFile) {
  PutOwn("home/plain", "still right\n");
  PutOwn("home/large", std::string((1 << 20) + 1, 'x'));
  MakeFolder("home/folder");
  PutOwn("home/closed/file", "x");
  std::filesystem::permissions(Path("home/closed"), std::filesystem::perms(0));
  Link(root_folder_ + "/secret", "home/link");
  Link(root_folder_, "home/.ssh");
  const ProbeReply reply =
      Gather({ReadFile{"~daemon/link"}, ReadFile{"~daemon/.ssh/secret"}, ReadFile{"~daemon/large"},
              ReadFile{"~daemon/folder"}, ReadFile{"~daemon/plain/x"},
              ReadFile{"~daemon/closed/file"}, ReadFile{"~daemon/plain"}});
  EXPECT_EQ(Why(reply, "~daemon/link"), "is a symbolic link");
  EXPECT_EQ(Why(reply, "~daemon/.ssh/secret"), "~daemon/.ssh is a symbolic link");
  EXPECT_EQ(Why(reply, "~daemon/large"), "larger than 1 MiB");
  EXPECT_EQ(Why(reply, "~daemon/folder"), "is not a regular file");
  EXPECT_EQ(Why(reply, "~daemon/plain/x"), "~daemon/plain is not a directory");
  EXPECT_EQ(Why(reply, "~daemon/closed/file"), "~daemon/closed cannot be entered");
  ASSERT_NE(Known(reply.files.at("~daemon/plain")), nullptr);
  EXPECT_EQ(Known(reply.files.at("~daemon/plain"))->content, "still right\n");
  EXPECT_THAT(last_.out, Not(HasSubstr("of root alone")));
}

TEST_F(GatherHomeTest, AHomeThatIsNotThereIsNoEmptyHome) {
  std::filesystem::remove(Path("home"));
  const ProbeReply reply = Gather({ReadFile{"~daemon/.ssh/x"}});
  EXPECT_EQ(Why(reply, "~daemon/.ssh/x"), "the home of daemon cannot be entered");
}

TEST_F(GatherHomeTest, AUserThatTheNodeLacksIsNamed) {
  const std::vector<Read> reads = {ReadFile{"~no-such-user-here/.ssh/config"}};
  const std::string nonce = MakeNonce();
  const auto reply = ParseGatherReply(Run(BuildGatherScript(reads, nonce)), reads, nonce);
  ASSERT_TRUE(reply);
  EXPECT_EQ(Why(*reply, "~no-such-user-here/.ssh/config"),
            "no user no-such-user-here on this node");
}

TEST_F(GatherHomeTest, AListNamesFilesOfHomesTooAndEachIsReadOnce) {
  PutOwn("home/one", "1\n");
  PutOwn("home/two", "2\n");
  Put("etc/x", "x\n");
  Put("var/list", "~daemon/one\n/etc/x\n~daemon/two\n");
  const ProbeReply reply = Gather({ReadFile{"~daemon/one"}, ReadListed{"/var/list"}});
  EXPECT_EQ(Known(reply.files.at("~daemon/one"))->content, "1\n");
  EXPECT_EQ(Known(reply.files.at("~daemon/two"))->content, "2\n");
  EXPECT_EQ(Known(reply.files.at("/etc/x"))->content, "x\n");
  EXPECT_EQ(last_.out.find("home daemon"), last_.out.rfind("home daemon"));
  EXPECT_EQ(last_.out.find("\n1\n", last_.out.find("home daemon")), std::string::npos);
}

// One process of the user's for all files, however many there are.
TEST_F(GatherHomeTest, ManyFilesTakeNoMoreProcessesThanOne) {
  std::vector<Read> reads;
  for (int i = 0; i < 40; ++i) {
    PutOwn(fmt::format("home/.ssh/{}", i), fmt::format("{}\n", i));
    reads.push_back(ReadFile{fmt::format("~daemon/.ssh/{}", i)});
  }
  // The user's own shell says that it runs.
  const std::string nonce = MakeNonce();
  std::string script = BuildScript(reads, nonce);
  const std::string first_line = "home=$1; verb=$2; shift 2\n";
  script.insert(script.find(first_line), "echo one >>\"$1/calls\"\n");
  const auto reply = ParseGatherReply(Run(script), reads, nonce, directory_);
  ASSERT_TRUE(reply);
  EXPECT_EQ(Known(reply->files.at("~daemon/.ssh/39"))->content, "39\n");
  EXPECT_EQ(Get(Path("home/calls")), "one\n");
}

// Swaps happen all the time; they are this user's own doing.
TEST_F(GatherHomeTest, ASwapWhileItIsReadLeaksNothingOfRootAndShiftsNoOtherFile) {
  MakeFolder("home/.ssh");
  PutOwn("home/.ssh/first", "first\n");
  PutOwn("home/.ssh/swapped", std::string(300, 's') + "\n");
  PutOwn("home/.ssh/third", "third\n");
  Link(root_folder_ + "/secret", "home/link");
  const std::string swap = fmt::format(
      "(cd {} && while [ -e go ]; do ln -sfn {}/secret .ssh/swapped; "
      "mv -f .ssh/swapped .ssh/kept; printf longer-than-it-was-before >.ssh/swapped; "
      "rm -f .ssh/swapped; printf x >.ssh/swapped; done) >/dev/null 2>&1 &\n",
      QuoteForShell(Path("home")), QuoteForShell(root_folder_));
  PutOwn("home/go", "");
  Run(fmt::format("setpriv --reuid {} --regid {} --clear-groups sh -c {}", uid_, gid_,
                  QuoteForShell(swap)));
  for (int i = 0; i < 25; ++i) {
    const ProbeReply reply =
        Gather({ReadFile{"~daemon/.ssh/first"}, ReadFile{"~daemon/.ssh/swapped"},
                ReadFile{"~daemon/.ssh/third"}});
    EXPECT_THAT(last_.out, Not(HasSubstr("of root alone")));
    for (const std::string name : {"first", "third"}) {
      const FileState* state = Known(reply.files.at("~daemon/.ssh/" + name));
      if (state != nullptr) {
        EXPECT_EQ(state->content, name + "\n");
      }
    }
  }
  std::filesystem::remove(Path("home/go"));
}

}  // namespace
}  // namespace reconciler
