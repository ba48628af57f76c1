#include "reconciler/model/environment.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

const Environment kTwo = {{"NCCL_IB_HCA", "=a,b", "the HCAs"}, {"NCCL_DEBUG", "WARN", "requested"}};

TEST(Environment, ShellExportsEachWithItsReason) {
  EXPECT_EQ(FormatShell(kTwo),
            "# the HCAs\nexport NCCL_IB_HCA='=a,b'\n# requested\nexport NCCL_DEBUG='WARN'\n");
}

TEST(Environment, FileHasBareValuesThatSystemdAndDockerReadAlike) {
  EXPECT_EQ(FormatEnvironmentFile(kTwo),
            "# the HCAs\nNCCL_IB_HCA==a,b\n# requested\nNCCL_DEBUG=WARN\n");
}

TEST(Environment, DockerGetsWhatRdmaNeedsAndOneWordPerLine) {
  EXPECT_EQ(FormatDockerFlags(kTwo),
            "--gpus=all\n--network=host\n--ipc=host\n--device=/dev/infiniband\n--cap-add=IPC_LOCK\n"
            "--ulimit=memlock=-1:-1\n--ulimit=stack=67108864\n"
            "--env=NCCL_IB_HCA==a,b\n--env=NCCL_DEBUG=WARN\n");
}

TEST(Environment, PlainValueHasNothingThatAnyReaderInterprets) {
  EXPECT_TRUE(IsPlainValue("=rocep1s0f1,roceP2p1s0f1"));
  EXPECT_TRUE(IsPlainValue("allreduce:tree;broadcast:^ring"));
  EXPECT_TRUE(IsPlainValue("/tmp/nccl.%h.%p"));
  EXPECT_TRUE(IsPlainValue(""));
  for (const char* value : {"a b", "a\"", "it's", "$HOME", "a\\", "`id`", "a\n", "#", "*", "ä"}) {
    EXPECT_FALSE(IsPlainValue(value)) << value;
  }
}

}  // namespace
}  // namespace reconciler
