#pragma once

#include <concepts>
#include <map>
#include <string>

#include "reconciler/model/facts/description.h"
#include "reconciler/model/facts/fact.h"

namespace reconciler {

// What one port does about traffic classes.
struct QosPort {
  Fact<std::string> hca;
  Fact<std::string> pfc;
  Fact<std::string> dscp;
  Fact<std::string> tos;
  bool operator==(const QosPort&) const = default;
};

template <std::same_as<QosPort> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "qos_port", "How a port treats traffic classes.",
      Field{"hca", &T::hca, "What the node calls the port's RDMA device."},
      Field{"pfc", &T::pfc, "Priorities with flow control, such as 3, or none."},
      Field{"dscp", &T::dscp, "DSCP:PRIORITY, sorted, with blanks between, or none."},
      Field{"tos", &T::tos, "The ToS byte of connections by rdma_cm; absent: no such device."});
}

struct QosFacts {
  Fact<bool> dcb;
  Fact<bool> cma_roce_tos;
  Fact<std::string> unit;
  std::map<std::string, QosPort> ports;
  bool operator==(const QosFacts&) const = default;
};

template <std::same_as<QosFacts> T>
constexpr auto Describe(const T*) {
  return MakeDescription(
      "qos", "Flow control and traffic classes of the fabric's ports.",
      Field{"dcb", &T::dcb, "Whether the node has dcb, of iproute2."},
      Field{"cma_roce_tos", &T::cma_roce_tos, "Whether the node has cma_roce_tos."},
      Field{"unit", &T::unit,
            "How systemd calls the unit that sets it at boot: enabled, disabled."},
      Field{"ports", &T::ports, "By interface.", FieldRule::kLeftOut});
}

}  // namespace reconciler
