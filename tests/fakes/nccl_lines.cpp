#include "tests/fakes/nccl_lines.h"

#include <cstdlib>
#include <sstream>

#include "tests/fakes/nccl_log.h"
#include "tests/fakes/settings.h"

// The lines of each version family, as recorded or read in the source: 2.2x up to 2.25, 2.26 to
// 2.28, 2.30.

namespace fakes {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

bool Gdr() { return Setting("FAKE_NCCL_GDR") == "1"; }

void LogHcas(const std::vector<std::string>& hcas, const std::string& oob) {
  const int version = NcclVersion();
  std::string list;
  for (std::size_t i = 0; i < hcas.size(); ++i) {
    list += " [" + std::to_string(i) + "]" + hcas[i] + ":1/RoCE";
    if (version >= 22700) {
      Info("NET", "NET/IB: [" + std::to_string(i) + "] " + hcas[i] + ":uverbs" + std::to_string(i) +
                      ":1/RoCE provider=Mlx5 speed=200000 context=0x7f0000000000 pciPath=/sys/"
                      "devices/pci0000:00/0000:00:00.0/0000:01:00.0 ar=0" +
                      (version >= 23000 ? " oooRqSize=0" : ""));
    }
  }
  Info("INIT", "NET/IB : Using" + list + " [RO]; OOB " + oob);
  for (std::size_t i = 0; i < hcas.size(); ++i) {
    Info("NET", std::string("NET/IB : GPU Direct RDMA ") + (Gdr() ? "Enabled" : "Disabled") +
                    " for HCA " + std::to_string(i) + " '" + hcas[i] + "'");
  }
}

}  // namespace

std::vector<std::string> UsedHcas() {
  if (Variable("NCCL_IB_DISABLE") == "1" || Variable("NCCL_NET") == "Socket") return {};
  std::vector<std::string> used;
  const std::string wanted = Variable("NCCL_IB_HCA");
  const bool exact = wanted.starts_with("=");
  for (const std::string& hca : Split(Setting("FAKE_NCCL_HCAS"))) {
    bool takes = wanted.empty();
    for (const std::string& one : Split(wanted.substr(exact ? 1 : 0))) {
      takes = takes || (exact ? hca == one : hca.starts_with(one));
    }
    if (takes) used.push_back(hca);
  }
  return used;
}

namespace {

void LogNetwork(const std::string& at) {
  const int version = NcclVersion();
  const auto hcas = UsedHcas();
  if (!hcas.empty()) {
    LogHcas(hcas, at);
    if (version >= 22800) {
      Info("INIT", "Initialized NET plugin IB");
      Info("INIT", "Assigned NET plugin IB to comm");
    }
    Info("INIT", "Using network IB");
    return;
  }
  if (Variable("NCCL_IB_DISABLE") != "1") {
    Info("INIT", "NET/IB : No device found.");
    // 2.28.3 says both.
    if (version >= 22800) Info("INIT", "NET/IB : Using [RO]; OOB " + at);
  }
  if (version >= 22800) Info("INIT", "Failed to initialize NET plugin IB");
  if (Variable("NCCL_NET") == "IB") return;
  Info("INIT", "NET/Socket : Using [0]" + at);
  if (version >= 22800) {
    Info("INIT", "Initialized NET plugin Socket");
    Info("INIT", "Assigned NET plugin Socket to comm");
  }
  Info("INIT", "Using network Socket");
}

}  // namespace

void LogInit(const Interface& interface, int rank, int ranks) {
  const int version = NcclVersion();
  const std::string at = interface.name + ":" + ToText(interface.address);
  for (const char* name : {"NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_HOSTID", "NCCL_NET",
                           "NCCL_IB_TIMEOUT", "NCCL_ALGO", "NCCL_PROTO"}) {
    if (const char* value = std::getenv(name)) {
      Info("ENV", std::string(name) + " set by environment to " + value);
    }
  }
  Info("BOOTSTRAP", (version >= 22600 ? "Bootstrap: Using " : "Bootstrap : Using ") + at);
  if (rank == 0) VersionLine();
  Info("INIT", "NET/Plugin: Could not find: libnccl-net.so.");
  LogNetwork(at);
  Info("INIT", "ncclCommInitRankConfig comm 0x55d0c0de rank " + std::to_string(rank) + " nranks " +
                   std::to_string(ranks) + " cudaDev 0 nvmlDev 0 busId f01000 - Init START");
}

void LogInitDone(int rank, int ranks) {
  const std::string who = "rank " + std::to_string(rank) + " nranks " + std::to_string(ranks);
  Info("INIT", "Comm config Blocking set to 0");
  Info("INIT", "ncclCommInitRankConfig comm 0x55d0c0de " + who +
                   " cudaDev 0 nvmlDev 0 busId f01000 - Init COMPLETE");
  if (NcclVersion() < 22300) return;
  Info("INIT", "Init timings - ncclCommInitRankConfig: " + who +
                   " total 0.02 (kernels 0.01, bootstrap 0.00, allgathers 0.00, topo 0.00, graphs "
                   "0.00, connections 0.00, rest 0.01)");
}

void LogChannels(int rank, int ranks) {
  const auto hcas = UsedHcas();
  const std::string gdr = Gdr() ? (NcclVersion() >= 22700 ? "/GDRDMA(PCI)" : "/GDRDMA") : "";
  for (int channel = 0; channel < 2; ++channel) {
    const std::string number = "Channel 0" + std::to_string(channel) + "/0 : ";
    const std::string net =
        hcas.empty()
            ? std::string("NET/Socket/0")
            : "NET/IB/" + std::to_string(static_cast<std::size_t>(channel) % hcas.size()) + gdr;
    const auto edge = [&](int from, int to, const char* direction) {
      Info("INIT", number + std::to_string(from) + "[0] -> " + std::to_string(to) + "[0] [" +
                       direction + "] via " + net);
    };
    edge((rank + ranks - 1) % ranks, rank, "receive");
    edge(rank, (rank + 1) % ranks, "send");
  }
  Info("INIT", NcclVersion() >= 22400
                   ? std::string("Connected all rings, use ring PXN 0 GDR ") + (Gdr() ? "1" : "0")
                   : "Connected all rings");
  if (NcclVersion() >= 22600) {
    Info("TUNING", "AllReduce: 4 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}");
  }
}

}  // namespace fakes
