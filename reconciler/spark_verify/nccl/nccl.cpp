#include "reconciler/spark_verify/nccl/nccl.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "reconciler/spark_verify/io/read_counters.h"
#include "reconciler/spark_verify/nccl/communicator.h"
#include "reconciler/spark_verify/nccl/gpu_users.h"
#include "reconciler/spark_verify/nccl/rank_output.h"
#include "reconciler/spark_verify/nccl/supervisor.h"
#include "reconciler/spark_verify/nccl/tests.h"
#include "reconciler/spark_verify/protocol/counters.h"
#include "reconciler/spark_verify/write/memory.h"

namespace reconciler::spark_verify {
namespace {

using std::chrono::milliseconds;

constexpr int kFailed = 1;
constexpr milliseconds kFinish(10'000);
// For an abort after a failure, and for the log's last lines.
constexpr milliseconds kLast(3000);

std::map<std::string, std::string> ReadNcclEnvironment() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t at = text.find('=');
    if (text.starts_with("NCCL_") && at != std::string::npos) {
      found[text.substr(0, at)] = text.substr(at + 1);
    }
  }
  return found;
}

// Before any thread and any library that reads it.
void SetEnvironment(const NcclOptions& options) {
  for (const auto* env : {&RunEnvironment(), &options.env}) {
    for (const auto& [name, value] : *env) setenv(name.c_str(), value.c_str(), 1);
  }
}

std::string ReadHostName() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

std::string FormatBusy(const GpuUsers& users) {
  std::string list;
  for (const BusyProcess& one : users.processes) {
    list += fmt::format("{}{} (pid {})", list.empty() ? "" : ", ",
                        one.name.empty() ? "a process" : one.name, one.pid);
  }
  return "wanted the GPU to itself, found it used by " + list;
}

class NcclRun {
 public:
  NcclRun(const NcclOptions& options, RankOutput& output, Supervisor& supervisor)
      : options_(options),
        output_(output),
        supervisor_(supervisor),
        end_(Clock::now() + milliseconds(options.limit_ms)) {}

  Step Run();
  [[noreturn]] void End(const Step& step);

 private:
  void Begin(const std::string& phase, int limit_ms);
  Step Refuse(std::string code, const std::string& text, const std::string& hint) const;
  Step Load();
  Step Start();
  Step SendUniqueId();
  Step Expect(NcclCommand wanted);
  Step Init();
  Step Connect();
  Step Finish();

