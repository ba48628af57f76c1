#include "reconciler/cli/apply/apply_display.h"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "tests/support/temporary_folder.h"

namespace reconciler::cli {
namespace {

Plan MakePlan() {
  Plan plan{.cluster = "lab"};
  plan.nodes = {{.name = "spark-1"}};
  plan.stages = {{.plugins = {"host"},
                  .changes = {{.kind = "file", .name = "/etc/hosts", .node = "spark-1"}}}};
  return plan;
}

// What an apply with these flags shows on stderr of a stage with a change, a trigger, a connection
// and an error; each line's time of day is "hh:mm:ss".
std::string Show(const ApplyFlags& flags) {
  testing::internal::CaptureStderr();
  {
    auto display = ApplyDisplay::Open(flags, /*no_colour=*/true);
    EXPECT_TRUE(display);
    (*display)->Begin(MakePlan());
    (*display)->BeginChanging();
    (*display)->Log({LogLevel::kTransport, "spark-1: shell in 0.012 s"});
    (*display)->Note({EventType::kArmed, "", "", ""});
    (*display)->Note({EventType::kStageStarted, "spark-1", "host", ""});
    (*display)->Note({EventType::kChangeDone, "spark-1", "file /etc/hosts", ""});
    (*display)->Note({EventType::kTriggerDone, "spark-1", "run networkctl reload", ""});
    (*display)->Note({EventType::kTriggerFailed, "spark-1", "run a", "exit code 1"});
    (*display)->End();
  }
  const std::string text = testing::internal::GetCapturedStderr();
  return std::regex_replace(text, std::regex("(^|\n)[0-9]{2}:[0-9]{2}:[0-9]{2} "), "$1hh:mm:ss ");
}

TEST(ApplyDisplay, WithoutVerbosityALogHasTheChangesAndTheErrors) {
  EXPECT_EQ(Show({.progress = "plain"}),
            "hh:mm:ss every node would revert this on its own; changing\n"
            "hh:mm:ss spark-1 1/1: file /etc/hosts\n"
            "hh:mm:ss spark-1: run a failed: exit code 1\n");
}

TEST(ApplyDisplay, OneVAddsStagesAndTriggers) {
  EXPECT_EQ(Show({.progress = "plain", .verbosity = 1}),
            "hh:mm:ss every node would revert this on its own; changing\n"
            "hh:mm:ss spark-1: next: file\n"
            "hh:mm:ss spark-1 1/1: file /etc/hosts\n"
            "hh:mm:ss spark-1: run networkctl reload\n"
            "hh:mm:ss spark-1: run a failed: exit code 1\n");
}

TEST(ApplyDisplay, TwoVAddConnectionsAndShells) {
  EXPECT_EQ(Show({.progress = "plain", .verbosity = 2}),
            "hh:mm:ss spark-1: shell in 0.012 s\n"
            "hh:mm:ss every node would revert this on its own; changing\n"
            "hh:mm:ss spark-1: next: file\n"
            "hh:mm:ss spark-1 1/1: file /etc/hosts\n"
            "hh:mm:ss spark-1: run networkctl reload\n"
            "hh:mm:ss spark-1: run a failed: exit code 1\n");
}

TEST(ApplyDisplay, WithoutProgressTheErrorsStayAndWhatVerbosityAdds) {
  EXPECT_EQ(Show({.progress = "none"}), "hh:mm:ss spark-1: run a failed: exit code 1\n");
  EXPECT_EQ(Show({.progress = "none", .verbosity = 1}),
            "hh:mm:ss spark-1: next: file\n"
            "hh:mm:ss spark-1: run networkctl reload\n"
            "hh:mm:ss spark-1: run a failed: exit code 1\n");
}

TEST(ApplyDisplay, ALogFileHasEveryLineWhateverIsShown) {
  const test::TemporaryFolder folder;
  const std::string path = folder.Path() / "apply.log";
  Show({.progress = "none", .log_file = path});
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::regex time("(^|\n)[0-9-]{10}T[0-9:]{8}\\.[0-9]{3}Z ");
  EXPECT_EQ(std::regex_replace(text.str(), time, "$1TIME "),
            "TIME trace spark-1: shell in 0.012 s\n"
            "TIME info every node would revert this on its own; changing\n"
            "TIME debug spark-1: next: file\n"
            "TIME info spark-1 1/1: file /etc/hosts\n"
            "TIME debug spark-1: run networkctl reload\n"
            "TIME error spark-1: run a failed: exit code 1\n");
}

TEST(ApplyDisplay, ALogFileThatCannotBeWrittenIsAnErrorBeforeAnythingRuns) {
  const auto display = ApplyDisplay::Open({.log_file = "/nonexistent/log"}, /*no_colour=*/true);
  ASSERT_FALSE(display);
  EXPECT_EQ(display.error().message,
            "/nonexistent/log: cannot be written: No such file or directory");
}

}  // namespace
}  // namespace reconciler::cli
