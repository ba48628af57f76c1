#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "plugins/facts/rdma/devices.h"
#include "plugins/facts/rdma/rdma.h"
#include "tests/support/run_here.h"
#include "tests/support/temporary_folder.h"

namespace reconciler::plugins::rdma {
namespace {

namespace fs = std::filesystem;

// The script itself, on a tree with the links that sysfs has.
TEST(RdmaProbe, TheTablesOfATreeLikeASparksAreFound) {
  const test::TemporaryFolder folder;
  const fs::path& root = folder.Path();
  const fs::path function = root / "devices/pci0002:00/0002:00:00.0/0002:01:00.1";
  const fs::path hca = function / "infiniband/roceP2p1s0f1";
  for (const char* table : {"gids", "gid_attrs/types", "gid_attrs/ndevs"}) {
    fs::create_directories(hca / "ports/1" / table);
  }
  fs::create_directories(function / "net/enP2p1s0f1np1");
  fs::create_directory_symlink("../..", hca / "device");
  fs::create_directories(root / "class/infiniband");
  fs::create_directory_symlink(hca, root / "class/infiniband/roceP2p1s0f1");
  std::ofstream(function / "uevent") << "DRIVER=mlx5_core\nPCI_SLOT_NAME=0002:01:00.1\n";
  std::ofstream(function.parent_path() / "uevent") << "PCI_SLOT_NAME=0002:00:00.0\n";
  std::ofstream(hca / "ports/1/gids/0") << "fe80:0000:0000:0000:0000:0000:0000:0001\n";
  std::ofstream(hca / "ports/1/gids/1") << "0000:0000:0000:0000:0000:0000:0000:0000\n";
  std::ofstream(hca / "ports/1/gids/12") << "0000:0000:0000:0000:0000:ffff:c0a8:b201\n";
  std::ofstream(hca / "ports/1/gid_attrs/types/12") << "RoCE v2\n";
  std::ofstream(hca / "ports/1/gid_attrs/ndevs/12") << "enP2p1s0f1np1\n";

  std::vector<std::string> argv = std::get<RunProbe>(ListDeviceReads().front()).argv;
  argv.back() = root / "class/infiniband";
  ProbeReply reply;
  reply.commands["rdma.tables"] = reconciler::test::RunHere(argv);
  EXPECT_EQ(reply.commands["rdma.tables"].exit_code, 0);
  NodeFacts facts;
  Get().parse(reply, facts);
  const HcaFact found = facts.hcas.at("roceP2p1s0f1");
  EXPECT_EQ(found.netdev, "enP2p1s0f1np1");
  EXPECT_EQ(found.device.slot, "0002:01:00.1");
  EXPECT_EQ(found.upstream.slot, "0002:00:00.0");
  EXPECT_EQ(found.gids,
            (std::vector<GidFact>{
                {0, "fe80:0000:0000:0000:0000:0000:0000:0001", "", ""},
                {12, "0000:0000:0000:0000:0000:ffff:c0a8:b201", "RoCE v2", "enP2p1s0f1np1"}}));
}

}  // namespace
}  // namespace reconciler::plugins::rdma
