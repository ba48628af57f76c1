#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "reconciler/transport/posix.h"
#include "reconciler/transport/transport.h"

namespace reconciler {

// Runs a shell script on this machine and returns its output; a failure fails the test.
std::string Shell(const std::string& script);
void WriteText(const std::string& path, const std::string& text);
std::string ReadText(const std::string& path);
int FreePort();

// A real sshd on 127.0.0.1 with files below `folder` only; ended when destroyed.
class Sshd {
 public:
  // `extra`: lines of sshd_config that come before ours, where the first one counts. `path`: $PATH
  // of its sessions; empty: sshd's own. Their $HOME is an empty folder, so that no start-up file of
  // the account runs: some take long, and some leave locks behind when a test ends their shell.
  Sshd(const std::string& folder, const std::string& extra = "", const std::string& path = "");

  int Port() const { return port_; }
  std::string Log() const { return ReadText(folder_ + "/sshd.log"); }
  std::string KnownHostsLine() const;  // what a client's known_hosts must say
  std::string Fingerprint() const;     // "SHA256:…" of its host key
  void RestartWithNewHostKey();

 private:
  void MakeHostKey();
  void Start();

  std::string folder_;
  std::string extra_;
  std::string path_;
  int port_ = 0;
  UniqueFd log_ = {};
  std::unique_ptr<Child> process_ = {};
};

// A home directory of its own for $HOME, a key pair that its sshd accepts, and no agent. With
// `node`, a NodeSpec that logs in there.
class SshTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  void StartSshd(const std::string& extra = "", const std::string& path = "");
  void Trust(const Sshd& sshd);  // writes its host key into known_hosts
  void StartAgent();
  void WriteConfig(const std::string& text) { WriteText(home_ + "/.ssh/config", text); }
  Result<ScriptReply> RunOnNode(const std::string& script, Milliseconds limit = Milliseconds(30000),
                                std::size_t max_output = 16u << 20) const;
  std::string DialError() const;  // FormatError of a dial that must fail
  void ExpectLogin() const;       // that a script runs on `node`
  std::string User() const { return user_; }
  std::string Place() const;  // "spark-2 (127.0.0.1:PORT)"

  std::string folder_;  // everything of this test; removed at its end
  std::string home_;    // $HOME
  std::string key_;     // a private key that sshd accepts
  std::string known_hosts_;
  std::string user_;
  std::unique_ptr<Sshd> sshd_;
  std::unique_ptr<Child> agent_;
  NodeSpec node_;

 private:
  std::string home_before_;
};

}  // namespace reconciler
