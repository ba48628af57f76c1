#include "reconciler/spark_verify/nccl/api.h"

#include <fmt/format.h>

#include "reconciler/spark_verify/nccl/library.h"

namespace reconciler::spark_verify {
namespace {

bool FindAll(const Library& library, Nccl& nccl) {
  return library.Find("ncclGetVersion", nccl.version) &&
         library.Find("ncclGetUniqueId", nccl.unique_id) &&
         library.Find("ncclCommInitRankConfig", nccl.init_rank) &&
         library.Find("ncclCommFinalize", nccl.finalize) &&
         library.Find("ncclCommDestroy", nccl.destroy) &&
         library.Find("ncclCommAbort", nccl.abort) &&
         library.Find("ncclCommGetAsyncError", nccl.async_error) &&
         library.Find("ncclGetLastError", nccl.last_error) &&
         library.Find("ncclAllReduce", nccl.all_reduce) &&
         library.Find("ncclAllGather", nccl.all_gather) &&
         library.Find("ncclReduceScatter", nccl.reduce_scatter) &&
         library.Find("ncclSend", nccl.send) && library.Find("ncclRecv", nccl.recv) &&
         library.Find("ncclGroupStart", nccl.group_start) &&
         library.Find("ncclGroupEnd", nccl.group_end);
}

std::string ReadVersion(const Nccl& nccl) {
  int version = 0;
  if (nccl.version == nullptr || nccl.version(&version) != kNcclSuccess) return "no version";
  return FormatNcclVersionNumber(version);
}

}  // namespace

tl::expected<Nccl, NcclMissing> LoadNccl(const std::string& path) {
  const std::string name = path.empty() ? "libnccl.so.2" : path;
  const auto library = Library::Open(name);
  if (!library) {
    return tl::unexpected<NcclMissing>(
        {.error = {.kind = ErrorKind::kVerify,
                   .message =
                       fmt::format("wanted {}, the loader says: {}", name, library.error().message),
                   .hint = "install libnccl2, or name the library that the workload loads"}});
  }
  Nccl nccl;
  const bool all = FindAll(*library, nccl);
  if (nccl.version != nullptr)
    nccl.file = FindLibraryFile(reinterpret_cast<const void*>(nccl.version));
  if (all) return nccl;
  return tl::unexpected<NcclMissing>(
      {.too_old = true,
       .error = {.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted NCCL 2.14 or newer, found {} in {} without {}",
                                        ReadVersion(nccl), name, library->missing()),
                 .hint = "a GB10 needs 2.28 or newer"}});
}

// NCCL_VERSION of nccl.h: the places grew after 2.8.
std::string FormatNcclVersionNumber(int version) {
  const int major = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / major, version % major / 100, version % 100);
}

std::string_view NameNcclResult(int result) {
  constexpr std::string_view kNames[] = {
      "ncclSuccess",         "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError",
      "ncclInvalidArgument", "ncclInvalidUsage",       "ncclRemoteError", "ncclInProgress"};
  const bool known = result >= 0 && static_cast<std::size_t>(result) < std::size(kNames);
  return known ? kNames[result] : "a result that NCCL's header does not name";
}

}  // namespace reconciler::spark_verify
