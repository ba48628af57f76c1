#include "reconciler/engine/history.h"

#include <charconv>

#include "reconciler/engine/frames.h"

namespace reconciler {

Result<std::vector<Generation>> ReadHistory(const NodeSpec& node, NodePool& pool) {
  const std::string nonce = MakeNonce();
  const std::string script = ScriptPreamble(nonce) +
                             "cd /var/lib/spark-reconcile/generations 2>/dev/null || exit 0\n"
                             "for file in $(ls | grep -x '[0-9]*\\.json' | sort -n); do\n"
                             "  frame \"${file%.json}\"; cat \"$file\"\ndone\nframe end\n";
  const auto reply = pool.Run(node, script, std::chrono::seconds(node.access.command_timeout_s));
  if (!reply) return Fail(reply.error());
  std::vector<Generation> history;
  for (Frame& frame : ParseFrames(*reply, nonce)) {
    int number = 0;
    const char* end = frame.label.data() + frame.label.size();
    if (std::from_chars(frame.label.data(), end, number).ptr != end) continue;  // "end"
    history.push_back({number, std::move(frame.out)});
  }
  return history;
}

}  // namespace reconciler
