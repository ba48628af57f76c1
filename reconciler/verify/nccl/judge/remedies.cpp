#include "reconciler/verify/nccl/judge/remedies.h"

#include <fmt/format.h>

#include "reconciler/base/text.h"
#include "reconciler/verify/nccl/judge/causes.h"
#include "reconciler/verify/nccl/judge/connection.h"

namespace reconciler {
namespace {

struct Remedy {
  std::string_view sign;  // a code, or words in the text or the evidence
  std::string_view code;
  std::string_view cause;      // {0}: node, {1}: what it was doing, {2}: where rank 0 waited
  std::string_view next_step;  // the same
};

// By the code alone; these know more than any text.
constexpr Remedy kByCode[] = {
    {"root", "nccl-root", "NCCL on {0} waits where the other nodes may not reach it",
     "write the interface that reaches every node into nccl.env: NCCL_SOCKET_IFNAME"},
    {"gone", "rank-gone", "the rank on {0} was killed or crashed: it ended without a message ({1})",
     "check the kernel log (dmesg) of {0}: out of memory, a signal, an Xid of the GPU"},
    {"crash", "rank-crashed", "the rank on {0} crashed ({1})",
     "check dmesg of {0}; use a release of NCCL that fits the driver"},
    {"silent", "rank-stopped", "the rank on {0} is stopped or hangs ({1})",
     "check {0}: dmesg, an Xid of the GPU, memory that swaps"},
    {"lost", "node-lost", "the connection to {0} broke while NCCL ran",
     "check whether {0} is up: memory that runs out freezes a Spark"},
    {"hung", "rank-hung", "a call into a library did not return on {0} ({1})",
     "check dmesg of {0} for an Xid of the GPU; a reboot clears a driver that hangs"},
    {"env-differs", "env-differs",
     "NCCL's variables differ between the nodes, so that their ranks wait for each other for ever",
     "set it in nccl.env of the manifest, or remove it from the files that set it, and apply"},
    {"no-libnccl", "no-libnccl", "{0} has no usable libnccl",
     "install libnccl2 on {0}, or name the file in the manifest: nccl.library"},
    {"old-nccl", "old-nccl", "the libnccl of {0} is too old for this run",
     "install a newer libnccl2 on {0}, the same on all nodes"},
    {"no-program", "not-ready", "{0} could not be made ready for the run",
     "check what was found; the run starts nothing before every node is ready"},
    {"no-program-for-machine", "no-program-for-machine",
     "there is no spark-verify for the machine type of {0}",
     "build it and put it where the message says"},
    {"no-gpu", "no-gpu", "{0} has no GPU that CUDA can use", "check `nvidia-smi` and dmesg of {0}"},
    {"no-libcuda", "no-libcuda", "{0} has no usable NVIDIA driver",
     "check `nvidia-smi` and dmesg of {0}"},
    {"busy", "gpu-busy", "another program uses the GPU of {0}",
     "end it, or run verify when it has ended"},
    {"memory", "memory-short", "{0} has less memory than the test requires",
     "end programs on {0}, or write a smaller verify.size"},
};

// In what NCCL said; the first that fits.
constexpr Remedy kByText[] = {
    {"no socket interface found", "bootstrap-interface",
     "NCCL on {0} finds no interface that is up under the name that NCCL_SOCKET_IFNAME gives",
     "check `ip -br link` on {0} and NCCL_SOCKET_IFNAME in nccl.env"},
    {"Duplicate GPU detected", "same-host-id",
     "two nodes have the same NCCL host id, so their GPUs appear as one",
     "give each node a hostname of its own, and remove NCCL_HOSTID from its files"},
    {"Failed to initialize any NET plugin", "no-network",
     "{0} has no network of the kind that NCCL_NET names",
     "check `rdma link` on {0}, and remove NCCL_NET"},
    {"Unrecognized element token", "bad-variable",
     "a variable of NCCL has a value on {0} that NCCL does not know",
     "check NCCL_ALGO and NCCL_PROTO on {0}: in nccl.env, /etc/nccl.conf and the profiles"},
    {"Mismatched NCCL version", "nccl-versions", "the nodes have loaded different versions of NCCL",
     "install the same libnccl2 on all nodes"},
    {"returned Connection refused", "root-unreachable",
     "{0} does not reach NCCL's first rank at {2}",
     "check the firewalls of both nodes: each needs any TCP port of every other one there"},
    {"socketPollConnect", "root-unreachable", "{0} does not reach NCCL's first rank at {2}",
     "check the firewalls of both nodes: each needs any TCP port of every other one there"},
    {"ibv_create_qp failed", "memlock-low", "{0} may not pin the memory that RDMA needs",
     "raise memlock on {0} (`memlock: unlimited` in the manifest)"},
    {"Cannot allocate memory", "memlock-low", "{0} cannot pin the memory that RDMA needs",
     "raise memlock on {0} (`memlock: unlimited`); with CmaFree above CmaTotal in /proc/meminfo, "
     "boot it with kho=off"},
    {"ibv_modify_qp failed", "no-connection", "a rail of {0} does not reach its peer",
     "ping over the rail that the line names, and check its cable and addresses"},
    {"IBV_WC_RETRY_EXC_ERR", "no-acknowledgement",
     "what {0} writes is not acknowledged: a rail broke, or loses everything",
     "check `ip link` of both ends, the cable and a switch's MTU and VLAN"},
    {"status=12", "no-acknowledgement",
     "what {0} writes is not acknowledged: a rail broke, or loses everything",
     "check `ip link` of both ends, the cable and a switch's MTU and VLAN"},
    {"GID table changed", "address-changed", "an address of {0} was set again during the run",
     "check which program configures the interface: netplan apply, NetworkManager"},
    {"async event", "link-flapped", "a link of {0} went down during the run",
     "check its cable and dmesg of {0}"},
};

std::string FillTemplate(std::string_view text, const NcclRunError& run_error, const NcclRun& run) {
  return fmt::format(fmt::runtime(text), run_error.node, run_error.phase,
                     run.root.empty() ? "its address" : run.root);
}

Cause MakeCause(const Remedy& remedy, const NcclRunError& run_error, const NcclRun& run) {
  return {std::string(remedy.code),
          {run_error.node},
          FillTemplate(remedy.cause, run_error, run),
          FillTemplate(remedy.next_step, run_error, run)};
}

}  // namespace

Cause ExplainRunError(const NcclRunError& run_error, const NcclRun& run,
                      const std::vector<NodeName>& firewalls, const Fabric& fabric) {
  for (const Remedy& remedy : kByCode) {
    if (remedy.sign != run_error.code) continue;
    Cause cause = MakeCause(remedy, run_error, run);
    // What kept the program from a node has its own advice.
    if (run_error.code == "no-program" && !run_error.hint.empty()) cause.next_step = run_error.hint;
    return cause;
  }
  std::string said = run_error.text;
  for (const std::string& line : run_error.evidence) said += "\n" + line;
  if (auto connection = ExplainConnection(said, run_error, run, fabric)) return *connection;
  // What a firewall denies is dropped silently: a rank waits, or Linux ends its call after two
  // minutes.
  // Once all are connected it denies nothing more.
  const bool is_dropped = !firewalls.empty() && run_error.code == "deadline" &&
                          (run_error.phase == "init" || run_error.phase == "connect");
  const bool is_timeout = said.find("returned Connection timed out") != std::string::npos;
  if (!(is_dropped && is_timeout)) {
    for (const Remedy& remedy : kByText) {
      if (said.find(remedy.sign) != std::string::npos) return MakeCause(remedy, run_error, run);
    }
  }
  if (const auto versions = ExplainVersions(run)) return *versions;
  if (is_dropped) {
    return {"firewall", firewalls,
            fmt::format("the ranks wait for each other ({}), as where a firewall drops what one "
                        "sends: one is in force on {}",
                        run_error.phase, Join(firewalls, ", ")),
            "allow each node's address on all others (with ufw: `ufw allow from ADDRESS`): NCCL "
            "uses any TCP port of the network that NCCL_SOCKET_IFNAME names"};
  }
  if (run_error.code == "deadline") {
    return {"nccl-limit-passed", ListNodes(run),
            fmt::format("the ranks wait for each other, and none knows why ({})", run_error.phase),
            "check firewalls between the nodes, and run `verify --level rdma`"};
  }
  return {"nccl-failed",
          {run_error.node},
          fmt::format("NCCL failed on {} ({})", run_error.node, run_error.phase),
          run_error.hint.empty() ? fmt::format("check the evidence and dmesg of {}", run_error.node)
                                 : run_error.hint};
}

}  // namespace reconciler
