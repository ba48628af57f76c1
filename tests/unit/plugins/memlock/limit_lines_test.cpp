#include "plugins/memlock/limit_lines.h"

#include <gtest/gtest.h>

#include "plugins/memlock/memlock.h"
#include "tests/unit/plugins/values.h"

namespace reconciler::plugins::memlock {
namespace {

constexpr const char* kLimits = "/etc/security/limits.conf";
constexpr const char* kLater = "/etc/security/limits.d/90-x.conf";
constexpr const char* kEarlier = "/etc/security/limits.d/20-x.conf";

NodeFacts FactsWith(const std::string& path, const std::string& text) {
  NodeFacts facts{.node = "spark-1"};
  facts.files[path] = FileState{.content = text};
  return facts;
}

// "none", or the message of each warning, for logins of nvidia who is to have unlimited memory.
std::string FindWarnings(const NodeFacts& facts, const Value& ssh = {}) {
  ClusterSpec cluster{.file = "cluster.yaml", .name = "homelab"};
  cluster.nodes.push_back({.name = "spark-1", .id = 1, .access = {.user = "nvidia"}});
  cluster.settings = test::Map({{"memlock", test::At(17, test::Text("unlimited"))}, {"ssh", ssh}});
  const ClusterFacts all{.nodes = {{facts.node, facts}}};
  const Fabric fabric;
  std::string messages;
  for (const Diagnostic& one :
       Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all})) {
    EXPECT_EQ(one.severity, Severity::kWarns);
    EXPECT_EQ(one.code, "memlock-foreign-line");
    EXPECT_EQ(one.where.position.line, 17);
    EXPECT_EQ(one.next_step, "remove that line, or give it the value of the manifest");
    messages += one.message + '\n';
  }
  return messages.empty() ? "none" : messages;
}

TEST(MemlockLines, ALaterLineForEveryoneIsWarnedOf) {
  EXPECT_EQ(FindWarnings(FactsWith(kLater, "# a\n*\thard  memlock 65536 # b\n* - nofile 9\n")),
            "/etc/security/limits.d/90-x.conf:2 sets memlock of nvidia to 65536 KiB for logins, "
            "and wins over /etc/security/limits.d/60-spark-reconcile.conf\n");
  for (const char* path : {kLimits, kEarlier}) {
    EXPECT_EQ(FindWarnings(FactsWith(path, "* - memlock 65536\n")), "none") << path;
  }
}

TEST(MemlockLines, ALineForTheUserIsWarnedOfWhereverItIs) {
  EXPECT_EQ(FindWarnings(FactsWith(kLimits, "nvidia - memlock 65536\nother - memlock 1\n")),
            "/etc/security/limits.conf:1 sets memlock of nvidia to 65536 KiB for logins, and wins "
            "over /etc/security/limits.d/60-spark-reconcile.conf\n");
}

// Jobs may run as another user than the one of access.
TEST(MemlockLines, ALineForTheUserOfSshIsWarnedOf) {
  const Value ssh = test::Map({{"mesh", test::Flag(true)}, {"user", test::Text("mpi")}});
  NodeFacts facts = FactsWith(kLimits, "mpi hard memlock 64\n");
  EXPECT_EQ(FindWarnings(facts), "none");
  EXPECT_EQ(FindWarnings(facts, ssh),
            "/etc/security/limits.conf:1 sets memlock of mpi to 64 KiB for logins, and wins over "
            "/etc/security/limits.d/60-spark-reconcile.conf\n");
  facts = FactsWith(kLimits, "@gpu - memlock 65536\nnvidia - memlock unlimited\n");
  facts.memlock.session = MemoryLimit{65536 * 1024};  // nvidia's, and mpi's groups are not known
  EXPECT_EQ(FindWarnings(facts, ssh), "none");
}

TEST(MemlockLines, ALineForRootIsWarnedOfWhereItIsReadLater) {
  EXPECT_EQ(FindWarnings(FactsWith(kEarlier, "root soft memlock 64\n")), "none");
  EXPECT_EQ(FindWarnings(FactsWith(kLater, "root soft memlock 64\n")),
            "/etc/security/limits.d/90-x.conf:1 sets memlock of root to 64 KiB for logins, and "
            "wins over /etc/security/limits.d/60-spark-reconcile.conf\n");
}

TEST(MemlockLines, ALineForAGroupCountsWhereTheLoginHasItsLimit) {
  NodeFacts facts = FactsWith(kLimits, "@gpu - memlock 65536\n");
  EXPECT_EQ(FindWarnings(facts), "none");
  facts.memlock.session = MemoryLimit{65536 * 1024};
  EXPECT_EQ(FindWarnings(facts),
            "/etc/security/limits.conf:1 sets memlock of nvidia to 65536 KiB for logins, and wins "
            "over /etc/security/limits.d/60-spark-reconcile.conf\n");
}

TEST(MemlockLines, ALineWithTheValueOfTheManifestIsNotWarnedOf) {
  for (const char* value : {"unlimited", "infinity", "-1"}) {
    EXPECT_EQ(FindWarnings(FactsWith(kLater, std::string("* - memlock ") + value + "\n")), "none");
  }
}

TEST(MemlockLines, AManifestWithoutMemlockWarnsOfNothing) {
  ClusterSpec cluster{.file = "cluster.yaml", .name = "homelab"};
  cluster.nodes.push_back({.name = "spark-1", .id = 1});
  const NodeFacts facts = FactsWith(kLater, "* - memlock 1\n");
  const ClusterFacts all{.nodes = {{facts.node, facts}}};
  const Fabric fabric;
  EXPECT_TRUE(Get().diagnose({cluster, fabric, cluster.nodes.front(), facts, all}).empty());
}

}  // namespace
}  // namespace reconciler::plugins::memlock
