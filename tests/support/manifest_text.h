#pragma once

#include <string>

namespace reconciler::test {

// A manifest that loads, with room for more: `access` before the nodes, `rest` after the fabric.
struct ManifestText {
  std::string access = {};
  std::string nodes =
      "  - {name: spark-1, address: 192.168.1.21}\n"
      "  - {name: spark-2, address: 192.168.1.22}\n";
  std::string fabric =
      "  topology: direct\n"
      "  subnets: [192.168.177.0/24, 192.168.178.0/24]\n";
  std::string rest = {};

  std::string Yaml() const {
    return "api_version: spark-reconcile/v1\ncluster: lab\n" + access + "nodes:\n" + nodes +
           "fabric:\n" + fabric + rest;
  }
};

}  // namespace reconciler::test
