#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reconciler/node/node_pool.h"

namespace reconciler {

// What a lease says of its holder. The lock itself belongs to the holder's Session.
std::string DescribeOwner();  // "ada@workstation pid 4711"
std::string FormatTimeNow();  // UTC, RFC 3339: "2026-05-01T10:00:00Z"
// "ada@workstation pid 4711 since 2026-05-01T10:00:00Z", and a second line for ExplainEndedHolder:
// "process PID BOOT_ID PID_NAMESPACE START".
std::string FormatLease();

// `lease`: its first line.
Error MakeLockedError(const NodeName& node, std::string_view lease);

// A node's lock as it is found, without taking it.
struct NodeLock {
  bool held = false;         // a living process holds the flock
  std::string lease = {};    // whose it is: the first line of FormatLease
  std::string process = {};  // the second
  int shell = 0;             // the node's process that holds it; 0: not reported
  // Since the holder's last request should have ended; negative: not yet; nullopt: not reported.
  std::optional<int> overdue_s = {};
};

// An error where the lease does not say whether the lock is held: that is neither free nor held.
Result<NodeLock> ReadLock(const NodeSpec& node, NodePool& pool);

// Why the holder has surely ended: it is overdue by more than `silent_s`, or it was a process of
// this machine that does not exist any more. Nothing: it may be running.
std::optional<std::string> ExplainEndedHolder(const NodeLock& lock, int silent_s);

// Ends the shell that holds the lock, and all that it started, and reads back that the lock is
// free. What its apply changed is reverted by the node's own guard, or by the next apply.
Result<void> BreakLock(const NodeSpec& node, NodePool& pool, const NodeLock& lock);

}  // namespace reconciler
