#include "plugins/registry.h"

#include "plugins/etc_hosts/etc_hosts.h"
#include "plugins/facts/health/health.h"
#include "plugins/facts/host/host.h"
#include "plugins/facts/rdma/rdma.h"
#include "plugins/firewall/firewall.h"
#include "plugins/gpudirect/gpudirect.h"
#include "plugins/memlock/memlock.h"
#include "plugins/nccl/nccl.h"
#include "plugins/netplan/netplan.h"
#include "plugins/packages/packages.h"
#include "plugins/qos/qos.h"
#include "plugins/ssh/ssh.h"
#include "plugins/storage/storage.h"
#include "plugins/sysctl/sysctl.h"
#include "plugins/units/units.h"

namespace reconciler::plugins {

const std::vector<Plugin>& GetAll() {
  static const std::vector<Plugin> kPlugins = {
      host::Get(),     netplan::Get(), hosts::Get(),     sysctl::Get(), memlock::Get(),
      packages::Get(), ssh::Get(),     gpudirect::Get(), nccl::Get(),   rdma::Get(),
      units::Get(),    health::Get(),  firewall::Get(),  qos::Get(),    storage::Get(),
  };
  return kPlugins;
}

}  // namespace reconciler::plugins
