#pragma once

#include <dlfcn.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/fakes/nccl_net.h"

struct CUstream_st;

namespace fakes {

// As the real library: the driver is found at run time.
template <class Function>
Function Driver(const char* name) {
  static void* library = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function>(dlsym(library, name));
}

enum class Kind { kAllReduce, kAllGather, kReduceScatter, kGroup };

struct Transfer {
  bool send = false;
  void* data = nullptr;
  std::size_t bytes = 0;
  int peer = 0;
};

// One call, as it was made.
struct Work {
  Kind kind = Kind::kAllReduce;
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 0;
  int type = 0;
  int op = 0;
  std::vector<Transfer> transfers = {};
  CUstream_st* stream = nullptr;
  int number = 0;  // from 1
};

// FAKE_NCCL_FAULT: "NAME", "NAME:N" (at the Nth call) and either with "@RANK":
//   hang-id, hang-init, error-init, crash-init, hang-abort
//   hang-call:N   the call never returns      hang-op:N    its work never ends
//   hang-connect  its first work never begins crash-op:N   SIGSEGV
//   error-op:N    asynchronous error 2        wrong-data:N and after: one element differs
//   babble        the log never ends
bool HasFault(const std::string& name, int rank, int number = 0);

// A communicator: its own thread carries out what must not block the caller.
class Comm {
 public:
  Comm(int rank, int ranks, const sockaddr_in& root);

  int Submit(Work work);
  int Finalize();
  void Abort();
  int state() const { return state_; }
  int ranks() const { return ranks_; }

 private:
  struct Header;

  void Later(std::function<void()> task);
  void Serve();
  void Init(sockaddr_in root);
  bool Refused();
  void Prepare(const Work& work);
  void Run(const Work& work);
  NetResult Carry(const Work& work);
  NetResult AllReduce(const Work& work);
  NetResult AllGather(const void* from, char* to, std::size_t bytes);
  NetResult Group(const Work& work);
  NetResult Agree(const Work& work);
  void Settle(NetResult result);
  void Fail(int state, const std::string& place, const std::string& text);
  void Claim(const Work& work);

  const int rank_;
  const int ranks_;
  std::atomic<int> state_;
  Mesh mesh_ = {};
  int calls_ = 0;
  bool connected_ = false;
  bool rested_ = true;  // the work before the next is a barrier's, and all waited for it
  std::mutex mutex_ = {};
  std::condition_variable wake_ = {};
  std::deque<std::function<void()>> tasks_ = {};
  bool ending_ = false;
  std::thread server_ = {};
};

}  // namespace fakes
