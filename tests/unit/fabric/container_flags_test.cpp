#include "reconciler/fabric/drawing/container_flags.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

const Environment kTwo = {{"NCCL_IB_HCA", "=a,b", "the HCAs"}, {"NCCL_DEBUG", "WARN", "requested"}};

TEST(ContainerFlags, PodmanGetsGpusAsADevice) {
  EXPECT_EQ(FormatPodmanFlags(kTwo),
            "--device=nvidia.com/gpu=all\n--network=host\n--ipc=host\n--device=/dev/infiniband\n"
            "--cap-add=IPC_LOCK\n--ulimit=memlock=-1:-1\n--ulimit=stack=67108864\n"
            "--env=NCCL_IB_HCA==a,b\n--env=NCCL_DEBUG=WARN\n");
}

TEST(ContainerFlags, EnrootHasWhatTheHostHasButForGpusAndVariables) {
  EXPECT_EQ(FormatEnrootFlags(kTwo),
            "--env NVIDIA_VISIBLE_DEVICES=all\n--env NVIDIA_DRIVER_CAPABILITIES=compute,utility\n"
            "--env NCCL_IB_HCA==a,b\n--env NCCL_DEBUG=WARN\n");
}

TEST(ContainerFlags, ComposeSaysInYamlWhatTheFlagsSay) {
  EXPECT_EQ(
      FormatCompose(kTwo),
      R"(# docker compose -f compose.yaml -f THIS_FILE up; app stands for the name of your service.
services:
  app:
    network_mode: host
    ipc: host
    devices: ["/dev/infiniband:/dev/infiniband"]
    cap_add: [IPC_LOCK]
    ulimits:
      memlock: -1
      stack: 67108864
    deploy:
      resources:
        reservations:
          devices: [{driver: nvidia, count: all, capabilities: [gpu]}]
    environment:
      # the HCAs
      NCCL_IB_HCA: "=a,b"
      # requested
      NCCL_DEBUG: "WARN"
)");
}

}  // namespace
}  // namespace reconciler
