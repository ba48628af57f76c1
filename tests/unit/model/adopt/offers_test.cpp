#include "reconciler/model/adopt/offers.h"

#include <gtest/gtest.h>

#include "tests/unit/plugins/values.h"

// The advice to add to the manifest's `adopt`.
namespace reconciler {
namespace {

namespace test = plugins::test;

constexpr const char* kPath = "/etc/netplan/40-cx7.yaml";
constexpr const char* kFile = "file: /etc/netplan/40-cx7.yaml";
constexpr const char* kLines = "lines: /etc/sysctl.d/90-t.conf, match: [a.b, c.d]";

// For spark-1, of things that all stand in the way at one path.
std::string Advise(std::vector<AdoptableFile> files, std::vector<Value> entries = {}) {
  ClusterSpec cluster;
  cluster.settings = test::Map({{"adopt", test::List(std::move(entries))}});
  for (AdoptableFile& file : files) file.path = kPath;
  return AdoptOffers(cluster, files).Advise(kPath, "spark-1");
}

TEST(AdoptOffers, NodesWithOneThingAreOneEntryWithTheDigestOfEach) {
  const std::string advice =
      "add {file: /etc/netplan/40-cx7.yaml, nodes: {spark-1: \"spark-1!\", spark-2: "
      "\"spark-2!\"}} to adopt";
  const AdoptOffers offers({}, {{kPath, kFile, "spark-1!", "", "spark-1"},
                                {kPath, kFile, "spark-2!", "", "spark-2"},
                                {"/etc/netplan/50-other.yaml", "file: x", "3", "", "spark-3"}});
  EXPECT_EQ(offers.Advise(kPath, "spark-1"), advice);
  EXPECT_EQ(offers.Advise(kPath, "spark-2"), advice);
}

TEST(AdoptOffers, NothingIsOfferedToANodeThatDoesNotHaveIt) {
  const AdoptOffers offers({}, {{kPath, kFile, "1", "", "spark-1"},
                                {kPath, "master: br0", "", "", "spark-1"},
                                {kPath, kFile, "2", "", "spark-2"}});
  EXPECT_EQ(offers.Advise(kPath, "spark-3"), "");
  EXPECT_EQ(offers.Advise("/etc/netplan/50-other.yaml", "spark-1"), "");
  EXPECT_EQ(offers.Advise(kPath, "spark-2").find("br0"), std::string::npos);
}

TEST(AdoptOffers, WhatBelongsTogetherIsOneAdvice) {
  EXPECT_EQ(Advise({{"", kFile, "0123456789abcdef", "", "spark-1"},
                    {"", "master: br0", "", "", "spark-1"}}),
            "add {file: /etc/netplan/40-cx7.yaml, nodes: {spark-1: \"0123456789ab\"}} and {master: "
            "br0, nodes: [spark-1]} to adopt");
}

TEST(AdoptOffers, AnEntryThatIsThereIsExtendedByTheNode) {
  const Value entry =
      test::At(12, test::Map({{"file", test::Text("/etc/netplan/40-cx7.yaml")},
                              {"nodes", test::Map({{"spark-1", test::Text("111111111111")}})}}));
  EXPECT_EQ(Advise({{"", kFile, "333333333333", "", "spark-1"},
                    {"", kFile, "222222222222", "", "spark-2"}},
                   {entry}),
            "extend the entry on line 12 of adopt to {file: /etc/netplan/40-cx7.yaml, nodes: "
            "{spark-1: \"111111111111\", spark-2: \"222222222222\"}}");
  const Value master = test::At(13, test::Map({{"master", test::Text("br0")},
                                               {"nodes", test::List({test::Text("spark-2")})}}));
  EXPECT_EQ(Advise({{"", "master: br0", "", "", "spark-1"}}, {entry, master}),
            "extend the entry on line 13 of adopt to {master: br0, nodes: [spark-1, spark-2]}");
}

// The text there is another one by now, because lines were taken from it.
TEST(AdoptOffers, AnEntryThatIsThereIsExtendedByTheKeyWithTheDigestOfNow) {
  const auto entry = [](std::vector<Value> keys) {
    return test::At(12,
                    test::Map({{"lines", test::Text("/etc/sysctl.d/90-t.conf")},
                               {"match", test::List(std::move(keys))},
                               {"nodes", test::Map({{"spark-1", test::Text("111111111111")},
                                                    {"spark-2", test::Text("222222222222")}})}}));
  };
  const std::vector<AdoptableFile> files = {{"", kLines, "333333333333", "", "spark-1"}};
  const std::string start =
      "extend the entry on line 12 of adopt to {lines: "
      "/etc/sysctl.d/90-t.conf, match: [a.b, c.d], nodes: {spark-1: \"";
  EXPECT_EQ(Advise(files, {entry({test::Text("a.b")})}),
            start + "333333333333\", spark-2: \"222222222222\"}}");
  EXPECT_EQ(Advise(files, {entry({test::Text("a.b"), test::Text("c.d")})}),
            start + "111111111111\", spark-2: \"222222222222\"}}");
}

}  // namespace
}  // namespace reconciler
