#pragma once

#include <string>

#include "reconciler/transport/transport.h"

namespace reconciler {

// Connects as `dial` does, with shells that become root with `password` where the node's access
// says `become: sudo` and sudo wants one. A shell of the user tries it before, once for each node:
// a password that is refused is an error of this connection and of all later ones to that node.
Dial UseSudoPassword(Dial dial, std::string password);

}  // namespace reconciler
