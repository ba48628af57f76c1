#include "reconciler/catalogue/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reconciler/base/error.h"
#include "reconciler/base/json/document.h"
#include "reconciler/base/text.h"
#include "reconciler/catalogue/catalogue.h"
#include "reconciler/manifest/schema/schema_judge.h"
#include "schema/embedded.h"
#include "tests/support/paths.h"

namespace reconciler {
namespace {

using testing::HasSubstr;

TEST(Explain, ACodeIsPrintedWithAllThatTheCatalogueHolds) {
  EXPECT_EQ(
      *Explain("no-carrier"),
      "no-carrier (fails; reported by verify, since 0.1.0)\n"
      "  seen      A port of the fabric that is up has no signal.\n"
      "  detected  The carrier file of the port's interface in sysfs is 0 while the interface is\n"
      "            administratively up.\n"
      "  cause     The cable is not plugged in all the way, is damaged, or the port at its other "
      "end "
      "is\n"
      "            off.\n"
      "  next step Reseat the cable at both ends; if there is still no signal, try another cable.\n"
      "  impact    The rail does not work, and with it everything that uses the fabric between "
      "these "
      "two\n"
      "            nodes.\n"
      "  related   link-down, port-missing, speed-low\n");
}

TEST(Explain, AKeyOfTheManifestIsPrintedFromItsSchema) {
  const std::string text = *Explain("verify.level");
  EXPECT_THAT(text, testing::StartsWith("verify.level (key of the manifest)\n  meaning   link: "));
  EXPECT_THAT(text, HasSubstr("\n  value     one of auto, link, rdma, nccl\n  default   auto\n"));
}

TEST(Explain, AMapNamesItsKeysAndAListThoseOfItsEntries) {
  EXPECT_THAT(*Explain("hosts"), HasSubstr("\n  value     a map\n"));
  EXPECT_THAT(*Explain("hosts"), HasSubstr("\n  keys      "));
  EXPECT_THAT(*Explain("nodes"), HasSubstr("\n  value     a list\n"));
  EXPECT_THAT(*Explain("nodes[].address"), HasSubstr("nodes[].address (key of the manifest)\n"));
  EXPECT_THAT(*Explain("nodes.address"), HasSubstr("nodes.address (key of the manifest)\n"));
}

TEST(Explain, WhatIsNeitherNamesWhatIsNear) {
  const auto near = Explain("no-carier");
  ASSERT_FALSE(near);
  EXPECT_EQ(
      FormatErrors({near.error()}),
      "wanted a code or a key of the manifest, found 'no-carier', did you mean 'no-carrier'?\n"
      "  hint: `spark-reconcile explain` lists all codes; docs/manifest.md has all keys, written "
      "with dots: fabric.mtu\n");
  const auto key = Explain("fabric.mut");
  ASSERT_FALSE(key);
  EXPECT_THAT(key.error().message,
              testing::EndsWith("found 'fabric.mut', did you mean 'fabric.mtu'?"));
  for (const char* name : {"", ".", "fabric.", ".mtu", "fabric..mtu", "fabric.mtu.mtu"}) {
    EXPECT_FALSE(Explain(name)) << name;
  }
}

TEST(Explain, TheListHasALinePerCode) {
  const std::string list = ListExplained();
  EXPECT_EQ(static_cast<std::size_t>(std::count(list.begin(), list.end(), '\n')),
            ListCodes().size());
  EXPECT_THAT(list, HasSubstr("\nno-carrier "));
}

TEST(Explain, OnANarrowTerminalNoLineIsWiderThanIt) {
  for (const std::string& code : ListCodes()) {
    for (const std::string& line : SplitLines(*Explain(code, 60))) {
      if (line.find("://") == std::string::npos) {  // the address of a page stays whole
        EXPECT_LE(CountColumns(line), 60u) << line;
      }
    }
  }
  for (const std::string& line : SplitLines(ListExplained(60))) {
    EXPECT_LE(CountColumns(line), 60u) << line;
  }
  EXPECT_EQ(*Explain("no-carrier", 200), *Explain("no-carrier"));
}

TEST(Explain, ForAProgramEachCodeAndEachKeyIsValidByTheSchema) {
  const auto schema = nlohmann::json::parse(FindEmbeddedSchema("explain"));
  std::vector<std::string> names = ListCodes();
  for (const char* key : {"", "api_version", "nodes", "nodes[].address", "hosts", "verify.level"}) {
    names.emplace_back(key);
  }
  for (const std::string& name : names) {
    const auto json = AddHead(*ExplainAsJson(name), {"0.1.0", "2026-11-25T00:00:00Z"});
    EXPECT_EQ(JudgeBySchema(json, schema), std::nullopt) << name;
  }
  EXPECT_EQ((*ExplainAsJson(""))["codes"].size(), ListCodes().size());
  EXPECT_EQ(ExplainAsJson("no-carier").error(), Explain("no-carier").error());
}

// docs/diagnosis.md ends with it.
TEST(Explain, ThePageOfAllCodesIsUpToDate) {
  const std::string path = test::SourceDir() + "/docs/diagnosis.md";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string page = text.str();
  const std::string end = "SPARK_TEST_ACCEPT=1. -->\n\n";
  const std::size_t at = page.find(end);
  ASSERT_NE(at, std::string::npos);
  if (std::getenv("SPARK_TEST_ACCEPT") != nullptr) {
    std::ofstream(path, std::ios::binary) << page.substr(0, at + end.size()) << RenderCatalogue();
    GTEST_SKIP() << "docs/diagnosis.md written: review it";
  }
  EXPECT_EQ(page.substr(at + end.size()), RenderCatalogue());
}

TEST(Explain, EveryCodeStandsInTheTableOfItsCommand) {
  const std::string page = RenderCatalogue();
  for (const std::string& code : ListCodes()) EXPECT_THAT(page, HasSubstr("| `" + code + "` | "));
}

}  // namespace
}  // namespace reconciler
