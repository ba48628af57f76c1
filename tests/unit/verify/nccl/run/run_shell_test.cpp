#include "reconciler/verify/nccl/run/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "reconciler/base/text.h"
#include "reconciler/transport/local_transport.h"
#include "reconciler/verify/nccl/evidence/figures.h"
#include "reconciler/verify/nccl/judge/run_error.h"
#include "tests/support/limits.h"
#include "tests/support/paths.h"

namespace reconciler {
namespace {

using testing::HasSubstr;

// Ranks on this machine: spark-verify itself with libraries that need no GPU, each rank through a
// shell of its own.
class RunNcclLocally : public testing::Test {
 protected:
  RunNcclLocally() {
    char path[] = "/tmp/nccl-run-XXXXXX";
    folder_ = mkdtemp(path);
  }
  ~RunNcclLocally() override { std::filesystem::remove_all(folder_); }

  // A program that is spark-verify in such an environment, or something else altogether.
  std::string Program(const std::string& name, const std::string& settings,
                      const std::string& instead = {}) {
    const std::string fakes = test::BinaryDir() + "/fakes";
    const std::string program = test::BinaryDir() + "/spark-verify";
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\nexport LD_LIBRARY_PATH=" << fakes
                        << " FAKE_GPU_CONF=/dev/null NCCL_SOCKET_IFNAME==lo NCCL_HOSTID=" << name
                        << " " << settings << "\n"
                        << (instead.empty() ? "exec " + program + " \"$@\"\n" : instead + "\n");
    chmod(path.c_str(), 0755);
    return path;
  }

  NcclRun Run(const std::vector<std::string>& programs) {
    NcclPlan plan;
    nodes_.resize(programs.size());
    for (std::size_t i = 0; i < programs.size(); ++i) {
      nodes_[i].name = "spark-" + std::to_string(i + 1);
      nodes_[i].access.become = Become::kNone;
      plan.ranks.push_back({.node = &nodes_[i], .program = programs[i]});
    }
    plan.options.run = folder_;
    plan.options.sizes = {{.bytes = 8}, {.bytes = 65536}};
    plan.options.iterations = 3;
    plan.options.warm_up = 1;
    plan.options.reserve = 0;
    plan.options.init_ms = plan.options.connect_ms = plan.options.size_ms = limit_ms_;
    plan.check_root = [this](std::string_view) -> Result<std::string> {
      if (root_error_.empty()) return "127.0.0.1:1";
      return Fail({.kind = ErrorKind::kVerify, .message = root_error_});
    };
    NodePool pool(DialLocal);
    return RunNccl(plan, pool);
  }

  std::string folder_;
  std::vector<NodeSpec> nodes_;
  int limit_ms_ = 10'000;
  std::string root_error_ = {};
};

TEST_F(RunNcclLocally, RanksThatAreWellGoThroughAllTests) {
  const NcclRun run = Run({Program("a", ""), Program("b", ""), Program("c", "")});
  const auto run_error = FindRunError(run);
  ASSERT_FALSE(run_error) << run_error->node << ": " << run_error->text;
  EXPECT_EQ(run.root, "127.0.0.1:1");
  const std::vector<NcclFigure> figures = ListFigures(run);
  ASSERT_EQ(figures.size(), 4u);  // two sizes in two placements
  EXPECT_EQ(figures[0].Name(), "all_reduce 8 B float");
  EXPECT_EQ(figures[3].Name(), "all_reduce 64 KiB float in place");
  for (const NcclFigure& figure : figures) EXPECT_EQ(figure.wrong, 0u);
  EXPECT_THAT(run.ranks[2].log, HasSubstr("NCCL INFO"));
}

TEST_F(RunNcclLocally, TheReasonOfTheRankThatFailedIsReported) {
  const NcclRun run =
      Run({Program("a", ""), Program("b", "FAKE_NCCL_FAULT=error-init@1"), Program("c", "")});
  const auto run_error = FindRunError(run);
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->node, "spark-2");
  EXPECT_EQ(run_error->code, "nccl");
}

TEST_F(RunNcclLocally, ARankThatEndsWithoutAMessageIsNamed) {
  const NcclRun run = Run({Program("a", ""), Program("b", "", "echo 'cannot do it' >&2; exit 3")});
  const auto run_error = FindRunError(run);
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->node, "spark-2");
  EXPECT_EQ(run_error->code, "gone");
  EXPECT_EQ(run_error->text, "wanted a line of spark-verify, found it ended with status 3");
  EXPECT_EQ(run_error->hint, "cannot do it");
}

TEST_F(RunNcclLocally, ARankThatIsStoppedIsNamedAndNothingOfItIsLeft) {
  limit_ms_ = 1500;
  const NcclRun run =
      Run({Program("a", ""), Program("b", "FAKE_NCCL_FAULT=hang-connect@1",
                                     "echo $$ > " + folder_ +
                                         "/pid\n"
                                         "( sleep 0.7; kill -STOP $$ ) >/dev/null 2>&1 &\n"
                                         "exec " +
                                         test::BinaryDir() + "/spark-verify \"$@\"")});
  const auto run_error = FindRunError(run);
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->node, "spark-2");
  EXPECT_EQ(run_error->code, "silent");
  std::string pid;
  std::ifstream(folder_ + "/pid") >> pid;
  std::string state = "State: not looked at";
  // A killed process dies in its time.
  const auto deadline =
      std::chrono::steady_clock::now() + test::ScaleLimit(std::chrono::milliseconds(5000));
  while (!state.empty() && std::chrono::steady_clock::now() < deadline) {
    state.clear();
    std::ifstream status("/proc/" + pid + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("State:") && line.find('Z') == std::string::npos) state = line;
    }
    if (!state.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(25));
  }
  EXPECT_EQ(state, "");
}

TEST_F(RunNcclLocally, ARootThatIsRefusedEndsTheRunBeforeItBegins) {
  root_error_ = "wanted another address";
  const NcclRun run = Run({Program("a", ""), Program("b", "")});
  const auto run_error = FindRunError(run);
  ASSERT_TRUE(run_error);
  EXPECT_EQ(run_error->code, "root");
  EXPECT_EQ(run_error->text, "wanted another address");
  for (const NcclRank& rank : run.ranks) EXPECT_EQ(rank.init_s, 0);
}

}  // namespace
}  // namespace reconciler
