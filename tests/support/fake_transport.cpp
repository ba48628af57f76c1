#include "tests/support/fake_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "reconciler/node/end_answer.sh.h"

namespace reconciler {
namespace {

Error FakeError(const NodeSpec& node, std::string_view what) {
  return Error{.kind = ErrorKind::kTransport, .message = fmt::format("{}: {}", node.name, what)};
}

// What BuildAnsweredScript makes of a script.
struct AnsweredScript {
  std::string script = {};
  std::string nonce = {};
};

std::optional<AnsweredScript> ParseAnsweredScript(std::string_view text) {
  constexpr std::string_view kNonce = "ANSWER='";
  const std::size_t begin = std::min(text.find("'\n(\n"), text.find("'\n{\n"));
  constexpr std::size_t kBegin = 4;
  const bool sub = begin != std::string::npos && text[begin + 2] == '(';
  const std::string end = fmt::format("\n{} </dev/null\n{}", sub ? ")" : "}", kEndAnswerSh);
  if (!text.starts_with(kNonce) || begin == std::string::npos || !text.ends_with(end)) {
    return std::nullopt;
  }
  const std::string_view nonce = text.substr(kNonce.size(), begin - kNonce.size());
  text.remove_suffix(end.size());
  return AnsweredScript{std::string(text.substr(begin + kBegin)), std::string(nonce)};
}

}  // namespace

class FakeChannel : public Channel {
 public:
  FakeChannel(FakeNetwork& network, NodeSpec node)
      : network_(network), node_(std::move(node)), behavior_(network.Behavior(node_.name)) {}

  Result<void> Write(std::string_view bytes, Deadline) override {
    if (ran_) return {};
    script_.append(bytes);
    if (const auto answered = ParseAnsweredScript(script_)) return RunAnswered(*answered);
    if (behavior_.runs_at.empty() || !script_.ends_with(behavior_.runs_at)) return {};
    if (!behavior_.refuse_sudo.empty()) return CloseInput();
    AnswerScript();
    script_.clear();
    return {};
  }

  Result<void> CloseInput() override {
    if (std::exchange(ran_, true) || (answered_ && script_.empty())) return {};
    if (!behavior_.refuse_sudo.empty()) {
      reply_ = {.exit_code = 1, .err = behavior_.refuse_sudo};
      return {};
    }
    if (behavior_.runs_at.empty()) AnswerScript();
    return {};
  }

  Result<Output> Read(Deadline deadline) override {
    if (ended_) return Fail(FakeError(node_, "the shell ended already"));
    const bool silent = reply_.out.empty() && reply_.err.empty();
    if ((!ran_ && silent) || std::chrono::steady_clock::now() + behavior_.latency > deadline) {
      return Fail(FakeError(node_, "the time limit passed"));
    }
    std::size_t room = behavior_.chunk;
    if (behavior_.drop_after) room = std::min(room, *behavior_.drop_after - sent_);
    if (room == 0) return Fail(FakeError(node_, "the connection was lost"));
    Output output;
    output.out = RemoveFront(reply_.out, room);
    output.err = RemoveFront(reply_.err, room - output.out.size());
    sent_ += output.out.size() + output.err.size();
    const bool cut = behavior_.drop_after && sent_ >= *behavior_.drop_after;
    if (ran_ && reply_.out.empty() && reply_.err.empty() && !cut) {
      output.exit_code = reply_.exit_code;
      ended_ = true;
    }
    return output;
  }

 private:
  // A shell that stays open takes on what its node does by now.
  Result<void> RunAnswered(const AnsweredScript& answered) {
    behavior_ = network_.Behavior(node_.name);
    if (!behavior_.refuse_sudo.empty()) return CloseInput();
    answered_ = true;
    sent_ = 0;
    script_ = answered.script;
    AnswerScript();
    script_.clear();
    const std::string end = fmt::format("\n{} done {}\n", answered.nonce, reply_.exit_code);
    reply_ = {0, reply_.out + end, reply_.err + end};
    return {};
  }

  void AnswerScript() {
    network_.Record(node_.name, script_);
    ScriptReply answer = behavior_.shell ? behavior_.shell(script_) : ScriptReply{};
    answer.out.insert(0, behavior_.flood, 'x');
    reply_ = {answer.exit_code, reply_.out + answer.out, reply_.err + answer.err};
  }

  static std::string RemoveFront(std::string& text, std::size_t count) {
    std::string front = text.substr(0, count);
    text.erase(0, front.size());
    return front;
  }

  FakeNetwork& network_;
  NodeSpec node_;
  FakeNode behavior_;
  std::string script_ = {};
  ScriptReply reply_ = {};
  std::size_t sent_ = 0;
  bool ran_ = false;
  bool answered_ = false;  // a script; the shell waits for the next one
  bool ended_ = false;
};

namespace {

class FakeTransport : public Transport {
 public:
  FakeTransport(FakeNetwork& network, NodeSpec node) : network_(network), node_(std::move(node)) {}
  Result<std::unique_ptr<Channel>> OpenShell() override {
    return std::make_unique<FakeChannel>(network_, node_);
  }

 private:
  FakeNetwork& network_;
  NodeSpec node_;
};

}  // namespace

Dial FakeNetwork::Dialer() {
  return [this](const NodeSpec& node) -> Result<std::unique_ptr<Transport>> {
    const std::string refusal = Behavior(node.name).refuse_dial;
    if (!refusal.empty()) return Fail(FakeError(node, refusal));
    return std::make_unique<FakeTransport>(*this, node);
  };
}

std::vector<std::string> FakeNetwork::ListScripts(const NodeName& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = scripts_.find(node);
  return found == scripts_.end() ? std::vector<std::string>{} : found->second;
}

void FakeNetwork::SetNode(const NodeName& node, FakeNode behavior) {
  const std::lock_guard lock(mutex_);
  nodes_[node] = std::move(behavior);
}

FakeNode FakeNetwork::Behavior(const NodeName& node) const {
  const std::lock_guard lock(mutex_);
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? FakeNode{.refuse_dial = "no such node"} : found->second;
}

void FakeNetwork::Record(const NodeName& node, const std::string& script) {
  const std::lock_guard lock(mutex_);
  scripts_[node].push_back(script);
}

}  // namespace reconciler
