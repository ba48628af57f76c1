#pragma once

#include <libssh/libssh.h>

#include <memory>
#include <string>
#include <type_traits>

namespace reconciler {

struct SshFree {
  void operator()(ssh_session session) const { ssh_free(session); }  // closes its socket too
  void operator()(ssh_key key) const { ssh_key_free(key); }
  void operator()(ssh_event event) const { ssh_event_free(event); }  // before its session
  void operator()(ssh_knownhosts_entry* entry) const { ssh_knownhosts_entry_free(entry); }
};

using SshSession = std::unique_ptr<std::remove_pointer_t<ssh_session>, SshFree>;
using SshEvent = std::unique_ptr<std::remove_pointer_t<ssh_event>, SshFree>;
using SshKey = std::unique_ptr<std::remove_pointer_t<ssh_key>, SshFree>;
using SshKnownHost = std::unique_ptr<ssh_knownhosts_entry, SshFree>;

// Takes a string that libssh allocated.
inline std::string CopySshString(char* text) {
  if (text == nullptr) return {};
  std::string copy = text;
  ssh_string_free_char(text);
  return copy;
}

// "SHA256:…", as ssh-keygen -l prints it.
inline std::string FormatKeyFingerprint(ssh_key key) {
  unsigned char* hash = nullptr;
  std::size_t size = 0;
  if (ssh_get_publickey_hash(key, SSH_PUBLICKEY_HASH_SHA256, &hash, &size) != SSH_OK) return "?";
  const std::string fingerprint =
      CopySshString(ssh_get_fingerprint_hash(SSH_PUBLICKEY_HASH_SHA256, hash, size));
  ssh_clean_pubkey_hash(&hash);
  return fingerprint;
}

}  // namespace reconciler
