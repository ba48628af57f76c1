#include "reconciler/verify/rdma/judge/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "reconciler/base/text.h"
#include "reconciler/model/fabric.h"

namespace reconciler {
namespace {

struct Remedy {
  std::string_view text;  // in what spark-verify said
  std::string_view code;
  std::string_view cause;      // {0}: node, {1}: HCA, {2}: netdev
  std::string_view next_step;  // the same
};

// The first that fits.
constexpr Remedy kRemedies[] = {
    {"for a node of type", "no-program-for-machine",
     "there is no spark-verify for the machine type of {0}",
     "build it beside spark-reconcile, as the message says"},
    {"libibverbs", "no-libibverbs", "{0} has no usable libibverbs",
     "install rdma-core on {0} (apt install rdma-core)"},
    {"wanted the RDMA device", "hca-missing", "{0} has no RDMA device {1}",
     "check `rdma link` on {0}: without a cable the hot-plug service takes the device away"},
    {"wanted a RoCE v2 GID", "gid-missing", "{1} of {0} has no RoCE v2 GID for its address",
     "check `ip addr show {2}` on {0}; the kernel makes the GID from the address"},
    {"wanted one RoCE v2 GID", "gid-twice", "{1} of {0} has its address twice",
     "give the address of {2} on {0} to that interface alone"},
    {"of memory pinned", "memlock-low", "{0} cannot pin the memory that RDMA needs",
     "raise memlock on {0} (`memlock: unlimited`); with CmaFree above CmaTotal in /proc/meminfo, "
     "boot it with kho=off"},
    {"wanted the port", "port-down", "the port of {1} on {0} is down",
     "check `ip link show {2}` on {0} and its cable"},
    {"connected from", "no-connection", "{1} of {0} finds no way to its peer",
     "check addresses and `ip neigh` of {2} on {0} and on the peer"},
    {"transport retry counter exceeded", "no-acknowledgement",
     "what {0} writes on {1} is not acknowledged: the rail broke, or loses everything",
     "check `ip link show {2}` on both ends, the cable and a switch's MTU and VLAN"},
    {"Work Request Flushed Error", "connection-ended",
     "the device of the peer ended the connection of {1} on {0}",
     "check the kernel log (dmesg) of both nodes"},
    {"found another byte", "data-damaged", "data that arrived at {0} on {1} was wrong",
     "take {1} of {0} out of use, and check cable, firmware and memory"},
    {"found the time over", "write-hangs", "the write test on {1} of {0} did not end in time",
     "check the kernel log (dmesg) of both nodes; a port that lost its link in between shows "
     "there"},
};

const RailEnd& FindFailedEnd(const Transfer& transfer, const RailWrite& rail) {
  return transfer.failed_node == transfer.to ? rail.to : rail.from;
}

// Of several rails in use, one has a fault.
const RailWrite& FindFailedWrite(const Transfer& transfer, const RailWrite& rail) {
  const auto found =
      std::find_if(transfer.rails.begin(), transfer.rails.end(), [&](const RailWrite& one) {
        return FindFailedEnd(transfer, one).hca == transfer.run_error->hca;
      });
  return found == transfer.rails.end() ? rail : *found;
}

// Names of mlx5 and of soft-RoCE; a link that is healthy leaves all of them alone.
constexpr std::string_view kLossCounters[] = {"out_of_sequence",
                                              "packet_seq_err",
                                              "implied_nak_seq_err",
                                              "local_ack_timeout_err",
                                              "rnr_nak_retry_err",
                                              "rx_icrc_encapsulated",
                                              "duplicate_request",
                                              "roce_adp_retrans",
                                              "roce_adp_retrans_to",
                                              "roce_slow_restart",
                                              "roce_slow_restart_trans",
                                              "out_of_seq_request",
                                              "retry_exceeded_err",
                                              "rcvd_seq_err",
                                              "symbol_error",
                                              "req_transport_retries_exceeded",
                                              "req_rnr_retries_exceeded"};

// mlx5: a switch marked packets, and the sender was ordered to slow down. No fault while the speed
// is right; without marks on a cable between two nodes.
constexpr std::string_view kMarkCounters[] = {"np_ecn_marked_roce_packets", "np_cnp_sent",
                                              "rp_cnp_handled"};

// As "spark-1 rocep1s0f1: out_of_sequence +82".
std::vector<std::string> ListGrown(const Transfer& transfer, const RailWrite& rail,
                                   std::span<const std::string_view> names) {
  std::vector<std::string> lines;
  const auto add = [&](const NodeName& node, const std::string& hca,
                       const spark_verify::Counters& counters) {
    const auto device = counters.find(hca);
    if (device == counters.end()) return;
    for (const auto& [name, growth] : device->second) {
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      lines.push_back(MakePrintable(fmt::format("{} {}: {} +{}", node, hca, name, growth)));
    }
  };
  add(transfer.from, rail.from.hca, transfer.from_counters);
  add(transfer.to, rail.to.hca, transfer.to_counters);
  return lines;
}

// In one order for both directions, so that what is wrong with the pair is one finding.
std::vector<NodeName> ListBoth(const Transfer& transfer) {
  return {std::min(transfer.from, transfer.to), std::max(transfer.from, transfer.to)};
}

constexpr double kDetour = 6;       // Gb/s: what a CPU forwards
constexpr int kFastLink = 100'000;  // Mb/s: a Spark's, or half of it behind a switch's breakout

// Not where the cables between the switches of the two are slow themselves.
bool HasFastWay(const Transfer& transfer, const RailWrite& rail) {
  constexpr double kFastUplink = 90;  // Gb/s: less than the payload of a fast link at any MTU
  return std::min(rail.from.limits.link_mbps, rail.to.limits.link_mbps) >= kFastLink &&
         (transfer.uplink_gbps <= 0 || transfer.uplink_gbps >= kFastUplink);
}

}  // namespace

Cause ExplainRunError(const Transfer& transfer, const RailWrite& rail) {
  const spark_verify::RunError& run_error = *transfer.run_error;
  const NodeName node = transfer.failed_node.empty() ? transfer.from : transfer.failed_node;
  const RailWrite& failed_write = FindFailedWrite(transfer, rail);
  const RailEnd& end = FindFailedEnd(transfer, failed_write);
  for (const Remedy& remedy : kRemedies) {
    if (run_error.text.find(remedy.text) == std::string::npos) continue;
    const auto fill = [&](std::string_view text) {
      return fmt::format(fmt::runtime(text), node, end.hca, end.netdev);
    };
    return {std::string(remedy.code),
            {node},
            fill(remedy.cause),
            fill(remedy.next_step),
            failed_write.rail};
  }
  if (run_error.code == "no-program") {
    return {"no-program",
            {node},
            fmt::format("spark-verify could not be started on {}", node),
            run_error.hint.empty()
                ? fmt::format("check the space below /var/lib on {}, and its login", node)
                : MakePrintable(run_error.hint)};
  }
  return {"write-failed",
          {node},
          fmt::format("the write test failed on {}", node),
          run_error.hint.empty()
              ? fmt::format("run `verify --level rdma` again and check dmesg of {}", node)
              : MakePrintable(run_error.hint)};
}

Cause ExplainUnknownSpeed(const Transfer& transfer, const RailWrite& rail) {
  const bool from = rail.from.limits.link_mbps <= 0;
  const NodeName& node = from ? transfer.from : transfer.to;
  const std::string& netdev = from ? rail.from.netdev : rail.to.netdev;
  return {"speed-unknown",
          {node},
          fmt::format(
              "{} of {} does not report the speed of its link, so the expected value is unknown",
              netdev, node),
          fmt::format("check `ethtool {}` on {}", netdev, node)};
}

Cause ExplainImplausible(const Transfer& transfer, const RailWrite& rail) {
  return {"measurement-invalid", ListBoth(transfer),
          fmt::format("the figure for {} cannot be true", FormatRailName(rail.rail)),
          "run verify again while nothing else uses the fabric"};
}

Cause ExplainSmallMtu(const Transfer& transfer, const RailWrite& rail) {
  const bool from = rail.from.active_mtu < rail.wanted_mtu;
  const NodeName& node = from ? transfer.from : transfer.to;
  const std::string& netdev = from ? rail.from.netdev : rail.to.netdev;
  return {"mtu-wrong",
          {node},
          fmt::format("{} of {} has an RDMA MTU of {}, for its interface's MTU is too small",
                      from ? rail.from.hca : rail.to.hca, node,
                      from ? rail.from.active_mtu : rail.to.active_mtu),
          fmt::format("apply the manifest, which sets the MTU of {} on {}", netdev, node)};
}

std::optional<Cause> ExplainNarrowPcie(const Transfer& transfer, const RailWrite& rail) {
  const auto explain = [](const NodeName& node, const RailEnd& end) {
    return ExplainNarrowPcie(node, end.hca, end.hardware, end.limits);
  };
  auto cause = explain(transfer.from, rail.from);
  return cause ? cause : explain(transfer.to, rail.to);
}

Cause ExplainOneRail(const Transfer& transfer, const RailWrite& rail) {
  return {"one-rail", ListBoth(transfer),
          fmt::format("{} carries nothing while the other rail is in use, and full speed alone",
                      FormatRailName(rail.rail)),
          "check routes and ARP (arp_ignore, arp_announce): both rails must not share a subnet"};
}

std::vector<std::string> ListLossEvidence(const Transfer& transfer, const RailWrite& rail) {
  return ListGrown(transfer, rail, kLossCounters);
}

std::vector<std::string> ListMarkEvidence(const Transfer& transfer, const RailWrite& rail) {
  return ListGrown(transfer, rail, kMarkCounters);
}

bool IsLikelyDetour(const Transfer& transfer, const RailWrite& rail) {
  return rail.gbps < kDetour && HasFastWay(transfer, rail);
}

Cause ExplainLoss(const Transfer& transfer, const RailWrite& rail) {
  return {"packet-loss", ListBoth(transfer),
          fmt::format("packets are lost on {} between {}", FormatRailName(rail.rail),
                      Join(ListBoth(transfer), " and ")),
          "reseat or change the cable; on a switch check drops, and turn on flow control or ECN"};
}

Cause ExplainCongestion(const Transfer& transfer, const RailWrite& rail) {
  return {"congestion", ListBoth(transfer),
          fmt::format("a switch marks packets on {}, so that {} sends slower",
                      FormatRailName(rail.rail), transfer.from),
          "check what else passes that switch, and its ECN thresholds"};
}

Cause ExplainSlow(const Transfer& transfer, const RailWrite& rail, double back, double enough) {
  constexpr double kDegraded = 25;  // Gb/s: a ConnectX-7 in its degraded state stays below
  if (IsLikelyDetour(transfer, rail)) {
    return {
        "detour", ListBoth(transfer),
        fmt::format("{} takes a detour: this is what a CPU forwards", FormatRailName(rail.rail)),
        "check for a bridge over the fabric's interfaces (bridge link) and for a port that a "
        "switch blocks (STP); where a cage of the switch is split, reset its port"};
  }
  if (rail.gbps < kDegraded && HasFastWay(transfer, rail)) {
    return {"hca-degraded", ListBoth(transfer),
            fmt::format("a ConnectX of {} is degraded: the link is healthy and no counter grows",
                        Join(ListBoth(transfer), " or ")),
            "shut both down, take their power away for a minute, and update the firmware"};
  }
  if (back >= enough) {
    return {"asymmetry", ListBoth(transfer),
            fmt::format("{} is slow from {} to {} only", FormatRailName(rail.rail), transfer.from,
                        transfer.to),
            fmt::format("check load and flow control of {}, which sends, and of {}, which receives",
                        transfer.from, transfer.to)};
  }
  return {"rdma-slow", ListBoth(transfer),
          fmt::format("{} is slower than its link, and no measurement explains it",
                      FormatRailName(rail.rail)),
          "run verify again while nothing else uses the fabric or the processors"};
}

}  // namespace reconciler
