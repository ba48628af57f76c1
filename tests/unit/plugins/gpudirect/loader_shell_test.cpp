#include "plugins/gpudirect/loader.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins::gpudirect {
namespace {

class LoaderScript : public reconciler::test::ScriptTree {
 protected:
  LoaderScript() {
    SetState("failed");
    // The kernel has every module but "missing", and "built-in" in itself.
    PutProgram("modprobe", R"(
      [ "$1 $2 $3" = '-n -v --' ] || exit 9
      case $4 in missing) exit 1 ;; built-in) ;; *) echo "insmod /lib/modules/$4.ko" ;; esac)");
  }
  void SetState(const std::string& state) const { PutProgram("systemctl", "echo " + state); }
};

TEST_F(LoaderScript, LinesOfModulesThatTheKernelHasAndDidNotLoadArePrinted) {
  Put("/etc/modules-load.d/a.conf",
      "# nvidia\nnvidia-peermem\n; other\n\nmissing\nbuilt-in\n  loaded-one  \nlast more");
  Put("/sys/module/loaded_one/initstate", "live\n");
  Put("/sys/module/last/initstate", "coming\n");
  const CommandReply reply = Run(MakeLoaderProbe().argv);
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out,
            "state failed\n"
            "entry /etc/modules-load.d/a.conf:2 nvidia-peermem\n"
            "entry /etc/modules-load.d/a.conf:8 last\n");
}

TEST_F(LoaderScript, AFileHidesThoseOfItsNameInLaterFolders) {
  Put("/etc/modules-load.d/a.conf", "one\n");
  Put("/usr/lib/modules-load.d/a.conf", "two\n");
  PutLink("/run/modules-load.d/b.conf", "/nothing");
  Put("/usr/local/lib/modules-load.d/b.conf", "three\n");
  Put("/usr/local/lib/modules-load.d/c.conf", "four\n");
  Put("/usr/lib/modules-load.d/d.list", "five\n");
  EXPECT_EQ(Run(MakeLoaderProbe().argv).out,
            "state failed\n"
            "entry /etc/modules-load.d/a.conf:1 one\n"
            "entry /usr/local/lib/modules-load.d/c.conf:1 four\n");
}

TEST_F(LoaderScript, FilesAreReadOnlyWhereTheUnitFailed) {
  Put("/etc/modules-load.d/a.conf", "one\n");
  SetState("active");
  const CommandReply reply = Run(MakeLoaderProbe().argv);
  EXPECT_EQ(reply.exit_code, 0);
  EXPECT_EQ(reply.out, "state active\n");
}

TEST_F(LoaderScript, WithoutAnAnswerOfSystemctlNothingIsPrinted) {
  PutProgram("systemctl", "exit 1");
  const CommandReply reply = Run(MakeLoaderProbe().argv);
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.out, "");
}

}  // namespace
}  // namespace reconciler::plugins::gpudirect
