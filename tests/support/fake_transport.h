#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "reconciler/transport/transport.h"

namespace reconciler {

// A node made of a function, for tests of what happens above the transport when a node misbehaves.
// The script runs when its input is closed, as `sh -s` would have read it all by then. Nothing
// sleeps: an answer slower than the deadline is a passed limit at once.
struct FakeNode {
  std::function<ScriptReply(const std::string& script)> shell = {};
  // Not empty: what was written runs each time that it ends with this, while the input stays open,
  // as a shell runs the commands of a session one after another.
  std::string runs_at = {};
  std::string refuse_dial = {};  // not empty: why no connection comes about
  std::string refuse_sudo = {};  // not empty: sudo's words, instead of running
  std::optional<std::size_t> drop_after = std::nullopt;  // bytes of output, then the line is cut
  Milliseconds latency{0};                               // before the first byte of the answer
  std::size_t flood = 0;                                 // bytes of 'x' ahead of the output
  std::size_t chunk = 4096;                              // most bytes that one Read returns
};

// Nodes by name, and the scripts that each was given. Safe for several threads.
class FakeNetwork {
 public:
  explicit FakeNetwork(std::map<NodeName, FakeNode> nodes) : nodes_(std::move(nodes)) {}
  FakeNetwork(const FakeNetwork&) = delete;
  FakeNetwork& operator=(const FakeNetwork&) = delete;

  Dial Dialer();  // the network must outlive it and the transports that it makes
  std::vector<std::string> ListScripts(const NodeName& node) const;
  void SetNode(const NodeName& node, FakeNode behavior);

 private:
  friend class FakeChannel;
  FakeNode Behavior(const NodeName& node) const;
  void Record(const NodeName& node, const std::string& script);

  mutable std::mutex mutex_;
  std::map<NodeName, FakeNode> nodes_;
  std::map<NodeName, std::vector<std::string>> scripts_;
};

}  // namespace reconciler
