#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reconciler/base/result.h"

namespace reconciler::spark_verify {

struct RailOption {
  std::string hca = {};   // rocep1s0f1
  std::string ipv4 = {};  // this end's address on that rail
};

// What one end of a write test gets when it is started, by these names; the other end's part
// comes on stdin.
struct WriteOptions {
  std::vector<RailOption> rails = {};  // driven at the same time
  bool send = false;                   // false: only receives
  std::size_t size = 1u << 20;         // bytes of one message
  std::size_t depth = 32;              // messages in flight per queue pair
  std::size_t queue_pairs = 4;         // per rail
  int milliseconds = 2000;             // of measured sending
  int warm_up_ms = 200;
  std::size_t latency = 0;  // ping-pong rounds before the bandwidth; this end begins them
  int ack_timeout = 14;     // 4.096 µs × 2^n before a packet is sent again, 6 times
  int limit_ms = 30000;     // for everything
};

// From one JSON object.
Result<WriteOptions> ParseWriteOptions(std::string_view text);
// What ParseWriteOptions reads back as the same.
std::string FormatWriteOptions(WriteOptions options);

// Lines for --help.
std::string FormatWriteUsage();

}  // namespace reconciler::spark_verify
