#include <gmock/gmock.h>

#include "plugins/packages/prune_packages.sh.h"
#include "plugins/packages/read_packages.sh.h"
#include "plugins/packages/read_tools.sh.h"
#include "plugins/packages/remove_packages.sh.h"
#include "reconciler/base/text.h"
#include "tests/support/script_tree.h"

namespace reconciler::plugins::packages {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

// A node whose dpkg has `bash` 5.2, `old` 1.0, and holds `kept` 1.0.
class PackageScripts : public reconciler::test::ScriptTree {
 protected:
  PackageScripts() {
    PutProgram("dpkg",
               "case $1 in --print-architecture) echo arm64 ;;\n"
               "--compare-versions) [ \"$2\" = \"$4\" ] || [ \"$2\" = 5.2 ] ;; esac\n");
    PutProgram("dpkg-query",
               "for name; do :; done; case $name in\n"
               "bash) printf 'arm64 install ok 5.2\\n' | sed 's/ok/installed/' ;;\n"
               "old) echo 'armhf install installed 0.1'; echo 'arm64 install installed 1.0' ;;\n"
               "kept) echo 'all hold installed 1.0' ;;\n"
               "*) echo 'no packages found' >&2; exit 1 ;; esac\n");
    PutProgram("apt-cache",
               "echo \"  $2 | 2.0 | http://deb.example/debian bookworm/main arm64 Packages\"\n"
               "echo \"  $2 | 2.0 | http://deb.example/debian bookworm/main Sources\"\n"
               "echo \"  $2 | 1.0 | http://deb.example/debian bookworm/main arm64 Packages\"\n");
    PutProgram("apt-config", "exit 0\n");
    PutProgram("getent", "case $2 in deb.example) echo '192.0.2.1 STREAM' ;; *) exit 2 ;; esac\n");
    PutProgram("ip", "exit 0\n");
    SetApt(
        "echo 'Inst libnew (3.0 Debian:12 [arm64])'\necho 'Inst old [1.0] (2.0 Debian:12 "
        "[arm64])'\n"
        "echo 'Remv other [7]'\necho 'Conf old (2.0 Debian:12 [arm64])'\n",
        "http://deb.example/old_2.0.deb");
  }

