#include "reconciler/cli/apply/event_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include "tests/support/temporary_folder.h"

namespace reconciler::cli {
namespace {

TEST(EventLog, AFullDiskIsAnErrorOfTheFileAndStopsNothing) {
  auto log = EventLog::Open("/dev/full");
  ASSERT_TRUE(log);
  (*log)->Write({EventType::kArmed, "spark-1", "", ""});
  (*log)->Write({EventType::kConverged, "", "", ""});
  const auto closed = (*log)->Close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(FormatError(closed.error()),
            "/dev/full: cannot be written: No space left on device\n"
            "  hint: events are missing there; the apply went on without them\n");
  EXPECT_TRUE((*log)->Close());  // said once
}

TEST(EventLog, EachEventIsALineAtOnce) {
  const test::TemporaryFolder folder;
  const std::string path = folder.Path() / "events.ndjson";
  auto log = EventLog::Open(path);
  ASSERT_TRUE(log);
  (*log)->Write({EventType::kArmed, "spark-1", "", ""});
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_TRUE(text.str().ends_with("\"event\":\"armed\",\"node\":\"spark-1\"}\n")) << text.str();
  EXPECT_TRUE((*log)->Close());
}

TEST(EventLog, AFileThatCannotBeOpenedIsRefusedAtOnce) {
  const auto log = EventLog::Open("/nonexistent/events");
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().message,
            "/nonexistent/events: cannot be written: No such file or directory");
}

}  // namespace
}  // namespace reconciler::cli
