#include "reconciler/fabric/drawing/container_flags.h"

#include <fmt/format.h>

namespace reconciler {

std::string FormatPodmanFlags(const Environment& environment) {
  // GPUs come by CDI:
  // https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/cdi-support.html
  std::string text =
      "--device=nvidia.com/gpu=all\n--network=host\n--ipc=host\n--device=/dev/infiniband\n"
      "--cap-add=IPC_LOCK\n--ulimit=memlock=-1:-1\n--ulimit=stack=67108864\n";
  for (const auto& [name, value, why] : environment) {
    text += fmt::format("--env={}={}\n", name, value);
  }
  return text;
}

std::string FormatEnrootFlags(const Environment& environment) {
  // Network, IPC, /dev and limits are those of the host; GPUs come by a hook, which brings no
  // libcuda where the image names no capability:
  // https://github.com/NVIDIA/enroot/blob/master/doc/standard-hooks.md.
  std::string text =
      "--env NVIDIA_VISIBLE_DEVICES=all\n--env NVIDIA_DRIVER_CAPABILITIES=compute,utility\n";
  for (const auto& [name, value, why] : environment) {
    text += fmt::format("--env {}={}\n", name, value);
  }
  return text;
}

std::string FormatCompose(const Environment& environment) {
  std::string text =
      "# docker compose -f compose.yaml -f THIS_FILE up; app stands for the name of your service.\n"
      "services:\n"
      "  app:\n"
      "    network_mode: host\n"
      "    ipc: host\n"
      "    devices: [\"/dev/infiniband:/dev/infiniband\"]\n"
      "    cap_add: [IPC_LOCK]\n"
      "    ulimits:\n"
      "      memlock: -1\n"
      "      stack: 67108864\n"
      "    deploy:\n"
      "      resources:\n"
      "        reservations:\n"
      "          devices: [{driver: nvidia, count: all, capabilities: [gpu]}]\n"
      "    environment:\n";
  for (const auto& [name, value, why] : environment) {
    text += fmt::format("      # {}\n      {}: \"{}\"\n", why, name, value);
  }
  return text;
}

}  // namespace reconciler
