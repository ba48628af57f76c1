#pragma once

#include <map>
#include <string>
#include <vector>

#include "reconciler/access/check_root.sh.h"
#include "reconciler/access/login_functions.h"
#include "tests/support/fake_transport.h"

namespace reconciler {

// Two machines whose way in a test chooses: spark-1 and spark-2, which lack nothing at first.
class FakeLogins {
 public:
  struct Machine {
    NodeSpec spec = {};
    HostKey host_key = {};
    std::string no_host_key = {};  // not empty: why it cannot be read
    bool has_key = true;           // of the user who logs in
    bool wants_sudo_password = false;
    std::string startup = {};   // what startup files of the login print
    std::string root_id = "0";  // what `id -u` prints
    bool knows_user = true;
    bool takes_passwords = true;
    int dials = 0;  // with a password
  };

  FakeLogins() {
    for (const char* name : {"spark-1", "spark-2"}) {
      Machine& machine = machines_[name];
      machine.spec = {.name = name, .address = "192.168.1.2"};
      machine.spec.access.user = "ada";
      machine.host_key = {.known = true, .fingerprint = std::string("SHA256:") + name};
      network_.SetNode(name, {.shell = [&machine](const std::string& script) {
                         return Answer(machine, script);
                       }});
    }
  }

  Machine& At(const NodeName& name) { return machines_.at(name); }

  std::vector<const NodeSpec*> Nodes() const {
    std::vector<const NodeSpec*> nodes;
    for (const auto& [name, machine] : machines_) nodes.push_back(&machine.spec);
    return nodes;
  }

  LoginFunctions Functions() {
    const Dial dial = network_.Dialer();
    const auto refused = [](const NodeSpec& node, const char* what) {
      return Fail({.kind = ErrorKind::kTransport, .message = node.name + ": " + what});
    };
    return {.read_host_key = [=, this](const NodeSpec& node) -> Result<HostKey> {
              const Machine& machine = At(node.name);
              if (machine.no_host_key.empty()) return machine.host_key;
              return refused(node, machine.no_host_key.c_str());
            },
            .dial = [=, this](const NodeSpec& node) -> Result<std::unique_ptr<Transport>> {
              if (!At(node.name).host_key.known) return refused(node, "the host key is new");
              if (!At(node.name).has_key) return refused(node, "permission denied");
              return dial(node);
            },
            .dial_with_password = [=, this](const NodeSpec& node, const std::string& password)
                -> Result<std::unique_ptr<Transport>> {
              ++At(node.name).dials;
              if (password != kPassword) return refused(node, "the password is wrong");
              return dial(node);
            },
            .find_user = [=, this](const NodeSpec& node) -> Result<std::string> {
              if (!At(node.name).knows_user) return refused(node, "no user is known");
              return node.access.user;
            },
            .find_own_key = [](const NodeSpec&) -> Result<OwnKey> {
              return OwnKey{.line = "ssh-ed25519 AAAA ada@desk", .fingerprint = "SHA256:own"};
            },
            .check_key_can_be_added = [=, this](const NodeSpec& node) -> Result<void> {
              if (!At(node.name).takes_passwords) return refused(node, "no passwords are taken");
              return {};
            }};
  }

  static constexpr const char* kPassword = "secret";

 private:
  static ScriptReply Answer(Machine& machine, const std::string& script) {
    if (script == kCheckRootSh) {
      if (!machine.wants_sudo_password) {
        return {.out =
                    machine.startup + "the check of root begins here\n" + machine.root_id + "\n"};
      }
      return {.exit_code = 1, .out = machine.startup, .err = "sudo: a password is required\n"};
    }
    if (script.find("PASSWORD=") != std::string::npos) {
      if (script.find(kPassword) == std::string::npos) {
        return {.exit_code = 1, .err = "Sorry, try again.\n"};
      }
      machine.wants_sudo_password = false;
      return {};
    }
    machine.has_key = true;
    return {.out = "added\n"};
  }

  std::map<NodeName, Machine> machines_ = {};
  FakeNetwork network_{std::map<NodeName, FakeNode>{}};
};

}  // namespace reconciler
