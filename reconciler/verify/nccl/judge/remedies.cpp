#include "reconciler/verify/nccl/judge/remedies.h"

#include <fmt/format.h>

#include <algorithm>

namespace reconciler {
namespace {

// Codes that say that nothing was tried, for a reason that is not the fabric's.
constexpr std::string_view kHarnessCodes[] = {"no-libcuda", "no-libnccl", "old-nccl", "busy",
                                              "memory",     "lost",       "protocol", "no-program"};

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
    {"gone", "rank-gone", "the rank on {0} was killed or crashed: it ended without a word ({1})",
     "look at the kernel log (dmesg) of {0}: out of memory, a signal, an Xid of the GPU"},
    {"crash", "rank-crashed", "the rank on {0} crashed ({1})",
     "look at dmesg of {0}; take a release of NCCL that fits the driver"},
    {"silent", "rank-stopped", "the rank on {0} is stopped or hangs ({1})",
     "look at {0}: dmesg, an Xid of the GPU, memory that swaps"},
    {"lost", "node-lost", "the connection to {0} broke while NCCL ran",
     "look whether {0} is up: memory that runs out freezes a Spark"},
    {"hung", "rank-hung", "a call into a library did not return on {0} ({1})",
     "look at dmesg of {0} for an Xid of the GPU; a reboot clears a driver that hangs"},
    {"env-differs", "env-differs",
     "NCCL's variables differ between the nodes, so that their ranks wait for each other for ever",
     "set it in nccl.env of the manifest, or take it out of the files that set it, and apply"},
    {"no-libnccl", "no-libnccl", "{0} has no usable libnccl",
     "install libnccl2 on {0}, or name the file in the manifest: nccl.library"},
    {"old-nccl", "old-nccl", "the libnccl of {0} is too old for this run",
     "install a newer libnccl2 on {0}, the same on all nodes"},
    {"no-program", "not-ready", "{0} could not be made ready for the run",
     "look at what was found; the run starts nothing before every node is ready"},
    {"no-libcuda", "no-libcuda", "{0} has no usable NVIDIA driver",
     "look at `nvidia-smi` and at dmesg of {0}"},
    {"busy", "gpu-busy", "another program uses the GPU of {0}",
     "end it, or run verify when it has ended"},
    {"memory", "memory-short", "{0} has not the memory that the test asks for",
     "end programs on {0}, or write a smaller verify.size"},
};

// In what NCCL said; the first that fits.
constexpr Remedy kByText[] = {
    {"no socket interface found", "bootstrap-interface",
     "NCCL on {0} finds no interface that is up under the name that NCCL_SOCKET_IFNAME gives",
     "look at `ip -br link` on {0} and at NCCL_SOCKET_IFNAME in nccl.env"},
    {"Duplicate GPU detected", "same-host-id",
     "two nodes have the same name for NCCL, so that their GPUs look like one",
     "give each node a hostname of its own, and take NCCL_HOSTID out of its files"},
    {"Failed to initialize any NET plugin", "no-network",
     "{0} has nothing of what NCCL_NET asks for",
     "look at `rdma link` on {0}, and take NCCL_NET out"},
    {"Unrecognized element token", "bad-variable",
     "a variable of NCCL has a value on {0} that NCCL does not know",
     "look at NCCL_ALGO and NCCL_PROTO on {0}: in nccl.env, /etc/nccl.conf and the profiles"},
    {"Mismatched NCCL version", "nccl-versions", "the nodes have loaded different versions of NCCL",
     "install the same libnccl2 on all nodes"},
    {"returned Connection refused", "root-unreachable",
     "{0} does not reach NCCL's first rank at {2}",
     "look at ufw on both nodes: every node needs any TCP port of every other one there"},
    {"socketPollConnect", "root-unreachable", "{0} does not reach NCCL's first rank at {2}",
     "look at ufw on both nodes: every node needs any TCP port of every other one there"},
    {"ibv_create_qp failed", "memlock", "{0} may not pin the memory that RDMA needs",
     "raise memlock on {0} (`memlock: unlimited` in the manifest)"},
    {"Cannot allocate memory", "memlock", "{0} cannot pin the memory that RDMA needs",
     "raise memlock on {0} (`memlock: unlimited`); with CmaFree above CmaTotal in /proc/meminfo, "
     "boot it with kho=off"},
    {"ibv_modify_qp failed", "no-connection", "a rail of {0} does not reach its peer",
     "ping over the rail that the line names, and look at its cable and addresses"},
    {"IBV_WC_RETRY_EXC_ERR", "no-acknowledgement",
     "what {0} writes is not acknowledged: a rail broke, or loses everything",
     "look at `ip link` of both ends, at the cable, and at a switch's MTU and VLAN"},
    {"status=12", "no-acknowledgement",
     "what {0} writes is not acknowledged: a rail broke, or loses everything",
     "look at `ip link` of both ends, at the cable, and at a switch's MTU and VLAN"},
    {"GID table changed", "address-changed", "an address of {0} was set anew during the run",
     "look who configures the interface: netplan apply, NetworkManager"},
    {"async event", "link-flapped", "a link of {0} went down during the run",
     "look at its cable and at dmesg of {0}"},
};

std::string FillTemplate(std::string_view text, const NcclTrouble& trouble, const NcclRun& run) {
  return fmt::format(fmt::runtime(text), trouble.node, trouble.phase,
                     run.root.empty() ? "its address" : run.root);
}

Cause MakeCause(const Remedy& remedy, const NcclTrouble& trouble, const NcclRun& run) {
  return {std::string(remedy.code),
          {trouble.node},
          FillTemplate(remedy.cause, trouble, run),
          FillTemplate(remedy.next_step, trouble, run)};
}

}  // namespace

bool IsHarness(const NcclTrouble& trouble) {
  return std::find(std::begin(kHarnessCodes), std::end(kHarnessCodes), trouble.code) !=
         std::end(kHarnessCodes);
}

Cause ExplainTrouble(const NcclTrouble& trouble, const NcclRun& run) {
  for (const Remedy& remedy : kByCode) {
    if (remedy.sign == trouble.code) return MakeCause(remedy, trouble, run);
  }
  std::string said = trouble.text;
  for (const std::string& line : trouble.evidence) said += "\n" + line;
  for (const Remedy& remedy : kByText) {
    if (said.find(remedy.sign) != std::string::npos) return MakeCause(remedy, trouble, run);
  }
  if (const auto versions = ExplainVersions(run)) return *versions;
  if (trouble.code == "deadline") {
    std::vector<NodeName> nodes;
    for (const NcclRank& rank : run.ranks) nodes.push_back(rank.node);
    return {"nccl-deadline", nodes,
            fmt::format("the ranks wait for each other, and none knows why ({})", trouble.phase),
            "look at firewalls between the nodes, and run `verify --level rdma`"};
  }
  return {"nccl-failed",
          {trouble.node},
          fmt::format("NCCL failed on {} ({})", trouble.node, trouble.phase),
          trouble.hint.empty()
              ? fmt::format("look at the evidence and at dmesg of {}", trouble.node)
              : trouble.hint};
}

}  // namespace reconciler
