// Writes a corpus for each target below a folder: `fuzz_seeds FOLDER`. From the case files, from
// values that the project formats itself, and from the raw literals of the unit tests, which are
// what programs on nodes really print.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "plugins/registry.h"
#include "reconciler/apply/history.h"
#include "reconciler/base/text.h"
#include "reconciler/fabric/expand.h"
#include "reconciler/manifest/load.h"
#include "reconciler/model/json/json.h"
#include "reconciler/planning/plan_maker.h"
#include "reconciler/spark_verify/protocol/nccl_messages.h"
#include "tests/fuzz/pair.h"
#include "tests/support/paths.h"
#include "tests/unit/verify/nccl_sample.h"

namespace reconciler::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path kTests = test::SourceDir() + "/tests";

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Numbers the inputs of each target.
class Corpora {
 public:
  explicit Corpora(fs::path folder) : folder_(std::move(folder)) {}

  void Add(const std::string& target, const std::string& input) {
    const fs::path folder = folder_ / target;
    fs::create_directories(folder);
    std::ofstream file(folder / std::to_string(count_++), std::ios::binary);
    file << input;
    if (!file.flush()) throw std::runtime_error("not written: " + folder.string());
  }

 private:
  fs::path folder_;
  std::size_t count_ = 0;
};

std::vector<fs::path> ListFiles(const fs::path& folder, const std::string& ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().string().ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The raw string literals of C++ source.
std::vector<std::string> ListLiterals(const std::string& source) {
  std::vector<std::string> literals;
  for (std::size_t at = source.find("R\""); at != std::string::npos; at = source.find("R\"", at)) {
    const std::size_t open = source.find('(', at);
    if (open == std::string::npos) break;
    const std::string end = ")" + source.substr(at + 2, open - at - 2) + "\"";
    const std::size_t close = source.find(end, open);
    at = open;
    if (close == std::string::npos) continue;
    literals.push_back(source.substr(open + 1, close - open - 1));
    at = close + end.size();
  }
  return literals;
}

std::string MakeFrame(const std::string& label, const std::string& body) {
  return "\nN " + label + "\n" + body;
}

std::vector<std::string> ListCommands() {
  std::vector<std::string> ids;
  for (const Read& read : GetReads()) {
    if (const auto* probe = std::get_if<RunProbe>(&read)) ids.push_back(probe->id);
  }
  return ids;
}

// What a unit test has for the commands that it names.
void AddProbesOfTests(Corpora& corpora) {
  const std::vector<std::string> ids = ListCommands();
  for (const fs::path& path : ListFiles(kTests / "unit/plugins", ".cpp")) {
    const std::string source = ReadAll(path);
    for (const std::string& literal : ListLiterals(source)) {
      for (const std::string& id : ids) {
        if (source.find('"' + id + '"') == std::string::npos) continue;
        corpora.Add("probes", MakeFrame("command " + id, literal));
      }
      corpora.Add("probes", MakeFrame("file /etc/netplan/60-other.yaml", literal));
      corpora.Add("probes", MakeFrame("file /etc/nccl.conf", literal) +
                                MakeFrame("file ~nvidia/.ssh/authorized_keys", literal));
      corpora.Add("texts", literal);
    }
  }
}

void AddProbes(Corpora& corpora) {
  const ProbeReply bare = AnswerBare(0);
  std::string all;
  for (const auto& [id, reply] : bare.commands) {
    const std::string frames = MakeFrame("command " + id, reply.out) +
                               MakeFrame("exit " + std::to_string(reply.exit_code), reply.err);
    corpora.Add("probes", frames);
    all += frames;
  }
  for (const auto& [path, value] : bare.values) {
    if (const std::string* known = Known(value)) all += MakeFrame("value " + path, *known);
  }
  for (const auto& [path, file] : bare.files) {
    if (const FileState* known = Known(file)) all += MakeFrame("file " + path, known->content);
  }
  corpora.Add("probes", all);
  const std::string hca = "value /sys/class/infiniband/rocep1s0f1/";
  std::string values;
  for (const auto& [path, text] :
       std::map<std::string, std::string>{{"fw_ver", "28.45.4028"},
                                          {"ports/1/state", "4: ACTIVE"},
                                          {"ports/1/rate", "200 Gb/sec (2X NDR)"},
                                          {"ports/1/link_layer", "Ethernet"},
                                          {"device/current_link_speed", "32.0 GT/s PCIe"},
                                          {"device/current_link_width", "2"},
                                          {"ports/1/hw_counters/out_of_sequence", "82"}}) {
    values += MakeFrame(hca + path, text);
  }
  corpora.Add("probes", values);
  AddProbesOfTests(corpora);
}

// An answer to the gather script.
void AddReplies(Corpora& corpora) {
  const ProbeReply bare = AnswerBare(0);
  std::string stats;
  std::string contents;
  for (const auto& [path, file] : bare.files) {
    const FileState* known = Known(file);
    if (known == nullptr || path.starts_with('~')) continue;
    stats += std::to_string(known->content.size()) +
             " 644 root root 0 0 7 2026-01-01 00:00:00.0 +0000 " + path + '\0';
    contents += known->content;
  }
  std::string values;
  for (const auto& [path, value] : bare.values) {
    if (const std::string* known = Known(value)) values += path + '\0' + *known + "\n";
  }
  std::string reply = MakeFrame("session", "10.9.0.9 40000 10.9.0.1 22") +
                      MakeFrame("files", std::string("F /etc/hosts\0D /etc/x\0", 22)) +
                      MakeFrame("stat", stats) + MakeFrame("content", contents) +
                      MakeFrame("again", stats) + MakeFrame("values", values);
  for (const auto& [id, one] : bare.commands) {
    reply += MakeFrame("command " + id, one.out) + MakeFrame("exit 0", "");
  }
  reply += MakeFrame("home nvidia", std::string("F .ssh/authorized_keys\0nvidia\0\0exit 0", 38)) +
           MakeFrame("no-user x", "") + MakeFrame("end", "") + "\nN done 0\n";
  corpora.Add("reply", reply);
  corpora.Add("reply",
              reply + "=err=" + MakeFrame("values", "grep: /proc/x: denied\n") + "\nN done 0\n");
  corpora.Add("reply", MakeFrame("1", "out") + MakeFrame("exit 3", "") + "\nN done 3\n");
}

LedgerEntry MakeEntry(const Change& change) {
  return {.kind = change.kind,
          .name = change.name,
          .plugin = change.plugin,
          .generation = 1,
          .original = change.revert,
          .triggers = change.triggers};
}

void AddPlansAndLedgers(Corpora& corpora) {
  std::vector<Plan> plans = {PlanPair(ParseReply(0, AnswerBare(0)))};
  for (const auto& entry : fs::directory_iterator(kTests / "cases/plan")) {
    const auto cluster = LoadClusterSpec(ReadAll(entry.path() / "cluster.yaml"), "cluster.yaml");
    const auto facts = ParseFacts(ReadAll(entry.path() / "facts.json"));
    if (!cluster || !facts) continue;  // the tests of the cases say so
    const auto fabric = ExpandFabric(*cluster);
    if (!fabric) continue;
    if (auto plan = MakePlan(*cluster, *fabric, *facts, plugins::GetAll())) plans.push_back(*plan);
  }
  for (const Plan& plan : plans) {
    corpora.Add("plan", Dump(ToJson(plan)));
    Ledger ledger{.cluster = "lab", .generation = 1, .nodes = {{"spark-1", 1, "192.168.1.21"}}};
    for (const Stage& stage : plan.stages) {
      for (const Change& change : stage.changes) {
        if (ledger.Find(change.kind + "/" + change.name) == nullptr) {
          ledger.entries.push_back(MakeEntry(change));
        }
      }
    }
    corpora.Add("ledger", FormatLedger(ledger));
  }
  GenerationInfo info{.plan = "0123456789abcdef",
                      .cluster = "lab",
                      .manifest = "pair.yaml",
                      .manifest_digest = "0123456789ab",
                      .manifest_text = GetPair().text,
                      .time = "2026-01-31T12:00:00Z",
                      .by = "admin",
                      .changes = 3};
  corpora.Add("ledger", FormatGeneration(info));
  info.commit = "0123abc";
  info.verification = "passed";
  info.rolled_back_to = 1;
  corpora.Add("ledger", FormatGeneration(info));
}

void AddNccl(Corpora& corpora) {
  const test::NcclScenario healthy = test::HealthyNccl(2);
  std::string exchange;
  const auto say = [&](const NcclRank& rank, const std::string& line) {
    exchange += (rank.node == "spark-2" ? "\t" : "") + line;
    if (!line.ends_with('\n')) exchange += '\n';
  };
  for (const NcclRank& rank : healthy.run.ranks) say(rank, spark_verify::FormatHello(*rank.hello));
  say(healthy.run.ranks[0], spark_verify::FormatUniqueId(std::string(256, 'a')));
  for (const NcclRank& rank : healthy.run.ranks) say(rank, spark_verify::FormatInitDone(0.5));
  for (const NcclRank& rank : healthy.run.ranks) {
    say(rank, spark_verify::FormatNcclConnected(0.5));
    say(rank, spark_verify::FormatLog("n:1:1 [0] NCCL INFO Using network IB"));
  }
  const std::string begun = exchange;
  for (const NcclRank& rank : healthy.run.ranks) {
    for (const auto& result : rank.results) say(rank, spark_verify::FormatResult(result));
    say(rank, spark_verify::FormatNcclEnd({{"rocep1s0f1", {{"port_xmit_data", 7}}}}));
  }
  corpora.Add("nccl", exchange);
  exchange = begun;
  say(healthy.run.ranks[1],
      spark_verify::FormatFailed({.code = "async", .phase = "connect", .call = "x", .result = 6}));
  say(healthy.run.ranks[0], spark_verify::FormatAborted(0.1));
  corpora.Add("nccl", exchange);
  corpora.Add("nccl", test::HealthyLog());
  for (const char* folder : {"unit/verify", "unit/spark_verify"}) {
    for (const fs::path& path : ListFiles(kTests / folder, ".cpp")) {
      for (const std::string& literal : ListLiterals(ReadAll(path))) corpora.Add("nccl", literal);
    }
  }
}

void AddFiles(Corpora& corpora, const fs::path& folder, const std::string& ending,
              const std::string& target) {
  for (const fs::path& path : ListFiles(folder, ending)) corpora.Add(target, ReadAll(path));
}

// The markers of frames, which no mutation finds soon.
void WriteDictionary(const fs::path& path) {
  std::ofstream file(path);
  for (const std::string& id : ListCommands()) file << "\"\\x0aN command " << id << "\\x0a\"\n";
  for (const Read& read : GetReads()) {
    if (const auto* one = std::get_if<ReadFile>(&read)) {
      file << "\"\\x0aN file " << one->path << "\\x0a\"\n";
    } else if (const auto* value = std::get_if<ReadValue>(&read)) {
      file << "\"\\x0aN value " << value->path << "\\x0a\"\n";
    }
  }
}

void MakeCorpora(const fs::path& folder) {
  fs::remove_all(folder);
  Corpora corpora(folder);
  AddFiles(corpora, kTests / "cases", "/cluster.yaml", "manifest");
  AddFiles(corpora, test::SourceDir() + "/manifests", ".yaml", "manifest");
  corpora.Add("manifest", GetPair().text);
  AddProbes(corpora);
  AddReplies(corpora);
  AddPlansAndLedgers(corpora);
  AddFiles(corpora, kTests / "cases/nccl", ".json", "report");
  AddNccl(corpora);
  for (const char* of : {"unit/cabling", "unit/discovery"}) {
    for (const fs::path& path : ListFiles(kTests / of, ".cpp")) {
      for (const std::string& literal : ListLiterals(ReadAll(path))) corpora.Add("texts", literal);
    }
  }
  WriteDictionary(folder / "probes.dict");
}

}  // namespace
}  // namespace reconciler::fuzz

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "wanted one folder, which is made again\n";
    return 2;
  }
  reconciler::fuzz::MakeCorpora(arguments[1]);
  return 0;
}
