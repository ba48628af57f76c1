#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "reconciler/transport/ssh/host_key.h"
#include "reconciler/transport/ssh/password.h"
#include "reconciler/transport/transport.h"

namespace reconciler {

using ReadKey = std::function<Result<HostKey>(const NodeSpec&)>;

// How logins to nodes are looked at and made; all functions are set. See the functions of
// transport/ssh.
struct LoginFunctions {
  ReadKey read_host_key;
  Dial dial;
  std::function<Result<std::unique_ptr<Transport>>(const NodeSpec&, const std::string& password)>
      dial_with_password;
  std::function<Result<std::string>(const NodeSpec&)> find_user;
  std::function<Result<OwnKey>(const NodeSpec&)> find_own_key;
  std::function<Result<void>(const NodeSpec&)> check_key_can_be_added;
  std::size_t at_once = 0;  // nodes, see ForEachNode
};

}  // namespace reconciler
