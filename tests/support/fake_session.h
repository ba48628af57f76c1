#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tests/support/fake_transport.h"

namespace reconciler {

// A node that grants its lock and answers each request of a session with what `answer` makes of it
// and of the session's nonce.
inline FakeNode SessionNode(
    std::function<ScriptReply(const std::string& request, const std::string& nonce)> answer = {}) {
  auto nonce = std::make_shared<std::string>();
  FakeNode node{.runs_at = "\n"};
  node.shell = [nonce, answer = std::move(answer)](const std::string& script) {
    const std::size_t preamble = script.find("NONCE='");
    ScriptReply reply;
    if (preamble != std::string::npos) {
      *nonce = script.substr(preamble + 7, 32);
    } else if (answer) {
      reply = answer(script, *nonce);
    }
    const std::string done = "\n" + *nonce + " done " + std::to_string(reply.exit_code) + "\n";
    reply.out += done;
    reply.err += done;
    return reply;
  };
  return node;
}

}  // namespace reconciler