  void SetApt(const std::string& simulation, const std::string& uri) {
    PutProgram("apt-get", "case \" $* \" in *' --print-uris '*) echo \"'" + uri +
                              "' old.deb 1\" ;; *)\n" + simulation + ";; esac\n");
  }
  std::vector<std::string> Read(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {"sh", "-c", std::string(kReadPackagesSh), "sh"};
    argv.insert(argv.end(), words.begin(), words.end());
    const CommandReply reply = Run(argv);
    EXPECT_EQ(reply.exit_code, 0) << reply.out;
    return SplitLines(reply.out);
  }
};

TEST_F(PackageScripts, WhatHoldsIsNotSimulated) {
  SetApt("echo BAD\n", "http://bad/");
  EXPECT_THAT(Read({"bash", "5.0", "kept", "-"}),
              ElementsAre("apt yes", "package bash install installed 5.2",
                          "package kept hold installed 1.0"));
}

TEST_F(PackageScripts, WhatIsTooOldIsSimulatedForTheNativeArchitecture) {
  EXPECT_THAT(Read({"old", "2.0"}),
              ElementsAre("apt yes", "package old install installed 1.0", "available old 2.0",
                          "available old 1.0", "step old libnew - 3.0", "step old old 1.0 2.0",
                          "step old other 7 -", "simulated old", "available other 2.0",
                          "available other 1.0"));
}

TEST_F(PackageScripts, AHeldOneIsNotSimulated) {
  SetApt("echo BAD\n", "http://bad/");
  EXPECT_THAT(Read({"kept", "2.0"}), ElementsAre("apt yes", "package kept hold installed 1.0",
                                                 "available kept 2.0", "available kept 1.0"));
}

TEST_F(PackageScripts, WhatAptRefusesIsSaidInItsWords) {
  SetApt("echo 'Reading lists'\necho 'E: Unable to locate package none'\nexit 100\n", "");
  PutProgram("apt-cache", "exit 0\n");
  EXPECT_THAT(Read({"none", "-"}), ElementsAre("apt yes", "package none unknown not-installed -",
                                               "refused none Unable to locate package none"));
}

TEST_F(PackageScripts, AServerWithoutAddressOrRouteIsNamed) {
  SetApt("echo 'Inst new (2.0 Debian:12 [arm64])'\n", "http://elsewhere.example:8080/new.deb");
  PutProgram("apt-cache", "exit 0\n");
  const auto unreachable =
      ElementsAre("apt yes", "package new unknown not-installed -", "step new new - 2.0",
                  "simulated new", "unreachable new elsewhere.example");
  EXPECT_THAT(Read({"new", "-"}), unreachable);
  PutProgram("getent", "echo '192.0.2.1 STREAM'\n");
  EXPECT_EQ(Read({"new", "-"}).size(), 4U);
  PutProgram("ip", "exit 2\n");
  EXPECT_THAT(Read({"new", "-"}), unreachable);
  // A proxy reaches what the node does not.
  PutProgram("apt-config", "echo 'Acquire::http::Proxy \"http://proxy:3128\";'\n");
  EXPECT_EQ(Read({"new", "-"}).size(), 4U);
}

// Without a name server each look-up takes 5 s, and the whole script has 45 s.
TEST_F(PackageScripts, AServerThatCannotBeReachedIsLookedUpOnceAndNamedForEachPackage) {
  SetApt("echo 'Inst new (2.0 Debian:12 [arm64])'\n", "http://elsewhere.example/new.deb");
  PutProgram("apt-cache", "exit 0\n");
  Put("/lookups", "");
  PutProgram("getent", "echo \"$2\" >>'" + Place("/lookups").string() + "'; exit 2\n");
  const std::vector<std::string> lines = Read({"new", "-", "newer", "-"});
  EXPECT_THAT(lines, IsSupersetOf({"unreachable new elsewhere.example",
                                   "unreachable newer elsewhere.example"}));
  EXPECT_EQ(Run({"sh", "-c", "cat '" + Place("/lookups").string() + "'"}).out,
            "elsewhere.example\n");
}

TEST_F(PackageScripts, FilesOfTheNodeNeedNoServer) {
  SetApt("echo 'Inst new (2.0 local [arm64])'\n", "file:/srv/repository/new.deb");
  PutProgram("apt-cache", "exit 0\n");
  EXPECT_EQ(Read({"new", "-"}).size(), 4U);
}

// apt and dpkg of a node on which the packages of /installed are, and `user` needs `library`.
class RemovalScripts : public reconciler::test::ScriptTree {
 protected:
  RemovalScripts() {
    PutProgram(
        "dpkg-query",
        "shift 3; for name; do [ ! -e \"$INSTALLED/$name\" ] || echo \"$name installed\"; done\n");
    PutProgram("dpkg", "echo \"dpkg $*\" >>\"$INSTALLED.log\"\n");
    PutProgram("logger", "echo \"$*\" >>\"$INSTALLED.log\"\n");
    PutProgram(
        "apt-mark",
        "case $1 in showmanual) [ ! -e \"$INSTALLED.manual\" ] || cat \"$INSTALLED.manual\" ;;\n"
        "*) echo \"$*\" >>\"$INSTALLED.log\" ;; esac\n");
    PutProgram("apt-get",
               "simulate=no; case $1 in -s) simulate=yes ;; esac\n"
               "while [ \"$1\" != remove ]; do shift; done; shift\n"
               "case \" $* \" in *' library '*) [ ! -e \"$INSTALLED/user\" ] || set -- user \"$@\" "
               ";; esac\n"
               "[ $simulate = yes ] || echo \"remove $*\" >>\"$INSTALLED.log\"\n"
               "for name; do if [ $simulate = yes ]; then [ ! -e \"$INSTALLED/$name\" ] || echo "
               "\"Remv $name [1]\"\n"
               "else rm -f \"$INSTALLED/$name\"; fi; done | sort -u\n");
  }
  CommandReply RunScript(std::string_view script, const std::vector<std::string>& names) const {
    std::vector<std::string> argv = {"sh", "-c", std::string(script), "sh"};
    argv.insert(argv.end(), names.begin(), names.end());
    return Run(argv, "export INSTALLED='" + Place("/installed").string() + "'");
  }
  std::string Log() const {
    return Run({"sh", "-c", "cat " + Place("/installed.log").string()}).out;
  }
  void Install(const std::vector<std::string>& names) const {
    for (const std::string& name : names) Put("/installed/" + name, "");
  }
  std::vector<std::string> Left() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Place("/installed"))) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(RemovalScripts, WhatIsThereIsRemovedAtOnceAndWhatIsGoneCountsAsRemoved) {
  Install({"a", "library", "other"});
  EXPECT_EQ(RunScript(kRemovePackagesSh, {"library", "gone", "a"}).exit_code, 0);
  EXPECT_THAT(Left(), ElementsAre("other"));
  EXPECT_EQ(RunScript(kRemovePackagesSh, {"library", "gone", "a"}).exit_code, 0);
}

