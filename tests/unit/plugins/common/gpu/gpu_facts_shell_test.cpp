#include "plugins/common/gpu/gpu_facts.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins {
namespace {

class GpuFactsScript : public reconciler::test::ScriptTree {
 protected:
  GpuFactsScript() {
    PutProgram("uname", "echo 6.11.0-nvidia");
    PutProgram("modprobe", R"(
      [ "$1 $2 $3" = '-n -v --' ] || exit 9
      case $4 in
        missing) echo "modprobe: FATAL: Module $4 not found" >&2; exit 1 ;;
        built_in) ;;
        *) printf 'insmod /lib/modules/first.ko\ninsmod /lib/modules/%s.ko\n' "$4" ;;
      esac)");
  }
  std::string RunFor(const std::string& symbols, const std::vector<std::string>& modules) const {
    std::vector<std::string> argv = std::get<RunProbe>(ListGpuReads(std::nullopt).back()).argv;
    argv.resize(4);
    argv.push_back(symbols);
    argv.insert(argv.end(), modules.begin(), modules.end());
    const CommandReply reply = Run(argv);
    EXPECT_EQ(reply.exit_code, 0);
    return reply.out;
  }
  void AddDriver(const std::string& model) const {
    Put("/proc/driver/nvidia/version", "NVRM version: 580.142\n");
    Put("/proc/driver/nvidia/gpus/000f:01:00.0/information", "Model: \t " + model + "\n");
  }
};

TEST_F(GpuFactsScript, TheKernelsSettingsArePrintedAsItsBuildWroteThem) {
  Put("/boot/config-6.11.0-nvidia",
      "CONFIG_64BIT=y\nCONFIG_HZ=250\n# CONFIG_PCI_P2PDMA is not set\n"
      "CONFIG_DMA_SHARED_BUFFER=y\nCONFIG_DMA_SHARED_BUFFER_TEST=y\n");
  EXPECT_EQ(RunFor("mostly", {}), "symbol not read\nCONFIG_64BIT=y\nCONFIG_DMA_SHARED_BUFFER=y\n");
}

TEST_F(GpuFactsScript, EachModuleIsLoadedBuiltInOrWhatModprobeReports) {
  Put("/sys/module/here/initstate", "live\n");
  Put("/sys/module/begun/initstate", "coming\n");
  EXPECT_EQ(RunFor("mostly", {"here", "begun", "built_in", "missing"}),
            "symbol not read\n"
            "module here loaded\n"
            "module begun would insmod /lib/modules/begun.ko\n"
            "module built_in built in\n"
            "module missing failed modprobe: FATAL: Module missing not found\n");
}

TEST_F(GpuFactsScript, TheSymbolsOfAGb10AreLookedThroughOnlyAlways) {
  Put("/proc/kallsyms", "0000 T ib_register_peer_memory_client\t[ib_core]\n");
  AddDriver("NVIDIA GB10");
  EXPECT_EQ(RunFor("mostly", {}), "symbol not read\n");
  EXPECT_EQ(RunFor("always", {}), "symbol yes\n");
}

TEST_F(GpuFactsScript, TheSymbolsOfAnotherGpuAreLookedThrough) {
  AddDriver("NVIDIA H100");
  EXPECT_EQ(RunFor("mostly", {}), "");  // no one may read them
  Put("/proc/kallsyms", "0000 T ib_register_peer_memory_client_v2\n");
  EXPECT_EQ(RunFor("mostly", {}), "symbol no\n");
  Put("/proc/kallsyms", "0000 T ib_register_peer_memory_client\n");
  EXPECT_EQ(RunFor("mostly", {}), "symbol yes\n");
}

}  // namespace
}  // namespace reconciler::plugins
