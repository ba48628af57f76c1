// What a drill makes on a node, and whether it sees each difference that a revert may leave.
#include <gtest/gtest.h>

#include "reconciler/apply/drill.sh.h"
#include "tests/support/shell_fixture.h"

namespace reconciler {
namespace {

class DrillScript : public ShellTest {
 protected:
  ScriptReply Call(const std::string& call) { return Run(std::string(kDrillSh) + call + "\n"); }
  std::string PrintState(const std::string& name) {
    const ScriptReply reply = Call("print_state " + QuoteForShell(Path(name)));
    EXPECT_EQ(reply.exit_code, 0) << reply.err;
    return reply.out;
  }
  void SetTime(const std::string& name, const std::string& time) {
    EXPECT_EQ(Run("touch -d '" + time + "' " + QuoteForShell(Path(name)) + "\n").exit_code, 0);
  }
};

TEST_F(DrillScript, AFileIsMadeWithItsFolders) {
  EXPECT_EQ(Call("keep " + QuoteForShell(Path("drill/deep/kept")) + " 'kept as it is'").exit_code,
            0);
  EXPECT_EQ(Get(Path("drill/deep/kept")), "kept as it is");
}

TEST_F(DrillScript, AFileThatCannotBeMadeIsAFailure) {
  Put("drill", "a file");
  EXPECT_NE(Call("keep " + QuoteForShell(Path("drill/kept")) + " x").exit_code, 0);
}

TEST_F(DrillScript, EachDifferenceOfAFileShows) {
  EXPECT_EQ(PrintState("file"), Path("file") + " absent\n");
  Put("file", "one");
  std::filesystem::permissions(Path("file"), std::filesystem::perms(0644));
  SetTime("file", "2026-01-02 03:04:05");
  const std::string before = PrintState("file");
  EXPECT_EQ(PrintState("file"), before);

  Put("file", "two");
  SetTime("file", "2026-01-02 03:04:05");
  EXPECT_NE(PrintState("file"), before);
  Put("file", "one");
  SetTime("file", "2026-01-02 03:04:06");
  EXPECT_NE(PrintState("file"), before);
  SetTime("file", "2026-01-02 03:04:05");
  EXPECT_EQ(PrintState("file"), before);
  std::filesystem::permissions(Path("file"), std::filesystem::perms(0600));
  EXPECT_NE(PrintState("file"), before);
}

TEST_F(DrillScript, AValueIsOneLineBehindItsName) {
  const std::string sysctl = "sysctl() { printf '4242\\t1\\n'; [ \"$*\" = '-n net.a.tag' ]; }\n";
  EXPECT_EQ(Call(sysctl + "print_value net.a.tag").out, "net.a.tag 4242 1\n");
}

}  // namespace
}  // namespace reconciler
