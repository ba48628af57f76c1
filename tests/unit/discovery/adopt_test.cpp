#include "reconciler/discovery/adopt.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(DiscoverAdopt, FilesOfOneNameAreOneEntryBeforeTheGaps) {
  Discovery discovery{.manifest = "fabric: {}\n# Not as found: a\n# Not as found: b\n"};
  AddAdopt({{"spark-1", "file: /etc/netplan/40-cx7.yaml", "7ad321ebe07d55", "NVIDIA Sync"},
            {"spark-1", "file: /etc/netplan/50-x.yaml", "aaaaaaaaaaaa55", ""},
            {"spark-1", "nm_profile: cx7-a", "bbbbbbbbbbbb55", ""},
            {"spark-2", "file: /etc/netplan/40-cx7.yaml", "a73ce1605fa655", "NVIDIA Sync"}},
           discovery);
  EXPECT_EQ(discovery.manifest,
            "fabric: {}\n"
            "adopt:                           # of others: apply takes them over, uninstall writes "
            "them back\n"
            "  - {file: /etc/netplan/40-cx7.yaml, nodes: {spark-1: 7ad321ebe07d, spark-2: "
            "a73ce1605fa6}}  # probably written by NVIDIA Sync\n"
            "  - {file: /etc/netplan/50-x.yaml, nodes: {spark-1: aaaaaaaaaaaa}}\n"
            "  - {nm_profile: cx7-a, nodes: {spark-1: bbbbbbbbbbbb}}\n"
            "# Not as found: a\n# Not as found: b\n");
}

TEST(DiscoverAdopt, WithoutGapsItStandsBeforeTheNotes) {
  Discovery discovery{.manifest = "fabric: {}\n# Note: a\n"};
  AddAdopt({{"spark-1", "file: /etc/netplan/50-x.yaml", "aaaaaaaaaaaa55", ""}}, discovery);
  EXPECT_EQ(discovery.manifest,
            "fabric: {}\n"
            "adopt:                           # of others: apply takes them over, uninstall writes "
            "them back\n"
            "  - {file: /etc/netplan/50-x.yaml, nodes: {spark-1: aaaaaaaaaaaa}}\n"
            "# Note: a\n");
}

TEST(DiscoverAdopt, ADigestThatYamlReadsAsANumberIsQuoted) {
  Discovery discovery{.manifest = "a: 1\n"};
  AddAdopt({{"spark-1", "file: /etc/netplan/x.yaml", "1234567890123", ""},
            {"spark-2", "file: /etc/netplan/x.yaml", "12345678e0123", ""}},
           discovery);
  EXPECT_NE(discovery.manifest.find("{spark-1: \"123456789012\", spark-2: \"12345678e012\"}"),
            std::string::npos);
}

TEST(DiscoverAdopt, WithoutFilesTheManifestStaysAsItIs) {
  Discovery discovery{.manifest = "a: 1\n"};
  AddAdopt({}, discovery);
  EXPECT_EQ(discovery.manifest, "a: 1\n");
}

}  // namespace
}  // namespace reconciler
