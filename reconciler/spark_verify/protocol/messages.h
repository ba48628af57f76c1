#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reconciler/base/result.h"
#include "reconciler/spark_verify/protocol/gid.h"

namespace reconciler::spark_verify {

// Both ends print one JSON object per line; whoever holds both channels carries every line of one
// to the other. The order, from each end: ready, connected, sent, checked, end; error instead of
// any, and nothing after it.
enum class Event { kReady, kConnected, kSent, kChecked, kEnd, kError };

struct QueuePairAddress {
  std::uint32_t number = 0;
  std::uint32_t first_packet = 0;  // PSN
};

// What bounds the speed of one rail, from sysfs; 0: not reported, as by a device made of software.
struct Limits {
  bool hardware = false;  // there is a device on a bus below it
  int link_mbps = 0;
  int pcie_width = 0;
  int pcie_max_width = 0;
  double pcie_gts = 0;  // per lane
};

// What the peer must know of one rail to write into this end's memory.
struct RailReady {
  std::string hca = {};
  std::string ipv4 = {};
  Gid gid = {};
  int gid_index = 0;
  int active_mtu = 0;         // bytes
  std::uint64_t address = 0;  // of the receive buffer: queue pair i owns [i * size, (i + 1) * size)
  std::uint64_t mailbox = 0;  // of the 8 bytes for the ping-pong
  std::uint32_t key = 0;
  Limits limits = {};  // for whoever judges the result
  std::vector<QueuePairAddress> queue_pairs = {};
};

struct Ready {
  std::vector<RailReady> rails = {};
  std::size_t size = 0;
  std::size_t latency = 0;
  bool send = false;
};

struct RailSent {
  std::string hca = {};
  std::uint64_t bytes = 0;        // in the time measured
  std::uint64_t total_bytes = 0;  // from the first to the last
  double seconds = 0;
  int path_mtu = 0;              // bytes
  double latency_us = 0;         // median of half a round; 0: not measured
  std::uint64_t final_seed = 0;  // of the pattern that was written last
  double Gbps() const { return seconds > 0 ? static_cast<double>(bytes) * 8e-9 / seconds : 0; }
};

// code: a stable slug ("gid", "memlock", "retry-exceeded"); hca: "" when it is about no rail.
struct RunError {
  std::string code = {};
  std::string hca = {};
  std::string text = {};
  std::string hint = {};
};

// HCA → counter → growth during the run; counters that stayed are left out.
using Counters = std::map<std::string, std::map<std::string, std::uint64_t>>;

std::string FormatReady(const Ready& ready);
std::string FormatConnected();
std::string FormatSent(const std::vector<RailSent>& rails);
std::string FormatChecked(std::uint64_t bytes);
std::string FormatEnd(const Counters& counters);
std::string FormatErrorLine(const RunError& run_error);

struct Message {
  Event event = Event::kEnd;
  Ready ready = {};
  std::vector<RailSent> sent = {};
  std::uint64_t checked_bytes = 0;
  Counters counters = {};
  RunError run_error = {};
};

Result<Message> ParseMessage(std::string_view line);
std::string_view ToString(Event event);

}  // namespace reconciler::spark_verify
