#pragma once

#include <infiniband/verbs.h>

#include "reconciler/base/result.h"
#include "reconciler/spark_verify/protocol/gid.h"

namespace reconciler::spark_verify {

// libibverbs as it was found at run time. Its inline functions (posting, polling) go through the
// opened device and need no symbol.
struct Verbs {
  ibv_device** (*get_device_list)(int*) = nullptr;
  void (*free_device_list)(ibv_device**) = nullptr;
  const char* (*get_device_name)(ibv_device*) = nullptr;
  ibv_context* (*open_device)(ibv_device*) = nullptr;
  int (*close_device)(ibv_context*) = nullptr;
  int (*query_device)(ibv_context*, ibv_device_attr*) = nullptr;
  int (*query_port)(ibv_context*, std::uint8_t, _compat_ibv_port_attr*) = nullptr;
  ssize_t (*query_gid_table)(ibv_context*, ibv_gid_entry*, std::size_t, std::uint32_t,
                             std::size_t) = nullptr;
  ibv_pd* (*alloc_pd)(ibv_context*) = nullptr;
  int (*dealloc_pd)(ibv_pd*) = nullptr;
  ibv_mr* (*reg_mr)(ibv_pd*, void*, std::size_t, int) = nullptr;
  ibv_mr* (*reg_dmabuf_mr)(ibv_pd*, std::uint64_t, std::size_t, std::uint64_t, int,
                           int) = nullptr;  // nullptr: this libibverbs is too old for it
  int (*dereg_mr)(ibv_mr*) = nullptr;
  ibv_cq* (*create_cq)(ibv_context*, int, void*, ibv_comp_channel*, int) = nullptr;
  int (*destroy_cq)(ibv_cq*) = nullptr;
  ibv_qp* (*create_qp)(ibv_pd*, ibv_qp_init_attr*) = nullptr;
  int (*modify_qp)(ibv_qp*, ibv_qp_attr*, int) = nullptr;
  int (*destroy_qp)(ibv_qp*) = nullptr;
  const char* (*wc_status_str)(ibv_wc_status) = nullptr;
};

// Errors: it is not installed, or older than rdma-core 32 (no query_gid_table).
Result<Verbs> LoadVerbs();

int ConvertMtuToBytes(ibv_mtu mtu);
// 0 or an errno. As the inline function of verbs.h, which would need the symbol at link time.
int QueryPort(const Verbs& verbs, ibv_context* device, int port, ibv_port_attr& attributes);
Result<std::vector<GidEntry>> ReadGidTable(const Verbs& verbs, ibv_context* device,
                                           const std::string& hca);

// Why a verb refused, from errno: what it was for, and what helps.
Error MakeVerbError(const std::string& what, int error_number);

}  // namespace reconciler::spark_verify
