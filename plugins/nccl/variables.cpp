#include "plugins/nccl/variables.h"

#include <algorithm>

#include "reconciler/base/text.h"

namespace reconciler::plugins::nccl {
namespace {

constexpr std::string_view kLevels = "LOC/NVL/PIX/PXB/P2C/PXN/PHB/SYS/0/1/2/3/4";
constexpr std::string_view kOneGpu = "a node has one GPU";
constexpr std::string_view kNoGdr = "GB10 has no GPUDirect RDMA";
constexpr std::string_view kNoMulticast = "GB10 has no NVLink multicast";
constexpr std::string_view kDead = "removed from NCCL years ago";

constexpr Rule MakeNumberRule(std::string_view name, std::int64_t least, std::int64_t most,
                              std::string_view note = {}, std::string_view since = {}) {
  return {.name = name,
          .form = Form::kNumber,
          .least = least,
          .most = most,
          .note = note,
          .since = since};
}
constexpr Rule MakeSwitchRule(std::string_view name, std::string_view since = {}) {
  return MakeNumberRule(name, 0, 1, {}, since);
}
constexpr Rule MakeUnreadRule(std::string_view name, std::string_view note) {
  return {.name = name, .standing = Standing::kNever, .note = note};
}
constexpr Rule MakePatchedRule(std::string_view name) {
  return {.name = name, .standing = Standing::kPatched};
}
constexpr Rule MakeNoEffectRule(std::string_view name, std::string_view why) {
  return {.name = name, .standing = Standing::kNoEffect, .note = why};
}

// In no order; looked up by a walk, a handful of times per node.
constexpr Rule kRules[] = {
    {.name = "NCCL_IB_HCA", .form = Form::kMatcher},
    {.name = "NCCL_SOCKET_IFNAME", .form = Form::kMatcher},
    {.name = "NCCL_OOB_NET_IFNAME", .form = Form::kMatcher},
    {.name = "GLOO_SOCKET_IFNAME", .form = Form::kNames},
    {.name = "TP_SOCKET_IFNAME", .form = Form::kNames},
    {.name = "UCX_NET_DEVICES", .form = Form::kNames},
    {.name = "OMPI_MCA_btl_tcp_if_include", .form = Form::kNames},
    {.name = "OMPI_MCA_oob_tcp_if_include", .form = Form::kNames},
    {.name = "NCCL_SOCKET_FAMILY", .form = Form::kWord, .choices = "AF_INET/AF_INET6"},
    {.name = "NCCL_IB_ADDR_FAMILY", .form = Form::kWord, .choices = "AF_INET/AF_INET6"},
    {.name = "NCCL_NET_MERGE_LEVEL", .form = Form::kWord, .choices = "LOC/PORT/PIX/PXB/PHB/SYS"},
    {.name = "NCCL_NET_MERGE_POLICY",
     .form = Form::kWord,
     .choices = "ALL/RAIL",
     .since = "2.30.5"},
    {.name = "NCCL_NET_GDR_LEVEL", .form = Form::kWord, .choices = kLevels},
    {.name = "NCCL_DEBUG", .form = Form::kWordNoCase, .choices = "VERSION/WARN/INFO/ABORT/TRACE"},
    {.name = "NCCL_ALGO",
     .form = Form::kTokens,
     .choices = "tree/ring/collnetdirect/collnetchain/nvls/nvlstree/pat"},
    {.name = "NCCL_PROTO", .form = Form::kTokens, .choices = "ll/ll128/simple"},

    MakeSwitchRule("NCCL_IB_DISABLE"),
    MakeSwitchRule("NCCL_IB_MERGE_NICS"),
    MakeSwitchRule("NCCL_IB_MERGE_VFS"),
    MakeSwitchRule("NCCL_IB_SUBNET_AWARE_ROUTING", "2.30.7"),
    MakeNumberRule("NCCL_IB_SUBNET_PREFIX_LEN", 1, 32, {}, "2.30.7"),
    MakeSwitchRule("NCCL_IB_RETURN_ASYNC_EVENTS"),
    MakeSwitchRule("NCCL_IB_SPLIT_DATA_ON_QPS"),
    MakeSwitchRule("NCCL_IB_ECE_ENABLE"),
    MakeSwitchRule("NCCL_IB_USE_INLINE"),
    MakeSwitchRule("NCCL_IB_ADAPTIVE_ROUTING"),
    MakeSwitchRule("NCCL_OOB_NET_ENABLE"),
    MakeSwitchRule("NCCL_RAS_ENABLE"),
    MakeSwitchRule("NCCL_COMM_BLOCKING"),
    MakeSwitchRule("NCCL_RUNTIME_CONNECT"),
    MakeSwitchRule("NCCL_PXN_DISABLE"),
    MakeSwitchRule("NCCL_IGNORE_CPU_AFFINITY"),
    MakeNumberRule("NCCL_IB_PCI_RELAXED_ORDERING", 0, 2),
    MakeNumberRule("NCCL_CROSS_NIC", 0, 2),
    MakeNumberRule("NCCL_IB_GID_INDEX", -1, 255),
    MakeNumberRule("NCCL_IB_ROCE_VERSION_NUM", 1, 2),
    MakeNumberRule("NCCL_IB_TIMEOUT", 1, 31,
                   "0 and more than 31 mean that a lost packet waits forever"),
    MakeNumberRule("NCCL_IB_RETRY_CNT", 0, 7),
    MakeNumberRule("NCCL_IB_QPS_PER_CONNECTION", 1, 128),
    MakeNumberRule("NCCL_IB_TC", 0, 255,
                   "it is the whole ToS byte: a DSCP of 26 is 104, with ECT 106"),
    MakeNumberRule("NCCL_IB_FIFO_TC", 0, 255),
    MakeNumberRule("NCCL_IB_SL", 0, 15),
    MakeNumberRule("NCCL_IB_PKEY", 0, 127),
    MakeNumberRule("NCCL_IB_AR_THRESHOLD", 0, 1LL << 40),
    MakeNumberRule("NCCL_IB_MQP_RETRY_CNT", 0, 1 << 20),
    MakeNumberRule("NCCL_IB_MQP_RETRY_SLEEP_MSEC", 0, 1 << 20),
    MakeNumberRule("NCCL_SOCKET_RETRY_CNT", 0, 1 << 20),
    MakeNumberRule("NCCL_SOCKET_RETRY_SLEEP_MSEC", 0, 1 << 20),
    MakeNumberRule("NCCL_SOCKET_POLL_TIMEOUT_MSEC", 0, 1 << 20, {}, "2.29"),
    MakeNumberRule("NCCL_SOCKET_NTHREADS", 1, 16),
    MakeNumberRule("NCCL_NSOCKS_PERTHREAD", 1, 16),
    MakeNumberRule("NCCL_CUMEM_ENABLE", -2, 1),
    MakeNumberRule("NCCL_CUMEM_HOST_ENABLE", -1, 1),
    MakeNumberRule("NCCL_MIN_NCHANNELS", 1, 64),
    MakeNumberRule("NCCL_MAX_NCHANNELS", 1, 64),
    MakeNumberRule("NCCL_MIN_CTAS", 1, 64),
    MakeNumberRule("NCCL_MAX_CTAS", 1, 64),
    MakeNumberRule("NCCL_NCHANNELS_PER_NET_PEER", 1, 64),
    MakeNumberRule("NCCL_BUFFSIZE", 1, 1LL << 40),
    MakeNumberRule("NCCL_NTHREADS", 64, 1024),
    MakeNumberRule("NCCL_P2P_NET_CHUNKSIZE", 1, 1LL << 40),
    MakeNumberRule("NCCL_RAS_TIMEOUT_FACTOR", 1, 1 << 20),

    MakeUnreadRule("NCCL_NCHANNELS", "NCCL_MIN_CTAS and NCCL_MAX_CTAS bound the channels"),
    MakeUnreadRule("NCCL_TIMEOUT",
                   "a process group takes its timeout as an argument; NCCL_IB_TIMEOUT is "
                   "that of one packet"),
    MakeUnreadRule("NCCL_ASYNC_ERROR_HANDLING", "PyTorch reads TORCH_NCCL_ASYNC_ERROR_HANDLING"),
    MakeUnreadRule("NCCL_BLOCKING_WAIT", "PyTorch reads TORCH_NCCL_BLOCKING_WAIT"),
    MakeUnreadRule("NCCL_MERGE_LEVEL", "NCCL_NET_MERGE_LEVEL is the name"),
    MakeUnreadRule("NCCL_GDR_LEVEL", "nccl.mode decides about GPUDirect"),
    MakeUnreadRule("NCCL_IB_GDR_LEVEL", "nccl.mode decides about GPUDirect"),
    MakeUnreadRule("NCCL_IB_CUDA_SUPPORT", "nccl.mode decides about GPUDirect"),
    MakeUnreadRule("NCCL_CHECKS_DISABLE", kDead),
    MakeUnreadRule("NCCL_TREE_THRESHOLD", kDead),
    MakeUnreadRule("NCCL_LL_THRESHOLD", kDead),
    MakeUnreadRule("NCCL_SINGLE_RING_THRESHOLD", kDead),
    MakeUnreadRule("NCCL_IB_TOS", "NCCL_IB_TC holds the whole ToS byte"),
    MakeUnreadRule("NCCL_IB_PEER_HCA", "NCCL_IB_SUBNET_AWARE_ROUTING finds the peer's HCA"),
    MakePatchedRule("NCCL_TUNER_THRESHOLD"),
    MakePatchedRule("NCCL_SKIP_TREE_CONNECT"),
    MakePatchedRule("NCCL_SWITCHLESS_RING_ONLY"),

    MakeNoEffectRule("NCCL_NET_GDR_READ", kNoGdr),
    MakeNoEffectRule("NCCL_NET_GDR_C2C", kNoGdr),
    MakeNoEffectRule("NCCL_IB_DATA_DIRECT", kNoGdr),
    MakeNoEffectRule("NCCL_GDRCOPY_ENABLE", kNoGdr),
    MakeNoEffectRule("NCCL_DMABUF_ENABLE",
                     "it is on by default and promises nothing; nccl.mode decides"),
    MakeNoEffectRule("NCCL_NVLS_ENABLE", kNoMulticast),
    MakeNoEffectRule("NCCL_NVLS_NCHANNELS", kNoMulticast),
    MakeNoEffectRule("NCCL_P2P_DISABLE", kOneGpu),
    MakeNoEffectRule("NCCL_P2P_LEVEL", kOneGpu),
    MakeNoEffectRule("NCCL_SHM_DISABLE", kOneGpu),
};

// The strings of libnccl 2.28.9 that are variables, and what later releases and nccl-tests added.
constexpr std::string_view kNames =
    "NCCL_ALGO NCCL_ALLOC_P2P_NET_LL_BUFFERS NCCL_BUFFSIZE NCCL_CGA_CLUSTER_SIZE "
    "NCCL_CHECK_POINTERS NCCL_CHUNK_SIZE NCCL_COLLNET_ENABLE NCCL_COLLNET_NODE_THRESHOLD "
    "NCCL_COMM_BLOCKING NCCL_COMM_ID NCCL_COMM_SHRINK_SHARE_RESOURCES "
    "NCCL_COMM_SPLIT_SHARE_RESOURCES NCCL_CONF_FILE NCCL_CONNECT_ROUND_MAX_PEERS "
    "NCCL_CROSS_NIC NCCL_CTA_POLICY NCCL_CUMEM_ENABLE NCCL_CUMEM_HOST_ENABLE NCCL_DEBUG "
    "NCCL_DEBUG_FILE NCCL_DEBUG_SUBSYS NCCL_DEBUG_TIMESTAMP_FORMAT "
    "NCCL_DEBUG_TIMESTAMP_LEVELS NCCL_DMABUF_ENABLE NCCL_ENV_PLUGIN NCCL_GDRCOPY_ENABLE "
    "NCCL_GDRCOPY_FIFO_ENABLE NCCL_GDRCOPY_FLUSH_ENABLE NCCL_GDRCOPY_SYNC_ENABLE "
    "NCCL_GDR_FLUSH_DISABLE NCCL_GIN_COUNTER_POOL_SIZE NCCL_GIN_ENABLE "
    "NCCL_GIN_ERROR_QUERY_SEC NCCL_GIN_GDAKI_NIC_HANDLER NCCL_GIN_GDAKI_QP_DEPTH "
    "NCCL_GIN_NCONTEXTS NCCL_GIN_PROXY_QUEUE_SIZE NCCL_GIN_SIGNAL_POOL_SIZE NCCL_GIN_TYPE "
    "NCCL_GRAPH_DUMP_FILE NCCL_GRAPH_DUMP_FILE_RANK NCCL_GRAPH_FILE "
    "NCCL_GRAPH_HELPER_DISABLE NCCL_GRAPH_MIXING_SUPPORT NCCL_GRAPH_REGISTER "
    "NCCL_GROUP_CUDA_STREAM NCCL_HOSTID NCCL_IB_ADAPTIVE_ROUTING NCCL_IB_ADDR_FAMILY "
    "NCCL_IB_ADDR_RANGE NCCL_IB_AR_THRESHOLD NCCL_IB_DATA_DIRECT NCCL_IB_DEVICE_PCI_ORDER "
    "NCCL_IB_DISABLE NCCL_IB_ECE_ENABLE NCCL_IB_FIFO_TC NCCL_IB_GID_INDEX NCCL_IB_HCA "
    "NCCL_IB_MERGE_NICS NCCL_IB_MERGE_VFS NCCL_IB_MQP_RETRY_ALL NCCL_IB_MQP_RETRY_CNT "
    "NCCL_IB_MQP_RETRY_SLEEP_MSEC NCCL_IB_OOO_RQ NCCL_IB_PCI_RELAXED_ORDERING "
    "NCCL_IB_PKEY NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS NCCL_IB_QPS_PER_CONNECTION "
    "NCCL_IB_RESILIENCY_PORT_FAILOVER NCCL_IB_RETRY_CNT NCCL_IB_RETURN_ASYNC_EVENTS "
    "NCCL_IB_ROCE_VERSION_NUM NCCL_IB_ROUTABLE_FLID_GID_INDEX NCCL_IB_SL "
    "NCCL_IB_SPLIT_DATA_ON_QPS NCCL_IB_SUBNET_AWARE_ROUTING NCCL_IB_SUBNET_PREFIX_LEN "
    "NCCL_IB_TC NCCL_IB_TIMEOUT NCCL_IB_USE_INLINE NCCL_IB_WARN_RAIL_LOCAL "
    "NCCL_IGNORE_CPU_AFFINITY NCCL_IGNORE_DISABLED_P2P NCCL_IGNORE_NET_MISMATCH "
    "NCCL_L1_SHARED_MEMORY_CARVEOUT NCCL_LAUNCH_MODE NCCL_LAUNCH_ORDER_IMPLICIT "
    "NCCL_LAUNCH_RACE_FATAL NCCL_LEGACY_CUDA_REGISTER NCCL_LL128_BUFFSIZE NCCL_LL128_C2C "
    "NCCL_LL128_NTHREADS NCCL_LL_BUFFSIZE NCCL_LOCAL_REGISTER NCCL_MAX_CGA_CLUSTER_SIZE "
    "NCCL_MAX_CTAS NCCL_MAX_NCHANNELS NCCL_MAX_NRINGS NCCL_MAX_P2P_NCHANNELS "
    "NCCL_MEM_SYNC_DOMAIN NCCL_MIN_CTAS NCCL_MIN_NCHANNELS NCCL_MIN_NRINGS "
    "NCCL_MIN_P2P_NCHANNELS NCCL_MNNVL_CLIQUE_ID NCCL_MNNVL_ENABLE "
    "NCCL_MNNVL_RAIL_PER_HOST NCCL_MNNVL_SCATTER_NETS_ENABLE NCCL_MNNVL_UUID "
    "NCCL_MULTI_RANK_GPU_ENABLE NCCL_NCHANNELS_PER_NET_PEER NCCL_NET NCCL_NETDEVS_POLICY "
    "NCCL_NET_DISABLE_INTRA NCCL_NET_FORCE_FLUSH NCCL_NET_FORCE_MERGE NCCL_NET_GDR_C2C "
    "NCCL_NET_GDR_LEVEL NCCL_NET_GDR_READ NCCL_NET_MERGE_LEVEL NCCL_NET_MERGE_POLICY "
    "NCCL_NET_OPTIONAL_RECV_COMPLETION NCCL_NET_OVERHEAD NCCL_NET_PLUGIN "
    "NCCL_NET_SHARED_BUFFERS NCCL_NET_SHARED_COMMS NCCL_NSOCKS_PERTHREAD NCCL_NTHREADS "
    "NCCL_NVB_DISABLE NCCL_NVB_PRECONNECT NCCL_NVLINK_UTIL_CENTRIC_SCHED_ENABLE "
    "NCCL_NVLSTREE_MAX_CHUNKSIZE NCCL_NVLS_CHUNKSIZE NCCL_NVLS_ENABLE NCCL_NVLS_NCHANNELS "
    "NCCL_NVTX_DISABLE NCCL_OOB_NET_ENABLE NCCL_OOB_NET_IFNAME NCCL_P2P_DIRECT_DISABLE "
    "NCCL_P2P_DISABLE NCCL_P2P_LEVEL NCCL_P2P_LL_THRESHOLD NCCL_P2P_NET_CHUNKSIZE "
    "NCCL_P2P_NVL_CHUNKSIZE NCCL_P2P_PCI_CHUNKSIZE NCCL_P2P_PXN_LEVEL "
    "NCCL_P2P_READ_ENABLE NCCL_P2P_SCHEDULE_GROUP_SIZE NCCL_P2P_USE_CUDA_MEMCPY "
    "NCCL_PAT_ENABLE NCCL_PROFILER_PLUGIN NCCL_PROGRESS_APPENDOP_FREQ NCCL_PROTO "
    "NCCL_PROXY_APPEND_BATCH_SIZE NCCL_PROXY_CPUSET NCCL_PROXY_DUMP_SIGNAL NCCL_PXN_C2C "
    "NCCL_PXN_DISABLE NCCL_RAS_ADDR NCCL_RAS_ENABLE NCCL_RAS_TIMEOUT_FACTOR "
    "NCCL_REPORT_CONNECT_PROGRESS NCCL_RUNTIME_CONNECT NCCL_SET_CPU_STACK_SIZE "
    "NCCL_SET_STACK_SIZE NCCL_SET_THREAD_NAME NCCL_SHM_DISABLE NCCL_SHM_LOCALITY "
    "NCCL_SHM_MEMCPY_MODE NCCL_SHM_USE_CUDA_MEMCPY NCCL_SINGLE_PROC_MEM_REG_ENABLE "
    "NCCL_SOCKET_FAMILY NCCL_SOCKET_IFNAME NCCL_SOCKET_INLINE NCCL_SOCKET_MIN_TASKSIZE "
    "NCCL_SOCKET_NTHREADS NCCL_SOCKET_POLL_TIMEOUT_MSEC NCCL_SOCKET_RCVBUF "
    "NCCL_SOCKET_RETRY_CNT NCCL_SOCKET_RETRY_SLEEP_MSEC NCCL_SOCKET_SNDBUF NCCL_SYM_CTAS "
    "NCCL_SYM_KERNEL NCCL_TESTS_DEVICE NCCL_TESTS_MIN_BW NCCL_TESTS_SPLIT "
    "NCCL_THREAD_THRESHOLDS NCCL_TOPO_DUMP_FILE NCCL_TOPO_DUMP_FILE_RANK NCCL_TOPO_FILE "
    "NCCL_TUNER_PLUGIN NCCL_UID_STAGGER_RATE NCCL_UID_STAGGER_THRESHOLD "
    "NCCL_UNPACK_DOUBLE_NCHANNELS NCCL_WARN_ENABLE_DEBUG_INFO NCCL_WIN_ENABLE "
    "NCCL_WIN_STRIDE NCCL_WORK_ARGS_BYTES NCCL_WORK_FIFO_BYTES";

}  // namespace

const Rule* FindRule(std::string_view name) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const Rule& rule) { return rule.name == name; });
  return found == std::end(kRules) ? nullptr : found;
}

const std::vector<std::string>& ListKnownVariables() {
  static const std::vector<std::string> kKnown = Split(kNames, ' ');
  return kKnown;
}

bool IsKnownName(std::string_view name) {
  const std::vector<std::string>& known = ListKnownVariables();
  return std::binary_search(known.begin(), known.end(), name);
}

bool MustAgree(std::string_view name) {
  constexpr std::string_view kOwn[] = {"NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME",
                                       "NCCL_HOSTID", "NCCL_CONF_FILE"};
  constexpr std::string_view kDiagnosticOnly[] = {"NCCL_DEBUG", "NCCL_RAS_", "NCCL_TESTS_",
                                                  "NCCL_TOPO_"};
  return std::find(std::begin(kOwn), std::end(kOwn), name) == std::end(kOwn) &&
         std::none_of(std::begin(kDiagnosticOnly), std::end(kDiagnosticOnly),
                      [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace reconciler::plugins::nccl
