#include "plugins/common/systemctl/gpu_containers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/run_here.h"

namespace reconciler::plugins {
namespace {

Observed<std::vector<std::string>> Scopes(std::vector<std::string> names) { return names; }

class GpuContainerScript : public testing::Test {
 protected:
  GpuContainerScript() {
    std::string name = (std::filesystem::temp_directory_path() / "gpu_test.XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~GpuContainerScript() override { std::filesystem::remove_all(folder_); }

  void Put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }

  // A container with its first process in a control group of its own below the scope.
  void AddContainer(const std::string& scope, const std::string& pid,
                    const std::string& mounts) const {
    Put("cgroup/" + scope + "/cgroup.procs", "");
    Put("cgroup/" + scope + "/init/cgroup.procs", pid + "\n99999\n");
    Put("proc/" + pid + "/mountinfo", mounts);
  }

  Observed<std::vector<std::string>> List() const {
    std::vector<std::string> argv = MakeGpuContainerProbe().argv;
    argv[argv.size() - 2] = folder_ / "cgroup";
    argv[argv.size() - 1] = folder_ / "proc";
    CommandReply reply = test::RunHere(argv);
    reply.exit_code = WEXITSTATUS(reply.exit_code);
    NodeFacts facts;
    StoreGpuContainers({.commands = {{MakeGpuContainerProbe().id, reply}}}, facts);
    return *facts.units.gpu_containers;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(GpuContainerScript, ContainersWithTheDriversFilesAreListed) {
  AddContainer("system.slice/docker-1a.scope", "11", "22 21 0:5 / /dev/nvidia0 rw - tmpfs x rw\n");
  AddContainer("system.slice/docker-2b.scope", "12", "22 21 0:5 / /dev/shm rw - tmpfs x rw\n");
  AddContainer("kubepods.slice/kubepods-pod3.slice/cri-containerd-3c.scope", "13",
               "1 2 0:5 / /usr/bin/nvidia-smi ro - ext4 x rw\n");
  Put("proc/driver/nvidia/version", "NVRM version: x\n");
  AddContainer("user.slice/session-4.scope", "14", "1 2 0:5 / /dev/nvidia0 rw - tmpfs x rw\n");
  EXPECT_EQ(List(), Scopes({"cri-containerd-3c.scope", "docker-1a.scope"}));
}

TEST_F(GpuContainerScript, WithoutTheDriverNoContainerHasAGpu) {
  AddContainer("system.slice/docker-1a.scope", "11", "22 21 0:5 / /dev/nvidia0 rw - tmpfs x rw\n");
  EXPECT_EQ(List(), Scopes({}));
  Put("proc/driver/nvidia/version", "NVRM version: x\n");
  EXPECT_EQ(List(), Scopes({"docker-1a.scope"}));
}

TEST_F(GpuContainerScript, WithoutContainersNothingIsListed) {
  Put("proc/driver/nvidia/version", "NVRM version: x\n");
  Put("cgroup/system.slice/x", "");
  EXPECT_EQ(List(), Scopes({}));
  Put("cgroup/system.slice/docker-gone.scope/cgroup.procs", "");
  EXPECT_EQ(List(), Scopes({}));
}

TEST_F(GpuContainerScript, WithoutTheFolderOfTheControlGroupsItFails) {
  EXPECT_TRUE(std::holds_alternative<Unknown>(List()));
  Put("cgroup/system.slice/x", "");
  EXPECT_EQ(List(), Scopes({}));
}

}  // namespace
}  // namespace reconciler::plugins
