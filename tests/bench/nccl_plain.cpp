// One rank of an all_reduce that is timed as nccl-tests does it: a blocking communicator,
// iterations begun one after the other, the host's clock until the stream is done, the mean over
// the ranks. Written against NCCL's own headers, where nccl_bench.py finds no nccl-tests that could
// run one process per rank.
//
//   nccl_plain RANK RANKS GPU ID_FILE WARM_UP ITERATIONS BYTES...

#include <cuda_runtime.h>
#include <nccl.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

void Cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "nccl_plain: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

void Nccl(ncclResult_t result) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "nccl_plain: %s: %s\n", ncclGetErrorString(result),
               ncclGetLastError(nullptr));
  std::exit(1);
}

// Rank 0 leaves the id in a file that appears whole.
ncclUniqueId Id(int rank, const std::string& path) {
  ncclUniqueId id;
  if (rank == 0) {
    Nccl(ncclGetUniqueId(&id));
    std::ofstream(path + ".new", std::ios::binary).write(id.internal, sizeof id.internal);
    std::rename((path + ".new").c_str(), path.c_str());
    return id;
  }
  while (true) {
    std::ifstream file(path, std::ios::binary);
    if (file.read(id.internal, sizeof id.internal)) return id;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 8) return 2;
  const int rank = std::atoi(argv[1]);
  const int ranks = std::atoi(argv[2]);
  const int warm_up = std::atoi(argv[5]);
  const int iterations = std::atoi(argv[6]);
  Cuda(cudaSetDevice(std::atoi(argv[3])));
  ncclComm_t comm;
  Nccl(ncclCommInitRank(&comm, ranks, Id(rank, argv[4]), rank));
  cudaStream_t stream;
  Cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  double* mean = nullptr;
  Cuda(cudaMalloc(&mean, sizeof *mean));
  for (int i = 7; i < argc; ++i) {
    const std::size_t bytes = std::strtoull(argv[i], nullptr, 10);
    void* from = nullptr;
    void* to = nullptr;
    Cuda(cudaMalloc(&from, bytes));
    Cuda(cudaMalloc(&to, bytes));
    Cuda(cudaMemset(from, 0, bytes));
    const auto run = [&](int count) {
      const auto began = std::chrono::steady_clock::now();
      for (int n = 0; n < count; ++n) {
        Nccl(ncclAllReduce(from, to, bytes / 4, ncclFloat, ncclSum, comm, stream));
      }
      Cuda(cudaStreamSynchronize(stream));
      return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began)
          .count();
    };
    run(warm_up);
    double us = run(iterations) / iterations;
    Cuda(cudaMemcpy(mean, &us, sizeof us, cudaMemcpyHostToDevice));
    Nccl(ncclAllReduce(mean, mean, 1, ncclDouble, ncclAvg, comm, stream));
    Cuda(cudaStreamSynchronize(stream));
    Cuda(cudaMemcpy(&us, mean, sizeof us, cudaMemcpyDeviceToHost));
    if (rank == 0) {
      const double algbw = static_cast<double>(bytes) / us / 1e3;
      std::printf("{\"bytes\": %zu, \"time_us\": %.3f, \"busbw\": %.6f}\n", bytes, us,
                  algbw * 2 * (ranks - 1) / ranks);
    }
    Cuda(cudaFree(from));
    Cuda(cudaFree(to));
  }
  Nccl(ncclCommDestroy(comm));
  return 0;
}
