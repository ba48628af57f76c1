#include "reconciler/access/host_keys.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/support/overlap.h"
#include "tests/unit/access/fake_logins.h"

namespace reconciler {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReadHostKeys, KeysAndErrorsOfAllNodesAreCollected) {
  FakeLogins logins;
  logins.At("spark-1").no_host_key = "connection refused";
  const HostKeyReport report = ReadHostKeys(logins.Nodes(), 0, logins.Functions().read_host_key);
  EXPECT_EQ(FormatErrors(report.errors), "spark-1: connection refused\n");
  ASSERT_EQ(report.keys.size(), 1u);
  EXPECT_EQ(report.keys.at("spark-2").fingerprint, "SHA256:spark-2");
}

TEST(ReadHostKeys, ErrorsComeByNodeWhetherReturnedOrThrown) {
  FakeLogins logins;
  const HostKeyReport report =
      ReadHostKeys(logins.Nodes(), 0, [](const NodeSpec& node) -> Result<HostKey> {
        if (node.name == "spark-1") throw std::runtime_error("out of memory");
        return Fail({.kind = ErrorKind::kTransport, .message = "spark-2: no route"});
      });
  ASSERT_EQ(report.errors.size(), 2u);
  EXPECT_NE(FormatError(report.errors[0]).find("out of memory"), std::string::npos);
  EXPECT_EQ(FormatError(report.errors[1]), "spark-2: no route\n");
}

TEST(ReadHostKeys, OneNodeAtATimeWaitsForTheOneBefore) {
  FakeLogins logins;
  test::Overlap reads;
  const HostKeyReport report =
      ReadHostKeys(logins.Nodes(), 1, [&](const NodeSpec& node) -> Result<HostKey> {
        reads.Pass();
        return logins.At(node.name).host_key;
      });
  EXPECT_EQ(report.keys.size(), 2u);
  EXPECT_EQ(reads.most(), 1);
}

TEST(FindSharedKeys, GroupsNodesWithOneFingerprint) {
  const HostKey one{.fingerprint = "SHA256:b"};
  const HostKey two{.fingerprint = "SHA256:a"};
  const HostKey own{.fingerprint = "SHA256:c"};
  EXPECT_THAT(FindSharedKeys({{"n1", one}, {"n2", two}, {"n3", one}, {"n4", own}, {"n5", two}}),
              ElementsAre(ElementsAre("n2", "n5"), ElementsAre("n1", "n3")));
  EXPECT_THAT(FindSharedKeys({{"n1", one}, {"n2", two}}), IsEmpty());
}

}  // namespace
}  // namespace reconciler
