#include "plugins/common/systemctl/gpu_containers.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "reconciler/base/text.h"

namespace reconciler::plugins {
namespace {

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

  std::string MakeCommand() const {
    std::vector<std::string> argv = MakeGpuContainerProbe().argv;
    argv[argv.size() - 2] = folder_ / "cgroup";
    argv[argv.size() - 1] = folder_ / "proc";
    return JoinForShell(argv);
  }

  std::string List() const {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(MakeCommand().c_str(), "r"), pclose);
    std::string out;
    for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) {
      out += static_cast<char>(c);
    }
    return out;
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(GpuContainerScript, ContainersWithTheDriversFilesAreListed) {
  AddContainer("system.slice/docker-1a.scope", "11", "22 21 0:5 / /dev/nvidia0 rw - tmpfs x rw\n");
  AddContainer("system.slice/docker-2b.scope", "12", "22 21 0:5 / /dev/shm rw - tmpfs x rw\n");
  AddContainer("kubepods.slice/kubepods-pod3.slice/cri-containerd-3c.scope", "13",
               "1 2 0:5 / /usr/bin/nvidia-smi ro - ext4 x rw\n");
  AddContainer("user.slice/session-4.scope", "14", "1 2 0:5 / /dev/nvidia0 rw - tmpfs x rw\n");
  EXPECT_EQ(List(), "cri-containerd-3c.scope\ndocker-1a.scope\n");
}

TEST_F(GpuContainerScript, WithoutContainersNothingIsListed) {
  Put("cgroup/system.slice/x", "");
  EXPECT_EQ(List(), "");
  Put("cgroup/system.slice/docker-gone.scope/cgroup.procs", "");
  EXPECT_EQ(List(), "");
}

TEST_F(GpuContainerScript, WithoutTheFolderOfTheControlGroupsItFails) {
  EXPECT_NE(std::system((MakeCommand() + " 2>/dev/null").c_str()), 0);
  Put("cgroup/system.slice/x", "");
  EXPECT_EQ(std::system(MakeCommand().c_str()), 0);
}

}  // namespace
}  // namespace reconciler::plugins
