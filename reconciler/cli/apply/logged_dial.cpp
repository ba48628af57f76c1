#include "reconciler/cli/apply/logged_dial.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "reconciler/base/text.h"

namespace reconciler::cli {
namespace {

using Log = std::function<void(const LogLine&)>;

// Runs `work` and logs what it was, how long it took, and whether it failed.
template <class Work>
auto RunLogged(const Log& log, const std::string& what, Work work) {
  const auto began = std::chrono::steady_clock::now();
  auto result = work();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  log({LogLevel::kTransport,
       fmt::format("{} in {:.3f} s{}", what, took.count(),
                   result ? "" : ": failed: " + MakePrintable(result.error().message))});
  return result;
}

class LoggedTransport : public Transport {
 public:
  LoggedTransport(NodeName node, std::unique_ptr<Transport> transport, Log log)
      : node_(std::move(node)), transport_(std::move(transport)), log_(std::move(log)) {}

  Result<std::unique_ptr<Channel>> OpenShell() override {
    return RunLogged(log_, MakePrintable(node_) + ": shell",
                     [&] { return transport_->OpenShell(); });
  }

 private:
  NodeName node_;
  std::unique_ptr<Transport> transport_;
  Log log_;
};

}  // namespace

Dial LogConnections(Dial dial, std::function<void(const LogLine&)> log) {
  return [dial = std::move(dial),
          log = std::move(log)](const NodeSpec& node) -> Result<std::unique_ptr<Transport>> {
    const std::string what =
        fmt::format("{}: connection to {}", MakePrintable(node.name), MakePrintable(node.address));
    auto transport = RunLogged(log, what, [&] { return dial(node); });
    if (!transport) return transport;
    return std::make_unique<LoggedTransport>(node.name, std::move(*transport), log);
  };
}

}  // namespace reconciler::cli