  const NcclOptions& options_;
  RankOutput& output_;
  Supervisor& supervisor_;
  const Clock::time_point end_;
  NcclHello hello_ = {};
  NcclOrder order_ = {};
  Counters before_ = {};
  Gpu gpu_{supervisor_};
  Nccl nccl_ = {};
  Communicator communicator_{nccl_, gpu_, supervisor_};
  NcclTests tests_{options_, gpu_, communicator_, supervisor_, output_, end_};
};

void NcclRun::Begin(const std::string& phase, int limit_ms) {
  supervisor_.Begin(phase, std::min(end_, Clock::now() + milliseconds(limit_ms)));
}

Step NcclRun::Refuse(std::string code, const std::string& text, const std::string& hint) const {
  return tl::unexpected<NcclFailure>(
      {.code = std::move(code), .phase = supervisor_.phase(), .text = text, .hint = hint});
}

Step NcclRun::Load() {
  supervisor_.RecordCall("dlopen of libnccl.so.2");
  auto nccl = LoadNccl(options_.library);
  supervisor_.RecordCall("");
  if (!nccl) {
    return Refuse(nccl.error().too_old ? "old-nccl" : "no-libnccl", nccl.error().error.message,
                  nccl.error().error.hint);
  }
  nccl_ = std::move(*nccl);
  hello_.library = nccl_.file;
  nccl_.version(&hello_.nccl_version);
  return {};
}

// What refuses is looked at before the GPU is touched; hello reports it all the same.
Step NcclRun::Start() {
  Begin("start", options_.init_ms);
  hello_.rank = options_.rank;
  hello_.pid = getpid();
  hello_.host = ReadHostName();
  hello_.env = ReadNcclEnvironment();
  if (auto step = gpu_.Find(options_.gpu, hello_); !step) return step;
  if (auto step = Load(); !step) return step;
  const GpuUsers users = FindGpuUsers(hello_.pci, options_.run, "");
  hello_.busy_source = users.source;
  hello_.busy = users.processes;
  const bool busy = !users.processes.empty() && !options_.allow_busy;
  if (!busy) {
    if (auto step = gpu_.Begin(hello_); !step) return step;
  }
  std::ifstream meminfo("/proc/meminfo");
  const HostMemory memory = ParseMemory({std::istreambuf_iterator<char>(meminfo), {}});
  hello_.mem_available = memory.available;
  hello_.swap_used = memory.swap_used;
  hello_.max_bytes = busy ? 0 : ComputeMaxBytes(hello_, options_);
  output_.Say(FormatHello(hello_));
  if (busy) return Refuse("busy", FormatBusy(users), "end it, or wait until it has ended");
  const std::string refusal = FindMemoryRefusal(hello_, options_);
  if (!refusal.empty()) return Refuse("memory", refusal, "take a smaller size");
  return tests_.Prepare();
}

Step NcclRun::SendUniqueId() {
  NcclId id;
  auto step = communicator_.Launch("ncclGetUniqueId", "NCCL's unique id",
                                   [&] { return nccl_.unique_id(&id); });
  if (step) output_.Say(FormatUniqueId(ToHex(id.bytes)));
  return step;
}

Step NcclRun::Expect(NcclCommand wanted) {
  Begin(wanted == NcclCommand::kId ? "wait for id" : "wait for go", options_.limit_ms);
  if (auto order = supervisor_.WaitOrder(end_)) {
    order_ = std::move(*order);
    if (order_.command == wanted) return {};
    return Refuse("protocol", "wanted another order", "");
  }
  if (const auto nonsense = supervisor_.TakeUnreadable()) return Refuse("protocol", *nonsense, "");
  return CheckTime(supervisor_, "", "an order");
}

Step NcclRun::Init() {
  if (auto step = Expect(NcclCommand::kId); !step) return step;
  const auto bytes = ParseUniqueId(order_.unique_id);
  if (!bytes) return Refuse("protocol", bytes.error().message, "");
  Begin("init", options_.init_ms);
  const auto began = Clock::now();
  auto step = communicator_.Init({*bytes}, options_.rank, options_.ranks);
  if (!step) return step;
  output_.Say(FormatInitDone(std::chrono::duration<double>(Clock::now() - began).count()));
  return {};
}

Step NcclRun::Connect() {
  if (auto step = Expect(NcclCommand::kGo); !step) return step;
  Begin("connect", options_.connect_ms);
  const auto began = Clock::now();
  auto step = tests_.Connect();
  if (!step) return step;
  output_.Say(FormatNcclConnected(std::chrono::duration<double>(Clock::now() - began).count()));
  return {};
}

Step NcclRun::Finish() {
  Begin("finish", static_cast<int>(kFinish.count()));
  if (auto step = communicator_.Finish(); !step) return step;
  output_.Say(FormatNcclEnd(ComputeGrowth(before_, ReadCounters(""))));
  return {};
}

Step NcclRun::Run() {
  before_ = ReadCounters("");
  if (auto step = Start(); !step) return step;
  if (options_.rank == 0) {
    if (auto step = SendUniqueId(); !step) return step;
  }
  if (auto step = Init(); !step) return step;
  if (auto step = Connect(); !step) return step;
  if (auto step = tests_.Run(); !step) return step;
  return Finish();
}

// The message first: an abort may take long, or not come back.
void NcclRun::End(const Step& step) {
  const bool ordered = supervisor_.IsStopped();
  if (!step && !ordered) output_.Say(FormatFailed(step.error()));
  supervisor_.EndWithin(kLast);
  const double seconds = step ? 0 : communicator_.Abort();
  if (!step && ordered && !supervisor_.HasInputEnded()) output_.Say(FormatAborted(seconds));
  output_.Drain();
  _exit(step ? 0 : kFailed);
}

}  // namespace

void RunNccl(const NcclOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  SetEnvironment(options);
  auto* output = new RankOutput;
  auto* supervisor = new Supervisor(*output);
  auto* run = new NcclRun(options, *output, *supervisor);
  run->End(run->Run());
}

}  // namespace reconciler::spark_verify