TEST_F(RemovalScripts, WhatAnotherPackageNeedsIsNotRemovedAndTheOtherNamed) {
  Install({"a", "library", "user"});
  const CommandReply reply = RunScript(kRemovePackagesSh, {"library", "a"});
  EXPECT_EQ(reply.exit_code, 1);
  EXPECT_EQ(reply.out, "needed by user\n");
  EXPECT_THAT(Left(), ElementsAre("a", "library", "user"));
}

TEST_F(RemovalScripts, AnInterruptedDpkgIsSetRightFirst) {
  Install({"a"});
  PutProgram("apt-get",
             "case $1 in -s) echo 'Remv a [1]' ;; *) [ -e \"$INSTALLED.log\" ] ;; esac\n");
  EXPECT_EQ(RunScript(kRemovePackagesSh, {"a"}).exit_code, 0);
}

TEST_F(RemovalScripts, OfAPruneOnlyWhatNoOneNeedsIsRemovedAndItSucceeds) {
  Install({"a", "library", "user"});
  EXPECT_EQ(RunScript(kPrunePackagesSh, {"library", "gone", "a"}).exit_code, 0);
  EXPECT_THAT(Left(), ElementsAre("library", "user"));
  EXPECT_EQ(SplitLines(Log()),
            (std::vector<std::string>{"-t spark-reconcile -- package library stays: needed by user",
                                      "auto library", "remove a"}));
  EXPECT_EQ(RunScript(kPrunePackagesSh, {"-"}).exit_code, 0);
  EXPECT_EQ(RunScript(kPrunePackagesSh, {"-", "library"}).exit_code, 0);
  EXPECT_THAT(Left(), ElementsAre("library", "user"));
}

TEST_F(RemovalScripts, WhatOnlyPackagesOfTheSamePruneNeedIsRemovedWithThem) {
  Install({"library", "other", "user"});
  EXPECT_EQ(RunScript(kPrunePackagesSh, {"library", "user"}).exit_code, 0);
  EXPECT_THAT(Left(), ElementsAre("other"));
}

// Its owner wants it by now, whoever brought it. What the manifest named is marked so by us.
TEST_F(RemovalScripts, WhatSomeoneInstalledByHandSinceStays) {
  Install({"a", "b", "tool"});
  Put("/installed.manual", "tool\na\n");
  EXPECT_EQ(RunScript(kPrunePackagesSh, {"tool", "b", "a"}).exit_code, 0);
  EXPECT_THAT(Left(), ElementsAre("a"));
  Install({"b", "library", "user"});
  Put("/installed.manual", "user\n");
  EXPECT_EQ(RunScript(kPrunePackagesSh, {"library", "b", "user"}).exit_code, 0);
  EXPECT_THAT(Left(), ElementsAre("a", "library", "user"));
}

TEST_F(RemovalScripts, APruneThatCannotKnowWhatIsWantedFails) {
  Install({"a"});
  PutProgram("apt-mark", "exit 1\n");
  EXPECT_EQ(RunScript(kPrunePackagesSh, {"a"}).exit_code, 1);
  EXPECT_THAT(Left(), ElementsAre("a"));
}

class ToolScript : public reconciler::test::ScriptTree {
 protected:
  std::vector<std::string> Lines() const {
    return SplitLines(Run({"sh", "-c", std::string(kReadToolsSh)}).out);
  }
};

TEST_F(ToolScript, EachToolSaysItsVersion) {
  Put("/sys/module/nvidia/version", "580.95.05\n");
  Put("/usr/local/cuda/version.json",
      "{\n   \"cuda\" : {\n      \"name\" : \"CUDA SDK\",\n      \"version\" : \"13.0.2\"\n   },\n"
      "   \"nvcc\" : {\n      \"name\" : \"NVCC\",\n      \"version\" : \"13.0.88\"\n   }\n}\n");
  PutProgram("docker", "echo 'Docker version 28.3.3, build 980b856'\n");
  PutProgram("nvidia-ctk",
             "echo 'NVIDIA Container Toolkit CLI version 1.17.8'; echo 'commit: f20'\n");
  EXPECT_THAT(Lines(), ElementsAre("driver 580.95.05", "cuda 13.0.2", "docker 28.3.3",
                                   "container_toolkit 1.17.8"));
}

TEST_F(ToolScript, ABrokenToolHasAnUnknownVersion) {
  PutProgram("nvcc", "echo 'release what'\n");
  PutProgram("docker", "exit 1\n");
  PutProgram("nvidia-ctk", "echo what\n");
  EXPECT_THAT(Lines(), ElementsAre("cuda ?", "docker ?", "container_toolkit ?"));
}

}  // namespace
}  // namespace reconciler::plugins::packages
