#include "reconciler/cli/apply/event_log.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "reconciler/cli/apply/interrupt.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "schema/embedded.h"
#include "tests/support/temporary_folder.h"

namespace reconciler::cli {
namespace {

class EventFile : public testing::Test {
 protected:
  std::string Path() const { return folder_.Path() / "events.ndjson"; }

  // Each line as it is in the file, without program and time, which are as they must be.
  std::vector<std::string> Lines() const {
    static const std::regex time(
        "\"program\":\"[0-9.]+\",\"time\":\"\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}"
        "Z\",");
    std::ifstream file(Path());
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      EXPECT_EQ(Judge(line), "");
      lines.push_back(std::regex_replace(line, time, ""));
    }
    return lines;
  }

  static std::string Judge(const std::string& line) {
    const auto schema = nlohmann::json::parse(FindEmbeddedSchema("event"));
    return JudgeBySchema(nlohmann::json::parse(line), schema).value_or("");
  }

  test::TemporaryFolder folder_;
};

TEST_F(EventFile, EachEventIsALineAtOnceAndTheLastOneHasTheExitCode) {
  auto log = EventLog::Open(Path());
  ASSERT_TRUE(log);
  (*log)->Write({.type = EventType::kStageStarted,
                 .node = "spark-1",
                 .subject = "host, netplan",
                 .plugins = {"host", "netplan"},
                 .apply_id = "a1"});
  EXPECT_EQ(Lines().size(), 1u);
  (*log)->Write({.type = EventType::kChangeFailed,
                 .node = "spark-1",
                 .subject = "file /x",
                 .detail = "full",
                 .plugin = "host",
                 .kind = "file",
                 .name = "/x",
                 .apply_id = "a1"});
  EXPECT_TRUE((*log)->End(4));
  EXPECT_EQ(Lines(), (std::vector<std::string>{
                         R"({"format":"spark-reconcile/event/1","apply":"a1","event":)"
                         R"("stage-started","node":"spark-1","plugins":["host","netplan"],)"
                         R"("subject":"host, netplan"})",
                         R"({"format":"spark-reconcile/event/1","apply":"a1","event":)"
                         R"("change-failed","node":"spark-1","plugin":"host","resource":)"
                         R"({"kind":"file","name":"/x"},"subject":"file /x","detail":"full"})",
                         R"({"format":"spark-reconcile/event/1","apply":"a1","event":"ended",)"
                         R"("exit_code":4})"}));
}

TEST_F(EventFile, AnApplyThatChangedNothingHasOneEvent) {
  auto log = EventLog::Open(Path());
  ASSERT_TRUE(log);
  EXPECT_TRUE((*log)->End(3));
  EXPECT_EQ(Lines(), (std::vector<std::string>{
                         R"({"format":"spark-reconcile/event/1","event":"ended","exit_code":3})"}));
}

void WriteAndBeInterrupted(const std::string& path, InterruptPhase phase, int signal) {
  auto log = EventLog::Open(path);
  (*log)->Write({.type = EventType::kArmed, .apply_id = "a1"});
  EnterInterruptPhase(phase);
  std::raise(signal);
}

using EventFileDeathTest = EventFile;

TEST_F(EventFileDeathTest, AnInterruptThatEndsTheProgramIsTheLastEvent) {
  const auto last = [](int code) {
    return R"({"format":"spark-reconcile/event/1","apply":"a1","event":"ended","exit_code":)" +
           std::to_string(code) + "}";
  };
  EXPECT_EXIT(WriteAndBeInterrupted(Path(), InterruptPhase::kBefore, SIGTERM),
              testing::KilledBySignal(SIGTERM), "");
  ASSERT_EQ(Lines().size(), 2u);
  EXPECT_EQ(Lines()[1], last(143));
  EXPECT_EXIT(WriteAndBeInterrupted(Path(), InterruptPhase::kVerify, SIGINT),
              testing::ExitedWithCode(7), "");
  ASSERT_EQ(Lines().size(), 2u);
  EXPECT_EQ(Lines()[1], last(7));
}

TEST_F(EventFile, AnInterruptWritesNothingIntoAFileThatHasEnded) {
  auto log = EventLog::Open(Path());
  ASSERT_TRUE((*log)->End(0));
  const EndedLine line;
  EXPECT_TRUE(SetEndedLine(nullptr, &line)) << "none was left";
  EXPECT_TRUE(SetEndedLine(&line, nullptr));
}

TEST_F(EventFile, TheSchemaRefusesAnEventThatItDoesNotKnowAndATimeWithoutMilliseconds) {
  const std::string begin =
      R"({"format":"spark-reconcile/event/1","program":"0.1.0","time":"2026-11-24T03:12:05)";
  EXPECT_EQ(Judge(begin + R"(.123Z","event":"armed"})"), "");
  EXPECT_NE(Judge(begin + R"(.123Z","event":"disarmed"})"), "");
  EXPECT_NE(Judge(begin + R"(Z","event":"armed"})"), "");
}

TEST(EventLog, AFullDiskIsAnErrorOfTheFileAndStopsNothing) {
  auto log = EventLog::Open("/dev/full");
  ASSERT_TRUE(log);
  (*log)->Write({EventType::kArmed, "spark-1", "", ""});
  (*log)->Write({EventType::kConverged, "", "", ""});
  const auto ended = (*log)->End(0);
  ASSERT_FALSE(ended);
  EXPECT_EQ(FormatError(ended.error()),
            "/dev/full: cannot be written: No space left on device\n"
            "  hint: events are missing there; the apply went on without them\n");
}

TEST(EventLog, AFileThatCannotBeOpenedIsRefusedAtOnce) {
  const auto log = EventLog::Open("/nonexistent/events");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().message,
            "/nonexistent/events: cannot be written: No such file or directory");
}

TEST(EventLog, WithoutAFileThereIsNothingToWrite) {
  auto log = EventLog::Open("");
  ASSERT_TRUE(log);
  (*log)->Write({EventType::kArmed, "spark-1", "", ""});
  EXPECT_TRUE((*log)->End(0));
}

}  // namespace
}  // namespace reconciler::cli
