#include "reconciler/spark_verify/write/verbs.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace reconciler::spark_verify {
namespace {

template <class Function>
bool Find(void* library, const char* name, Function& function) {
  // The newest version of a symbol, as a linker would take.
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

constexpr const char* kInstall = "install rdma-core (it brings libibverbs1 and ibverbs-providers)";

GidType ToGidType(std::uint32_t type) {
  if (type == IBV_GID_TYPE_ROCE_V2) return GidType::kRoceV2;
  return type == IBV_GID_TYPE_ROCE_V1 ? GidType::kRoceV1 : GidType::kInfiniBand;
}

}  // namespace

Result<Verbs> LoadVerbs() {
  void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Fail({.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted libibverbs.so.1, the loader says: {}", dlerror()),
                 .hint = kInstall});
  }
  Verbs verbs;
  const bool all = Find(library, "ibv_get_device_list", verbs.get_device_list) &&
                   Find(library, "ibv_free_device_list", verbs.free_device_list) &&
                   Find(library, "ibv_get_device_name", verbs.get_device_name) &&
                   Find(library, "ibv_open_device", verbs.open_device) &&
                   Find(library, "ibv_close_device", verbs.close_device) &&
                   Find(library, "ibv_query_device", verbs.query_device) &&
                   Find(library, "ibv_query_port", verbs.query_port) &&
                   Find(library, "_ibv_query_gid_table", verbs.query_gid_table) &&
                   Find(library, "ibv_alloc_pd", verbs.alloc_pd) &&
                   Find(library, "ibv_dealloc_pd", verbs.dealloc_pd) &&
                   Find(library, "ibv_reg_mr", verbs.reg_mr) &&
                   Find(library, "ibv_dereg_mr", verbs.dereg_mr) &&
                   Find(library, "ibv_create_cq", verbs.create_cq) &&
                   Find(library, "ibv_destroy_cq", verbs.destroy_cq) &&
                   Find(library, "ibv_create_qp", verbs.create_qp) &&
                   Find(library, "ibv_modify_qp", verbs.modify_qp) &&
                   Find(library, "ibv_destroy_qp", verbs.destroy_qp) &&
                   Find(library, "ibv_wc_status_str", verbs.wc_status_str);
  if (!all) {
    return Fail({.kind = ErrorKind::kVerify,
                 .message = fmt::format("wanted libibverbs of rdma-core 32 or newer, the loader "
                                        "says: {}",
                                        dlerror()),
                 .hint = kInstall});
  }
  Find(library, "ibv_reg_dmabuf_mr", verbs.reg_dmabuf_mr);
  return verbs;
}

int ConvertMtuToBytes(ibv_mtu mtu) {
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << mtu : 0;
}

int QueryPort(const Verbs& verbs, ibv_context* device, int port, ibv_port_attr& attributes) {
  const auto number = static_cast<std::uint8_t>(port);
  attributes = {};
  // verbs_get_ctx_op in code that every compiler accepts: a provider may be older than this header.
  verbs_context* extended = verbs_get_ctx(device);
  if (extended != nullptr &&
      extended->sz >= sizeof *extended - offsetof(verbs_context, query_port) &&
      extended->query_port != nullptr) {
    return extended->query_port(device, number, &attributes, sizeof attributes);
  }
  return verbs.query_port(device, number, reinterpret_cast<_compat_ibv_port_attr*>(&attributes));
}

Result<std::vector<GidEntry>> ReadGidTable(const Verbs& verbs, ibv_context* device,
                                           const std::string& hca) {
  std::vector<ibv_gid_entry> raw(1024);
  const ssize_t count =
      verbs.query_gid_table(device, raw.data(), raw.size(), 0, sizeof(ibv_gid_entry));
  if (count < 0) {
    return Fail(MakeVerbError(fmt::format("the GID table of {}", hca), static_cast<int>(-count)));
  }
  std::vector<GidEntry> table;
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& from = raw[static_cast<std::size_t>(i)];
    GidEntry entry{.index = static_cast<int>(from.gid_index), .type = ToGidType(from.gid_type)};
    std::copy_n(from.gid.raw, entry.gid.size(), entry.gid.begin());
    char name[IF_NAMESIZE] = {};
    if (if_indextoname(from.ndev_ifindex, name) != nullptr) entry.netdev = name;
    table.push_back(std::move(entry));
  }
  return table;
}

Error MakeVerbError(const std::string& what, int error_number) {
  std::string hint;
  if (error_number == ENOMEM) {
    hint = "the limit for locked memory (memlock) of this login is too low, or memory is short";
  }
  if (error_number == EACCES || error_number == EPERM) {
    hint = "the user may not open /dev/infiniband/uverbs*";
  }
  if (error_number == ETIMEDOUT || error_number == EHOSTUNREACH) {
    hint = "the peer does not answer ARP on that rail";
  }
  return {.kind = ErrorKind::kVerify,
          .message = fmt::format("wanted {}, the kernel says: {}", what, strerror(error_number)),
          .hint = std::move(hint)};
}

}  // namespace reconciler::spark_verify
