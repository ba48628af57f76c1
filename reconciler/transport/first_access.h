#pragma once

#include <string>
#include <string_view>

#include "reconciler/transport/transport.h"

// What a node needs before the first plan: the administrator's key, and root without a password.
namespace reconciler {

// The drop-in that lets users become root without a password, and its line for one of them.
inline constexpr std::string_view kSudoersFile = "/etc/sudoers.d/spark-reconcile";
std::string FormatSudoersRule(std::string_view user);
// The same for the only command that the program runs by sudo (see BuildRemoteShellCommand). It is
// a shell, so that its user may still do all that root may.
std::string FormatShellSudoersRule(std::string_view user);

// Whether `sudo -n` refused only because it wants a password. `reply`: as for FindSudoRefusal.
bool WantsSudoPassword(const ScriptReply& reply);
// Whether sudo was given a wrong password.
bool IsSudoPasswordRefused(const ScriptReply& reply);

// Gives `password` to the sudo of the user who is logged in, where it wants one. `login`: a shell
// of that user, not of root. One attempt: sudo itself would read two more from its input.
Result<ScriptReply> TrySudoPassword(const NodeSpec& node, Transport& login,
                                    std::string_view password);
// Whether sudo wanted it, and took it; false: it wants none. A refusal is an error.
Result<bool> ParseSudoReply(const NodeSpec& node, const ScriptReply& reply);

// Adds a public key ("ssh-ed25519 AAAA… comment") to the authorized_keys of the user who is logged
// in. `login`: a shell of that user, not of root. false: it was there already.
Result<bool> InstallKey(const NodeSpec& node, Transport& login, std::string_view public_key);

// Adds the user's rule to kSudoersFile after visudo has checked it; a file that another hand wrote
// is left alone, as an error. `login`: as above. `password`: what sudo wants of `user`; it reaches
// the node on the shell's input only.
Result<void> GrantSudo(const NodeSpec& node, Transport& login, std::string_view user,
                       std::string_view password);

// Removes what GrantSudo wrote. `root`: a shell of root.
enum class SudoersRemoval { kRemoved, kAbsent, kKept };  // kept: another hand wrote it
Result<SudoersRemoval> RevokeSudo(const NodeSpec& node, Transport& root);

}  // namespace reconciler
